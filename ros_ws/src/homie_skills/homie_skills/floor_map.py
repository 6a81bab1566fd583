"""Where the base can stand and what it can reach, from the planning scene. Metres, map frame."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from homie_core import fetch
from homie_skills.planning_scene import PlanningScene
from homie_skills.robot import FloatArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int_]

RESOLUTION = 0.04
DRIVE_CLEARANCE = 0.03
"""Distance between the base's circle and anything else, at least, where it stands or drives."""

COMFORTABLE_GAP = 0.15
"""Distance between the base's circle and furniture that leaves room to turn and is not too close to begin a skill."""

_LOWEST, _HIGHEST = 0.02, 1.15
"""Between these heights something is in the way of the base or of what stands on it."""
_BORDER = 1.5
_START_RADIUS = 0.15
_STORY = 3.0


class FloorMap:
    """Distance of every point of the floor to the next obstacle, and which points the base can drive to."""

    def __init__(self, scene: PlanningScene) -> None:
        centers, rotations, half_sizes = _obstacles(scene)
        x, y, _yaw = scene.base
        self._origin = np.minimum(centers[:, :2].min(axis=0), (x, y)) - _BORDER
        size = np.maximum(centers[:, :2].max(axis=0), (x, y)) + _BORDER - self._origin
        shape = np.ceil(size / RESOLUTION).astype(int) + 1
        occupied = np.zeros(shape, dtype=bool)
        for center, rotation, half in zip(centers, rotations, half_sizes, strict=True):
            self._stamp(occupied, center, rotation, half)
        self._distance = ndimage.distance_transform_edt(~occupied) * RESOLUTION
        self._drivable = self._connected((x, y))

    def clearance(self, points: FloatArray) -> FloatArray:
        """Distance from each point (n, 2) to the next obstacle, (n,)."""
        column, row = self._cells(points)
        return self._distance[column, row]

    def drivable(self, points: FloatArray) -> BoolArray:
        """Whether the base can stand at each point (n, 2) and get there from where it is, (n,) of bool."""
        column, row = self._cells(points)
        return self._drivable[column, row]

    def _cells(self, points: FloatArray) -> tuple[IntArray, IntArray]:
        cells = np.round((np.atleast_2d(points) - self._origin) / RESOLUTION).astype(int)
        cells = np.clip(cells, 0, np.array(self._distance.shape) - 1)
        return cells[:, 0], cells[:, 1]

    def _stamp(self, occupied: BoolArray, center: FloatArray, rotation: FloatArray, half: FloatArray) -> None:
        """Mark the cells below a box. Its footprint is the one of its two most level axes: exact for upright boxes."""
        upright = int(np.argmax(np.abs(rotation[2])))
        level = [axis for axis in range(3) if axis != upright]
        reach = float(np.linalg.norm(np.abs(rotation[:2]) @ half)) + RESOLUTION
        low = np.maximum(np.floor((center[:2] - reach - self._origin) / RESOLUTION).astype(int), 0)
        high = np.ceil((center[:2] + reach - self._origin) / RESOLUTION).astype(int) + 1
        columns, rows = (
            np.arange(low[0], min(high[0], occupied.shape[0])),
            np.arange(low[1], min(high[1], occupied.shape[1])),
        )
        offset_x = (self._origin[0] + columns * RESOLUTION - center[0])[:, None]
        offset_y = (self._origin[1] + rows * RESOLUTION - center[1])[None, :]
        inside = np.ones((columns.size, rows.size), dtype=bool)
        tilt = abs(rotation[2, upright])
        lean = half[upright] * math.sqrt(max(0.0, 1.0 - tilt * tilt))
        for axis in level:
            along = offset_x * rotation[0, axis] + offset_y * rotation[1, axis]
            inside &= np.abs(along) <= half[axis] + lean + RESOLUTION / 2
        occupied[low[0] : low[0] + columns.size, low[1] : low[1] + rows.size] |= inside

    def _connected(self, start: tuple[float, float]) -> BoolArray:
        free = self._distance >= fetch.BASE_RADIUS + DRIVE_CLEARANCE
        (column,), (row,) = self._cells(np.array([start]))
        columns, rows = np.ogrid[: free.shape[0], : free.shape[1]]
        # The robot may stand closer to something than it would drive; it can always leave the way it came.
        near = np.hypot(columns - column, rows - row) * RESOLUTION < _START_RADIUS
        labels, _count = ndimage.label(free | near)
        return free & (labels == labels[column, row])


def _obstacles(scene: PlanningScene) -> tuple[FloatArray, FloatArray, FloatArray]:
    centers, rotations, half_sizes = scene.house_boxes()
    half_heights = np.einsum("nj,nj->n", np.abs(rotations[:, 2]), half_sizes)
    low, high = centers[:, 2] - half_heights, centers[:, 2] + half_heights
    chosen = (high > _LOWEST) & (low < _HIGHEST) & (half_heights < _STORY)
    return centers[chosen], rotations[chosen], half_sizes[chosen]
