"""The floor of an episode: the grid as a path, the way cut into steps, resets, leaps."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from homie_eval.bag import Bag
from homie_eval.floor import Floor, FloorMap, Plan, Pose, floor_map, read_floors
from support.bags import BagFixture, message
from support.trajectories import info

SECOND = 1_000_000_000
ROWS = ["####", "#..#", "####"]


def drive(*points: tuple[float, float]) -> Floor:
    """A pose a second."""
    return Floor(poses=[Pose(index * SECOND, x, y, 0.0) for index, (x, y) in enumerate(points)])


def test_the_grid_as_a_path_with_north_up() -> None:
    grid = FloorMap(np.array([[True, True, False], [False, False, True]]), (-1.0, 2.0), 0.5)
    assert grid.view_box == "0 0 3 2"
    assert grid.obstacles() == "M0 1h2v1h-2zM2 0h1v1h-1z"
    assert grid.place(-1.0, 2.0) == (0.0, 2.0)
    assert grid.place(0.5, 3.0) == (3.0, 0.0)
    assert grid.line([(-1.0, 2.0), (0.5, 3.0)]) == "M0.0 2.0L3.0 0.0"
    assert grid.line([(-1.0, 2.0)]) == ""


def test_a_way_begins_where_the_base_stood() -> None:
    floor = drive((0, 0), (0.3, 0), (0.6, 0), (0.6, 0.4))
    floor.plans += [Plan(0, ((0.0, 0.0), (0.6, 0.0))), Plan(2 * SECOND, ((0.6, 0.0), (0.6, 0.4)))]
    first, second = floor.way(0, 2 * SECOND), floor.way(2 * SECOND, 5 * SECOND)
    assert first is not None and second is not None
    assert [pose.x for pose in first.poses] == [0, 0.3, 0.6]
    assert first.length == pytest.approx(0.6) and first.plans == tuple(floor.plans[:1])
    assert [pose.y for pose in second.poses] == [0, 0.4]
    assert second.length == pytest.approx(0.4) and second.plans == tuple(floor.plans[1:])
    whole = floor.way()
    assert whole is not None and whole.length == pytest.approx(1.0)


def test_a_base_that_stands_still() -> None:
    way = drive((1, 1), (2, 1)).way(SECOND, 9 * SECOND)
    assert way is not None and len(way.poses) == 1 and not way.moved
    assert Floor().way() is None


def test_a_leap_is_no_way_driven() -> None:
    way = drive((0, 0), (0.1, 0), (3, 0), (3.1, 0)).way()
    assert way is not None and way.moved
    assert [([pose.x for pose in poses], leap) for poses, leap in way.stretches()] == [
        ([0, 0.1], False),
        ([0.1, 3], True),
        ([3, 3.1], False),
    ]
    assert way.length == pytest.approx(0.2)


def test_episodes_of_a_bag(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag", "/robot") as bag:
        bag.odometry(90 * SECOND, 7, 7)  # before the reset
        bag.map(ROWS)
        bag.odometry(0, 1, 0.5, math.pi / 2)
        bag.info(info())
        bag.odometry(0, 1, 0.5, math.pi / 2)  # repeated while idle
        bag.plan(0, (1, 0.5), (1.3, 0.5))
        bag.odometry(SECOND, 1.3, 0.5)
        bag.write("map", message("nav_msgs/msg/OccupancyGrid"))  # cannot be drawn
    with Bag(tmp_path / "bag") as opened:
        floors = read_floors(opened)
    (floor,) = floors.values()
    assert list(floors) == ["e1"]
    assert floor.map is not None and floor.map.occupied.sum() == 10
    assert [(pose.stamp, pose.x) for pose in floor.poses] == [(0, 1.0), (SECOND, 1.3)]
    assert floor.poses[0].yaw == pytest.approx(math.pi / 2)
    assert floor.plans == [Plan(0, ((1.0, 0.5), (1.3, 0.5)))]


def test_time_that_goes_back_is_a_reset() -> None:
    floor = drive((0, 0), (1, 0))
    floor.plans.append(Plan(0, ()))
    floor.add_pose(Pose(0, 5.0, 5.0, 0.0))
    assert floor.poses == [Pose(0, 5.0, 5.0, 0.0)] and not floor.plans


def test_a_map_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"0 x 0 cells of 0\.0 m"):
        floor_map(message("nav_msgs/msg/OccupancyGrid"))
