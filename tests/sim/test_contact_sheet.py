"""Sheets: a tile for every object, pictures of a house, and layouts that hold them."""

from __future__ import annotations

import numpy as np
import pytest

from homie_sim.contact_sheet import COLUMNS, TILE, below, beside, captioned, house_sheet, object_tiles
from homie_sim.house import load_house
from homie_sim.objects import CATALOGUE
from homie_sim.rendering import Image, RenderError
from homie_sim.world import MujocoWorld


@pytest.fixture(scope="module")
def tiles() -> dict[str, Image]:
    try:
        return object_tiles()
    except RenderError as error:
        pytest.skip(str(error))


def test_every_object_has_a_tile_of_its_own(tiles: dict[str, Image]) -> None:
    assert list(tiles) == list(CATALOGUE)
    for category, picture in tiles.items():
        assert picture.shape == (TILE, TILE, 3), category
        # The object covers the middle, and stands out from the table.
        middle, edge = picture[96:160, 96:160].reshape(-1, 3).mean(axis=0), picture[-20:].reshape(-1, 3).mean(axis=0)
        assert np.abs(middle - edge).max() > 15, category


def test_no_two_objects_look_alike(tiles: dict[str, Image]) -> None:
    pictures = list(tiles.items())
    for index, (name, picture) in enumerate(pictures):
        for other, second in pictures[:index]:
            assert np.abs(picture.astype(int) - second).mean() > 3, f"{name} and {other}"


def test_a_sheet_of_a_house_leaves_the_world_alone() -> None:
    world = MujocoWorld(load_house("house_4"), render=True)
    try:
        before = world.data.qpos.copy()
        sheet = house_sheet(world)
    except RenderError as error:
        pytest.skip(str(error))
    finally:
        world.close()
    assert np.array_equal(before, world.data.qpos)
    assert sheet.shape[1] > 2 * 640 and sheet.shape[0] > 1000


def test_layouts() -> None:
    small, large = np.zeros((10, 200, 3), np.uint8), np.zeros((30, 40, 3), np.uint8)
    row = beside([small, large])
    assert row.shape[0] == 30 and row.shape[1] > 240
    assert below([row, large]).shape[1] == row.shape[1]
    assert captioned(small, "a caption").shape[0] > 10
    assert COLUMNS * TILE < 2000
