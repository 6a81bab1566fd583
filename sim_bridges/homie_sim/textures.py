"""Pictures for surfaces, drawn in code: wood, tiles, plaster, cloth, printed labels. RGB, uint8, (height, width, 3)."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Color = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""

SIZE = 256
_FONT = cv2.FONT_HERSHEY_DUPLEX


def canvas(color: Color, width: int = SIZE, height: int = SIZE) -> Image:
    """A picture of one colour."""
    return np.broadcast_to(_bytes(color), (height, width, 3)).copy()


def wood(color: Color, rng: np.random.Generator, planks: int = 0) -> Image:
    """Grain along the picture's x axis; ``planks`` boards side by side, or one piece."""
    grain = cv2.GaussianBlur(rng.normal(size=(SIZE, SIZE)), (0, 0), sigmaX=40, sigmaY=1.2)
    rings = np.sin(np.linspace(0, 9 * np.pi, SIZE)[:, None] + 9 * cv2.GaussianBlur(grain, (0, 0), 12) / grain.std())
    shade = 1 + 0.10 * grain / grain.std() * 0.5 + 0.035 * rings
    if planks:
        shade = shade * _boards(rng, planks)
    return _shaded(color, shade)


def _boards(rng: np.random.Generator, planks: int) -> NDArray[np.float64]:
    """Brightness of floor boards with staggered ends and dark joints."""
    shade = np.ones((SIZE, SIZE))
    edges = np.linspace(0, SIZE, planks + 1).astype(int)
    for top, bottom in pairwise(edges):
        end = int(rng.integers(SIZE // 8, SIZE * 7 // 8))
        shade[top:bottom, :end] *= rng.uniform(0.86, 1.10)
        shade[top:bottom, end:] *= rng.uniform(0.86, 1.10)
        shade[top : top + 2, :] *= 0.72
        shade[top:bottom, end : end + 2] *= 0.72
    return shade


def tiles(color: Color, grout: Color, rng: np.random.Generator, count: int = 4) -> Image:
    """``count`` x ``count`` square tiles, each a little different."""
    image = np.empty((SIZE, SIZE, 3), dtype=np.uint8)
    edges = np.linspace(0, SIZE, count + 1).astype(int)
    speckle = 1 + 0.015 * _noise(rng, 2) * 4
    image[:] = _bytes(grout)
    body = _shaded(color, speckle)
    for top, bottom in pairwise(edges):
        for left, right in pairwise(edges):
            tone = rng.uniform(0.95, 1.03)
            tile = body[top + 2 : bottom - 1, left + 2 : right - 1]
            image[top + 2 : bottom - 1, left + 2 : right - 1] = np.clip(tile * tone, 0, 255).astype(np.uint8)
    return image


def speckled(color: Color, rng: np.random.Generator, contrast: float = 0.05, grain: float = 1.0) -> Image:
    """Stone, plaster or cloth: noise of ``grain`` pixels."""
    noise = _noise(rng, grain)
    return _shaded(color, 1 + contrast * noise / noise.std())


def woven(color: Color, rng: np.random.Generator) -> Image:
    """Upholstery: a fine weave with soft blotches."""
    line = np.sin(np.arange(SIZE) * np.pi / 2)
    weave = 0.04 * (line[:, None] + line[None, :])
    blotches = _noise(rng, 14)
    return _shaded(color, 1 + weave + 0.03 * blotches / blotches.std())


def label(text: str, paper: Color, ink: Color, band: Color | None = None) -> Image:
    """A printed label: the words in large letters, on a ``band`` of another colour if given."""
    image = canvas(paper)
    if band is not None:
        image[SIZE // 4 : SIZE * 3 // 4] = _bytes(band)
    lines = text.split("\n")
    step = SIZE // (2 * len(lines)) if band is not None else SIZE * 3 // (4 * len(lines))
    top = SIZE // 2 - step * len(lines) // 2
    for index, line in enumerate(lines):
        _write(image, line, top + step * index, step, ink)
    return image


def _write(image: Image, text: str, top: int, height: int, ink: Color) -> None:
    """Write ``text`` centred, as large as fits ``height`` and the picture's width."""
    (width, tall), _ = cv2.getTextSize(text, _FONT, 1.0, 2)
    scale = min(0.9 * image.shape[1] / width, 0.62 * height / tall)
    thickness = max(2, round(3 * scale))
    (width, tall), _ = cv2.getTextSize(text, _FONT, scale, thickness)
    origin = ((image.shape[1] - width) // 2, top + (height + tall) // 2)
    color = [int(part) for part in _bytes(ink)]
    cv2.putText(image, text, origin, _FONT, scale, color, thickness, cv2.LINE_AA)


def _noise(rng: np.random.Generator, grain: float) -> NDArray[np.float64]:
    """Smooth noise of ``grain`` pixels, (SIZE, SIZE)."""
    return np.asarray(cv2.GaussianBlur(rng.normal(size=(SIZE, SIZE)), (0, 0), grain), dtype=np.float64)


def _shaded(color: Color, shade: NDArray[np.float64]) -> Image:
    return np.clip(255 * np.asarray(color) * shade[..., None], 0, 255).astype(np.uint8)


def _bytes(color: Color) -> Image:
    return np.round(255 * np.asarray(color)).astype(np.uint8)
