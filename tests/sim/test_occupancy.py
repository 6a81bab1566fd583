"""The grid of the floor and ways across it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.occupancy import OCCUPIED, OccupancyGrid
from homie_sim.path_planner import plan_path
from homie_sim.world import MujocoWorld


def grid_of(text: str, resolution: float = 0.1) -> OccupancyGrid:
    """A grid from a drawing, the first line the northernmost."""
    rows = [[OCCUPIED if mark == "#" else 0 for mark in line] for line in reversed(text.split())]
    return OccupancyGrid(np.array(rows, dtype=np.int8), (0.0, 0.0), resolution)


def test_cells_and_points_agree() -> None:
    grid = grid_of("... ... ...")
    assert grid.cell(0.25, 0.05) == (0, 2)
    assert grid.point((0, 2)) == pytest.approx((0.25, 0.05))
    assert grid.cell(-0.1, 0) is None and grid.clearance_at(9, 9) == 0


def test_furniture_is_occupied_and_floor_is_free(world: MujocoWorld) -> None:
    grid = world.occupancy()
    for piece in world.house.furniture:
        assert grid.data[grid.cell(*piece.at)] == OCCUPIED
    start = world.house.robot
    assert grid.clearance_at(start.x, start.y) > 1.0
    assert grid.data[grid.cell(-0.15, 2.0)] == OCCUPIED


def test_doors_and_drawers_count_where_they_are_now(world: MujocoWorld) -> None:
    closed = world.occupancy()
    world.data.joint("kitchen_counter/drawer_1/joint").qpos[0] = 0.4
    world.set_joint_positions({})
    opened = world.occupancy()
    spot = (2.39, 3.75)
    assert closed.data[closed.cell(*spot)] == 0
    assert opened.data[opened.cell(*spot)] == OCCUPIED


def test_there_is_room_before_the_fridge(world: MujocoWorld) -> None:
    grid = world.occupancy()
    for x in np.arange(0.7, 2.4, 0.2):
        assert grid.clearance_at(float(x), 2.9) > 0.6


def test_the_way_goes_round_a_wall() -> None:
    grid = grid_of(
        """
        ..........
        ..........
        ....#.....
        ....#.....
        ....#.....
        """
    )
    path = plan_path(grid, (0.15, 0.05), (0.85, 0.05), radius=0.1)
    assert path is not None and path[0] == (0.15, 0.05) and path[-1] == (0.85, 0.05)
    assert max(y for _, y in path) > 0.3


def test_no_way_through_a_closed_wall() -> None:
    grid = grid_of("...#... ...#... ...#...")
    assert plan_path(grid, (0.1, 0.1), (0.6, 0.1), radius=0.05) is None


def test_the_whole_way_has_room_for_the_base(world: MujocoWorld) -> None:
    grid = world.occupancy()
    path = plan_path(grid, world.base_pose()[:2], (9.0, 3.4))
    assert path is not None
    for start, end in pairwise(path):
        for part in np.linspace(0, 1, max(2, math.ceil(math.dist(start, end) / 0.02))):
            x, y = np.array(start) + part * (np.array(end) - start)
            assert grid.clearance_at(float(x), float(y)) >= fetch.BASE_RADIUS - 0.03


def test_a_crowded_start_is_left_outwards(world: MujocoWorld) -> None:
    grid = world.occupancy()
    start = (2.9, 3.70)
    assert grid.clearance_at(*start) < fetch.BASE_RADIUS
    assert plan_path(grid, start, (3.4, 1.6)) is not None
