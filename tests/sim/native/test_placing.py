"""Spots keep to their region, and leave room for fingers where they can."""

import math

import numpy as np

from homie_sim.native.placing import spots
from homie_sim.world import MujocoWorld

CAN = "potted_meat_can_1"


def test_spots_are_on_the_surface_and_do_not_stick_out(world: MujocoWorld) -> None:
    state = world.world_state()
    table = state["brown_table"]
    top = table.box_center[2] + table.box_size[2] / 2
    found = spots(world, state, CAN, "brown_table")
    assert len(found) > 50
    for spot in found:
        away = np.abs(spot.position[:2] - table.box_center[:2])
        assert np.all(away + 0.033 <= np.array(table.box_size[:2]) / 2)
        assert 0 <= spot.position[2] - 0.05 - top < 0.01


def test_every_region_of_a_receptacle_counts(world: MujocoWorld) -> None:
    heights = {round(float(spot.position[2]), 2) for spot in spots(world, world.world_state(), CAN, "fridge")}
    assert len(heights) == 2


def test_spots_beside_others_come_last(world: MujocoWorld) -> None:
    state = world.world_state()
    others = [state[id].box_center for id in ("banana_1", "mug_1")]
    found = spots(world, state, CAN, "brown_table")
    distances = [min(math.dist(spot.position[:2], other[:2]) for other in others) for spot in found]
    assert min(distances[:10]) > 0.10
    assert min(distances[-10:]) < 0.20


def test_a_receptacle_without_regions_has_none(world: MujocoWorld) -> None:
    assert spots(world, world.world_state(), CAN, "kitchen") == []


def test_what_is_too_wide_is_turned_or_refused(world: MujocoWorld) -> None:
    assert spots(world, world.world_state(), "cracker_box_1", "kitchen_counter/drawer_1") != []
