"""Standing poses: free, connected with where the robot is, and turned to what they are for."""

import math

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.native.standing import (
    COMFORTABLE_GAP,
    FURTHEST_REACH,
    NEAREST_REACH,
    Floor,
    around,
    choices,
    heading,
    level_distance,
)
from homie_sim.world import MujocoWorld


def test_round_an_object_within_reach_and_facing_it(world: MujocoWorld) -> None:
    can = world.world_state()["potted_meat_can_1"]
    poses = around(Floor(world), can.box_center[:2])
    assert poses
    for x, y, yaw in poses:
        dx, dy = can.box_center[0] - x, can.box_center[1] - y
        assert NEAREST_REACH - 1e-6 <= math.hypot(dx, dy) <= FURTHEST_REACH + 1e-6
        assert math.remainder(math.atan2(dy, dx) - yaw, math.tau) == pytest.approx(0, abs=1e-6)


def test_the_best_place_has_a_comfortable_gap(world: MujocoWorld) -> None:
    floor = Floor(world)
    for thing in world.world_state().objects:
        best = choices(floor, thing)[0]
        assert floor.gap(np.array([best[:2]]))[0] >= COMFORTABLE_GAP


@pytest.mark.parametrize("id", ["fridge", "sink", "sofa", "tv_stand", "kitchen_counter/drawer_1"])
def test_furniture_is_met_at_its_front(world: MujocoWorld, id: str) -> None:
    thing = world.world_state()[id]
    x, y, yaw = choices(Floor(world), thing)[0]
    front = heading(thing)
    assert math.cos(yaw - front) == pytest.approx(-1, abs=1e-3)
    assert (x - thing.box_center[0]) * math.cos(front) + (y - thing.box_center[1]) * math.sin(front) > 0


def test_a_room_is_stood_in(world: MujocoWorld) -> None:
    room = world.world_state()["living_room"]
    assert all(level_distance(room, pose) == 0 for pose in choices(Floor(world), room))


def test_what_is_walled_off_cannot_be_reached(world: MujocoWorld) -> None:
    inside = np.array([[3.4, 1.6]])
    assert Floor(world).free(inside)[0]
    world.set_joint_positions({"base_x": -3.0, "base_y": -3.0})
    assert not Floor(world).free(inside)[0]


def test_points_outside_the_house_are_not_free(world: MujocoWorld) -> None:
    outside = np.array([[-50.0, 0.0], [500.0, 500.0]])
    assert not Floor(world).free(outside).any()
    assert (Floor(world).gap(outside) <= -fetch.BASE_RADIUS).all()
