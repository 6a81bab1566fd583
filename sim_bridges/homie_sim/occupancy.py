"""Which parts of the floor are taken: a grid of the house as it is now, open doors included.

Cells are indexed (row, column) = (y, x), as in nav_msgs/OccupancyGrid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.house import House
from homie_sim.house_builder import RAISED_FLOORS

RESOLUTION = 0.05
"""Edge of a cell, metres."""

OCCUPIED = 100
FREE = 0

ROBOT_HEIGHT = 1.15
"""What hangs higher than this is no obstacle."""

_STEP_HEIGHT = 0.02
"""What is lower than this is no obstacle either: it is floor."""

_MARGIN = 0.2

Cell = tuple[int, int]


@dataclass(frozen=True)
class OccupancyGrid:
    """``data``: int8 (rows, columns), 0 free, 100 occupied; ``origin``: the map's x, y of the first cell's corner."""

    data: NDArray[np.int8]
    origin: tuple[float, float]
    resolution: float = RESOLUTION

    @cached_property
    def clearance(self) -> NDArray[np.float32]:
        """Distance in metres from each cell's middle to that of the nearest occupied cell; (rows, columns)."""
        free = (self.data != OCCUPIED).astype(np.uint8)
        return np.asarray(cv2.distanceTransform(free, cv2.DIST_L2, cv2.DIST_MASK_PRECISE) * self.resolution)

    def cell(self, x: float, y: float) -> Cell | None:
        """The cell at a point of the map, or None outside the grid."""
        row = math.floor((y - self.origin[1]) / self.resolution)
        column = math.floor((x - self.origin[0]) / self.resolution)
        rows, columns = self.data.shape
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def point(self, cell: Cell) -> tuple[float, float]:
        """The map's x, y of a cell's middle."""
        row, column = cell
        return self.origin[0] + (column + 0.5) * self.resolution, self.origin[1] + (row + 0.5) * self.resolution

    def clearance_at(self, x: float, y: float) -> float:
        """Clearance of the cell at a point; 0 outside the grid."""
        cell = self.cell(x, y)
        return 0.0 if cell is None else float(self.clearance[cell])


def build_grid(model: mujoco.MjModel, data: mujoco.MjData, house: House, carried: Sequence[str] = ()) -> OccupancyGrid:
    """The grid of the present state. The robot and what it carries are no obstacles; outside the rooms nothing is free.

    The model may be a house without a robot.
    """
    west, south = (min(getattr(room, axis)[0] for room in house.rooms) - _MARGIN for axis in "xy")
    east, north = (max(getattr(room, axis)[1] for room in house.rooms) + _MARGIN for axis in "xy")
    shape = math.ceil((north - south) / RESOLUTION), math.ceil((east - west) / RESOLUTION)
    grid = np.full(shape, OCCUPIED, dtype=np.uint8)
    origin = np.array([west, south])
    for room in house.rooms:
        corners = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
        low, high = np.array([room.x[0], room.y[0]]), np.array([room.x[1], room.y[1]])
        _fill(grid, low + corners * (high - low), origin, FREE)
    for geom in _obstacles(model, carried):
        corners = _corners(model, data, geom)
        floor = house.footing.height(*corners[:, :2].mean(axis=0).tolist())
        if corners[:, 2].min() < floor + ROBOT_HEIGHT and corners[:, 2].max() > floor + _STEP_HEIGHT:
            _fill(grid, cv2.convexHull(corners[:, :2].astype(np.float32))[:, 0], origin, OCCUPIED)
    if not house.footing.is_level:
        _fill_steps(grid, house, origin)
    return OccupancyGrid(grid.astype(np.int8), (float(west), float(south)))


def _fill_steps(grid: NDArray[np.uint8], house: House, origin: NDArray[np.float64]) -> None:
    """Take both cells where the floor of one is a step above that of the next, be it up or down."""
    rows, columns = grid.shape
    x = origin[0] + (np.arange(columns) + 0.5) * RESOLUTION
    y = origin[1] + (np.arange(rows) + 0.5) * RESOLUTION
    heights = np.zeros(grid.shape)
    for surface in house.footing.surfaces:
        chosen = np.ix_(
            (surface.y[0] <= y) & (y <= surface.y[1]),
            (surface.x[0] <= x) & (x <= surface.x[1]),
        )
        # A slope is the same everywhere, so a row and a column of heights are enough.
        rise_x = surface.slope[0] * (x - sum(surface.x) / 2)
        rise_y = surface.slope[1] * (y - sum(surface.y) / 2)
        heights[chosen] = np.maximum(heights, surface.height + rise_y[:, None] + rise_x[None, :])[chosen]
    for axis in range(2):
        step = np.abs(np.diff(heights, axis=axis)) > _STEP_HEIGHT
        before, after = ([slice(None), slice(None)] for _ in range(2))
        before[axis], after[axis] = slice(None, -1), slice(1, None)
        grid[tuple(before)][step] = OCCUPIED
        grid[tuple(after)][step] = OCCUPIED


def _obstacles(model: mujoco.MjModel, carried: Sequence[str]) -> NDArray[np.intp]:
    """Solid geoms of everything but floors, the robot and what it carries."""
    solid = (model.geom_contype != 0) & (model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE)
    robot = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, fetch.BASE_BODY)
    floors = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, RAISED_FLOORS)
    if floors >= 0:
        solid &= model.geom_bodyid != floors
    if robot >= 0:
        solid &= model.body_treeid[model.geom_bodyid] != model.body_treeid[robot]
    for object_id in carried:
        solid &= model.geom_bodyid != model.body(object_id).id
    return np.flatnonzero(solid)


def _corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> NDArray[np.float64]:
    """The eight corners of the geom's oriented box, map frame; (8, 3)."""
    center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    signs = np.array([[1 if index >> axis & 1 else -1 for axis in range(3)] for index in range(8)])
    local = center + signs * half
    return np.asarray(data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T)


def _fill(grid: NDArray[np.uint8], polygon: NDArray[Any], origin: NDArray[np.float64], value: int) -> None:
    """Set the cells that ``polygon`` (n, 2; convex, map frame) touches."""
    pixels = np.floor((polygon - origin) / RESOLUTION).astype(np.int32)
    cv2.fillConvexPoly(grid, pixels[:, None], value)
