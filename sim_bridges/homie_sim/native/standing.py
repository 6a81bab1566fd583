"""Where the base can stand to do something, as the physical skills choose it. Metres and radians, map frame."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_core.world_state import Kind, ObjectState
from homie_sim.occupancy import OccupancyGrid
from homie_sim.world import MujocoWorld

Array = NDArray[np.float64]
Pose = tuple[float, float, float]
Point = tuple[float, float]

DRIVE_CLEARANCE = 0.05
"""Distance between the base's circle and anything else, at least."""

COMFORTABLE_GAP = 0.15
"""Distance from furniture from which on the robot is never too close to act."""

REACH_DISTANCES = (0.70, 0.62, 0.78, 0.55, 0.86, 0.48, 0.94)
"""Distances from the middle of the base to what is reached for, best first."""

NEAREST_REACH, FURTHEST_REACH = min(REACH_DISTANCES), max(REACH_DISTANCES)

FURNITURE_GAPS = (0.30, 0.20, 0.40, 0.55, 0.70)
CONTAINER_GAPS = (0.37, 0.47, 0.27)
"""Distances between the base and the front of something, best first."""

_BEARINGS = 24
_DROP_DISTANCES = (0.65, 0.75, 0.55)
_ALONG = 9
_START_RADIUS = 0.40
_ROOMY = 1.0


class Floor:
    """The floor as it is now: clearances, and which cells the base can drive to."""

    def __init__(self, world: MujocoWorld) -> None:
        self.here: Pose = world.base_pose()
        self._grid = world.occupancy()
        self._reachable = _reachable(self._grid, self.here)

    def free(self, points: Array, gap: float = DRIVE_CLEARANCE) -> NDArray[np.bool_]:
        """At which points (n, 2) the base can stand with ``gap`` all round, and get there; (n,)."""
        rows, columns, inside = self._cells(points)
        fine: NDArray[np.bool_] = inside & self._reachable[rows, columns]
        return fine & (self.gap(points) >= gap)

    def gap(self, points: Array) -> Array:
        """Distance from the base's circle at points (n, 2) to the next obstacle; (n,)."""
        rows, columns, inside = self._cells(points)
        return np.where(inside, self._grid.clearance[rows, columns], 0.0) - fetch.BASE_RADIUS

    def everywhere(self) -> Array:
        """All points (n, 2) with a comfortable gap that the base can drive to."""
        rows, columns = np.nonzero(self._reachable)
        cells = np.column_stack([columns, rows])
        points = np.asarray(self._grid.origin) + (cells + 0.5) * self._grid.resolution
        return points[self.free(points, COMFORTABLE_GAP)]

    def spots_in_front(self, radius: float) -> list[Point]:
        """Points of the floor near the robot where something of ``radius`` has room, straight ahead ones first."""
        x, y, yaw = self.here
        turns = sorted(np.linspace(-math.pi, math.pi, _BEARINGS, endpoint=False).tolist(), key=abs)
        found = [
            (x + distance * math.cos(yaw + turn), y + distance * math.sin(yaw + turn))
            for turn in turns
            for distance in _DROP_DISTANCES
        ]
        room = self.gap(np.array(found)) + fetch.BASE_RADIUS >= radius + COMFORTABLE_GAP
        return [point for point, fine in zip(found, room.tolist(), strict=True) if fine]

    def _cells(self, points: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
        cells = np.floor((points - np.asarray(self._grid.origin)) / self._grid.resolution).astype(np.intp)
        rows, columns = self._grid.data.shape
        column, row = cells[:, 0], cells[:, 1]
        inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        return np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1), inside


def _reachable(grid: OccupancyGrid, here: Pose) -> NDArray[np.bool_]:
    """Cells with room for the base that are connected with where it stands."""
    free = grid.clearance >= fetch.BASE_RADIUS + DRIVE_CLEARANCE
    rows, columns = np.indices(grid.data.shape)
    row, column = ((here[axis] - grid.origin[axis]) / grid.resolution - 0.5 for axis in (1, 0))
    # The robot may stand closer to something than it would drive; it can always leave the way it came.
    near = (np.hypot(rows - row, columns - column) * grid.resolution < _START_RADIUS) & (grid.data == 0)
    _, labels = cv2.connectedComponents((free | near).astype(np.uint8), connectivity=4)
    cell = grid.cell(here[0], here[1])
    if cell is None or labels[cell] == 0:
        return free & False
    return np.asarray(free & (labels == labels[cell]))


