from __future__ import annotations

import math

import numpy as np

from homie_core import fetch
from homie_skills.floor_map import DRIVE_CLEARANCE, FloorMap
from homie_skills.planning_scene import PlanningScene


def test_clearance_before_the_table(scene: PlanningScene) -> None:
    floor = FloorMap(scene)
    (gap,) = floor.clearance(np.array([[6.5, 0.9]]))
    assert abs(gap - 0.5) < 0.06


def test_open_floor_is_drivable_and_furniture_is_not(scene: PlanningScene) -> None:
    floor = FloorMap(scene)
    points = np.array([[3.4, 2.5], [8.0, 2.0], [6.5, 1.75], [1.75, 4.28], [-3.0, -3.0]])
    np.testing.assert_array_equal(floor.drivable(points), [True, True, False, False, False])


def test_drivable_points_keep_their_distance(scene: PlanningScene) -> None:
    floor = FloorMap(scene)
    points = np.random.default_rng(0).uniform([0, 0], [9.8, 4.6], (500, 2))
    assert np.all(floor.clearance(points[floor.drivable(points)]) >= fetch.BASE_RADIUS + DRIVE_CLEARANCE)


def test_open_door_takes_room(scene: PlanningScene) -> None:
    where = np.array([[1.4, 3.5]])
    before = FloorMap(scene).clearance(where)[0]
    scene.place_container("fridge", math.pi / 2)
    assert FloorMap(scene).clearance(where)[0] < before
