"""Pictures drawn in code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from homie_sim import textures
from homie_sim.textures import SIZE, Image

BROWN = (0.5, 0.3, 0.2)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: textures.wood(BROWN, rng),
        lambda rng: textures.wood(BROWN, rng, planks=6),
        lambda rng: textures.tiles(BROWN, (0.9, 0.9, 0.9), rng),
        lambda rng: textures.speckled(BROWN, rng),
        lambda rng: textures.woven(BROWN, rng),
    ],
)
def test_a_surface_has_its_colour_and_structure_and_is_the_same_every_time(
    draw: Callable[[np.random.Generator], Image],
) -> None:
    picture = draw(np.random.default_rng(0))
    assert picture.shape == (SIZE, SIZE, 3) and picture.dtype == np.uint8
    np.testing.assert_allclose(picture.mean(axis=(0, 1)) / 255, BROWN, atol=0.06)
    assert picture.std(axis=(0, 1)).max() > 1
    assert np.array_equal(picture, draw(np.random.default_rng(0)))


def test_a_label_has_paper_band_and_ink() -> None:
    picture = textures.label("TOMATO\nSOUP", (1, 1, 1), (0, 0, 0), band=(1, 0, 0))
    assert tuple(picture[0, 0]) == (255, 255, 255)
    assert tuple(picture[SIZE // 4 + 1, 0]) == (255, 0, 0)
    assert 500 < (picture.max(axis=2) < 40).sum() < SIZE * SIZE / 3