def around(floor: Floor, target: Sequence[float], distances: Sequence[float] = REACH_DISTANCES) -> list[Pose]:
    """Standing poses that look at ``target`` (x, y, ...), best first: comfortable gap, then distance, way from here."""
    bearings = np.arange(_BEARINGS) * (2 * math.pi / _BEARINGS)
    radius, bearing = (grid.ravel() for grid in np.meshgrid(distances, bearings, indexing="ij"))
    points = np.column_stack([target[0] + radius * np.cos(bearing), target[1] + radius * np.sin(bearing)])
    gap = floor.gap(points)
    cost = 0.15 * np.repeat(np.arange(len(distances)), len(bearings)) + 0.1 * _way(floor, points)
    cost += np.where(gap < COMFORTABLE_GAP, 1.0 + (COMFORTABLE_GAP - gap) * 5, 0.0)
    return _ordered(points, bearing + math.pi, cost, floor.free(points))


def before(floor: Floor, thing: ObjectState, front: float, gaps: Sequence[float], sides: int) -> list[Pose]:
    """Standing poses before a box's front, then its other ``sides``, best first, ``gaps`` away from it.

    ``front`` is the direction in which its front looks.
    """
    center, half = np.array(thing.box_center[:2]), np.array(thing.box_size[:2]) / 2
    points, yaws, costs = [], [], []
    for side in range(sides):
        direction = front + side * math.pi / 2
        normal = np.array([math.cos(direction), math.sin(direction)])
        across = np.array([-normal[1], normal[0]])
        for index, gap in enumerate(gaps):
            middle = center + normal * (float(np.abs(normal) @ half) + fetch.BASE_RADIUS + gap)
            for along in np.linspace(-0.8, 0.8, _ALONG):
                points.append(middle + across * along * float(np.abs(across) @ half))
                yaws.append(direction + math.pi)
                costs.append(0.2 * index + 0.3 * abs(along) + 0.6 * (side > 0))
    at = np.array(points)
    return _ordered(at, np.array(yaws), np.array(costs) + 0.05 * _way(floor, at), floor.free(at, COMFORTABLE_GAP))


def inside(floor: Floor, place: ObjectState) -> list[Pose]:
    """Standing poses in a room, best first: roomy spots near its middle."""
    center, half = np.array(place.box_center[:2]), np.array(place.box_size[:2]) / 2
    points = floor.everywhere()
    points = points[np.all(np.abs(points - center) < half - fetch.BASE_RADIUS, axis=1)]
    cost = np.linalg.norm(points - center, axis=1) - np.minimum(floor.gap(points), _ROOMY)
    yaws = np.arctan2(points[:, 1] - floor.here[1], points[:, 0] - floor.here[0])
    return _ordered(points, yaws, cost, np.ones(len(points), dtype=bool))


def choices(floor: Floor, thing: ObjectState) -> list[Pose]:
    """Where to stand to be at ``thing``, best first."""
    center = thing.box_center[:2]
    if thing.kind is Kind.PLACE:
        return inside(floor, thing)
    if thing.kind is Kind.OBJECT:
        return around(floor, center)
    container = thing.kind is Kind.CONTAINER
    gaps, sides = (CONTAINER_GAPS, 1) if container else (FURNITURE_GAPS, 4)
    found = before(floor, thing, heading(thing), gaps, sides)
    depth = max(thing.box_size[:2]) / 2
    return found or around(floor, center, tuple(depth + gap for gap in (0.6, 0.8, 1.0)))


def heading(thing: ObjectState) -> float:
    """Direction of a thing's front: its x axis."""
    x, y, z, w = thing.quaternion
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def level_distance(thing: ObjectState, pose: Pose) -> float:
    """From the middle of the base to the nearest point of the thing's box; 0 inside."""
    away = np.abs(np.array(pose[:2]) - thing.box_center[:2]) - np.array(thing.box_size[:2]) / 2
    return float(np.linalg.norm(np.maximum(away, 0.0)))


def _way(floor: Floor, points: Array) -> Array:
    return np.hypot(points[:, 0] - floor.here[0], points[:, 1] - floor.here[1])


def _ordered(points: Array, yaws: Array, cost: Array, possible: NDArray[np.bool_]) -> list[Pose]:
    """The possible ones as poses, cheapest first; ties in the order given."""
    order = [index for index in np.argsort(cost, kind="stable").tolist() if possible[index]]
    return [(float(points[i, 0]), float(points[i, 1]), math.remainder(float(yaws[i]), math.tau)) for i in order]
