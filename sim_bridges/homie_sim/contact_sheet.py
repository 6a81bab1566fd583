"""Pictures that show a person all there is: every house from outside and above, every object close up with its name."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from homie_sim.house import House, parse_house
from homie_sim.objects import CATALOGUE
from homie_sim.rendering import (
    THIRD_WIDTH,
    TOP_WIDTH,
    Camera,
    Image,
    camera_at,
    outside_camera,
)
from homie_sim.world import MujocoWorld

TILE = 256
COLUMNS = 5

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_PAPER, _INK = (250, 250, 248), (30, 30, 30)
_BAR = 28
_GAP = 8
_TABLE_HEIGHT = 0.70
_SPACING = 0.45
_LOOK_DOWN = math.radians(32)
_LOOK_ASIDE = math.radians(25)
_TILE_FOV = 40.0
_THIRD_PLACES = (0.22, 0.5, 0.78)
"""Where along the house, from west to east, the pictures from outside are centred."""


def house_sheet(world: MujocoWorld) -> Image:
    """The house from above, from outside in three pictures, and the robot's four views from its start.

    The world must have been made with ``render``; it is left as it is.
    """
    outside = [world.viewer.picture(world.data, camera, cutaway=True) for camera in _outside_cameras(world.house)]
    names = ("west", "middle", "east")
    thirds = [captioned(picture, f"third person, {name}") for name, picture in zip(names, outside, strict=True)]
    views = [captioned(picture, f"robot's view, {name}") for name, picture in world.views().items()]
    title = caption(world.house.name, TOP_WIDTH + _GAP + THIRD_WIDTH)
    top = captioned(world.top_down(), "from above, north up")
    rows = [title, beside([top, thirds[0]]), beside(thirds[1:]), beside(views)]
    return below(rows)


def object_sheet() -> Image:
    """One tile for each category of the catalogue with its name and size."""
    tiles = [captioned(picture, f"{category} {_centimetres(category)}") for category, picture in object_tiles().items()]
    rows = [beside(tiles[start : start + COLUMNS]) for start in range(0, len(tiles), COLUMNS)]
    return below(rows)


def object_tiles() -> dict[str, Image]:
    """A picture (256, 256, 3) of each category, close up, by its name.

    Raises:
        RenderError: there is no OpenGL here.
    """
    world = MujocoWorld(_showroom(), render=True)
    try:
        state = world.world_state()
        return {
            category: world.viewer.picture(
                world.data, _tile_camera(np.array(state[f"{category}_1"].box_center), max(CATALOGUE[category].size))
            )
            for category in CATALOGUE
        }
    finally:
        world.close()


def _outside_cameras(house: House) -> list[Camera]:
    """The third person's camera as if the robot stood in different places of the house."""
    west, east = min(room.x[0] for room in house.rooms), max(room.x[1] for room in house.rooms)
    south, north = min(room.y[0] for room in house.rooms), max(room.y[1] for room in house.rooms)
    places = [(west + share * (east - west), (south + north) / 2) for share in _THIRD_PLACES]
    return [outside_camera(place, house) for place in places]


def _showroom() -> House:
    """A long table with one object of each category on it."""
    count = len(CATALOGUE)
    length = _SPACING * count
    spots = [(index - (count - 1) / 2) * _SPACING for index in range(count)]
    return parse_house(
        {
            "name": "showroom",
            "rooms": [{"id": "hall", "x": [0, 4], "y": [0, length + 2], "color": [0.75, 0.75, 0.73]}],
            "walls": [{"x": [-0.1, 0], "y": [0, length + 2], "color": [0.93, 0.93, 0.91]}],
            "furniture": [
                {
                    "type": "table",
                    "id": "table",
                    "at": [1, length / 2 + 1],
                    "facing": "east",
                    "width": length,
                    "height": _TABLE_HEIGHT,
                    "color": [0.70, 0.62, 0.52],
                }
            ],
            "objects": [
                {"object": f"{category}_1", "on": "table", "at": [0.0, spot], "yaw_degrees": 0}
                for category, spot in zip(CATALOGUE, spots, strict=True)
            ],
            "robot": {"x": 2.5, "y": 1},
        }
    )


def _tile_camera(center: NDArray[np.float64], size: float) -> Camera:
    distance = 0.10 + 2.0 * size
    flat = math.cos(_LOOK_DOWN) * distance
    offset = np.array([flat * math.cos(_LOOK_ASIDE), flat * math.sin(_LOOK_ASIDE), math.sin(_LOOK_DOWN) * distance])
    return camera_at(center + offset, center, _TILE_FOV, TILE, TILE)


def _centimetres(category: str) -> str:
    return " x ".join(f"{100 * length:.0f}" for length in CATALOGUE[category].size) + " cm"


def caption(text: str, width: int) -> Image:
    """A strip of paper with a line of text on it."""
    strip = np.empty((_BAR, width, 3), dtype=np.uint8)
    strip[:] = _PAPER
    scale = 0.5
    (wide, _), _ = cv2.getTextSize(text, _FONT, scale, 1)
    scale *= min(1.0, (width - 8) / max(1, wide))
    cv2.putText(strip, text, (4, _BAR - 9), _FONT, scale, _INK, 1, cv2.LINE_AA)
    return strip


def captioned(picture: Image, text: str) -> Image:
    """The picture with its caption above it."""
    return np.vstack([caption(text, picture.shape[1]), picture])


def beside(pictures: list[Image]) -> Image:
    """Pictures from left to right on paper, tops in line."""
    height = max(picture.shape[0] for picture in pictures)
    width = sum(picture.shape[1] for picture in pictures) + _GAP * (len(pictures) - 1)
    page = _page(height, width)
    left = 0
    for picture in pictures:
        page[: picture.shape[0], left : left + picture.shape[1]] = picture
        left += picture.shape[1] + _GAP
    return page


def below(pictures: list[Image]) -> Image:
    """Pictures from top to bottom on paper, left edges in line."""
    height = sum(picture.shape[0] for picture in pictures) + _GAP * (len(pictures) - 1)
    page = _page(height, max(picture.shape[1] for picture in pictures))
    top = 0
    for picture in pictures:
        page[top : top + picture.shape[0], : picture.shape[1]] = picture
        top += picture.shape[0] + _GAP
    return page


def _page(height: int, width: int) -> Image:
    page = np.empty((height, width, 3), dtype=np.uint8)
    page[:] = _PAPER
    return page
