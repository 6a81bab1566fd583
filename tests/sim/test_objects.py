"""The catalogue of objects."""

from __future__ import annotations

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.house import parse_house
from homie_sim.objects import CATALOGUE, category_of
from homie_sim.world import MujocoWorld


@pytest.mark.parametrize("category", sorted(CATALOGUE))
def test_size_and_mass_are_those_of_the_solid_parts(category: str) -> None:
    house = parse_house(
        {
            "name": "shelf",
            "rooms": [{"id": "room", "x": [0, 3], "y": [0, 3]}],
            "furniture": [{"type": "table", "id": "desk", "at": [2, 2]}],
            "objects": [{"object": f"{category}_1", "on": "desk", "at": [0, 0], "yaw_degrees": 0}],
            "robot": {"x": 0.5, "y": 0.5},
        }
    )
    world = MujocoWorld(house)
    wanted = CATALOGUE[category]
    thing = world.world_state()[f"{category}_1"]
    # The desk faces south, so its x axis is the map's -y.
    np.testing.assert_allclose((thing.box_size[1], thing.box_size[0], thing.box_size[2]), wanted.size, atol=0.006)
    assert thing.box_center[2] - thing.box_size[2] / 2 == pytest.approx(0.70, abs=0.003)
    assert thing.position[2] == pytest.approx(0.70 + wanted.size[2] / 2, abs=0.003)
    assert world.model.body(f"{category}_1").mass[0] == pytest.approx(wanted.mass)


@pytest.mark.parametrize("category", sorted(set(CATALOGUE) - {"bowl", "storage_box"}))
def test_the_gripper_can_take_it(category: str) -> None:
    assert min(CATALOGUE[category].size) < fetch.MAX_OPENING - 0.008


def test_a_storage_box_is_too_large_for_the_gripper() -> None:
    assert min(CATALOGUE["storage_box"].size) > fetch.MAX_OPENING + 0.05


def test_category_of_an_id() -> None:
    assert category_of("potted_meat_can_12") == "potted_meat_can"
