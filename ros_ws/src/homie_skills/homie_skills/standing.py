"""Where the base should stand to reach something."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from homie_core import fetch
from homie_skills.floor_map import COMFORTABLE_GAP, DRIVE_CLEARANCE, FloorMap
from homie_skills.manipulator import BasePose
from homie_skills.robot import FloatArray

REACH_DISTANCES = (0.70, 0.62, 0.78, 0.66, 0.74, 0.55, 0.86, 0.48, 0.94)
"""Distances from the middle of the base to what is reached for, best first."""

_BEARINGS = 24


def can_stand(floor: FloorMap, point: FloatArray) -> bool:
    """Whether the base can stand at ``point`` (2,) and get there."""
    where = point[None, :2]
    return bool(floor.drivable(where)[0] and floor.clearance(where)[0] >= fetch.BASE_RADIUS + DRIVE_CLEARANCE)


def around(
    floor: FloorMap,
    target: FloatArray,
    here: BasePose,
    distances: Sequence[float] = REACH_DISTANCES,
    front: float | None = None,
) -> list[BasePose]:
    """Standing poses round ``target`` (2,) that the base can drive to, best first.

    Poses with a comfortable gap to everything come first; then the distance, the way from ``here``, and the side count.

    Args:
        floor: the floor.
        target: point to reach for, (2,) or (3,).
        here: where the base is.
        distances: from the base to the target, best first.
        front: direction (radians) in which the target's front looks, if it has one.
    """
    bearings = np.arange(_BEARINGS) * (2 * math.pi / _BEARINGS) + (front if front is not None else 0.0)
    radius, bearing = (grid.ravel() for grid in np.meshgrid(distances, bearings, indexing="ij"))
    rank = np.repeat(np.arange(len(distances)), len(bearings))
    points = np.column_stack([target[0] + radius * np.cos(bearing), target[1] + radius * np.sin(bearing)])
    cost = 0.15 * rank + 0.1 * np.hypot(points[:, 0] - here[0], points[:, 1] - here[1])
    gap = floor.clearance(points) - fetch.BASE_RADIUS
    cost += np.where(gap < COMFORTABLE_GAP, 1.0 + (COMFORTABLE_GAP - gap) * 5, 0.0)
    if front is not None:
        cost += 0.6 * (1 - np.cos(bearing - front))
    possible = floor.drivable(points) & (gap >= DRIVE_CLEARANCE)
    order = sorted(np.flatnonzero(possible), key=lambda index: (cost[index], index))
    return [
        (float(points[index, 0]), float(points[index, 1]), math.remainder(bearing[index] + math.pi, math.tau))
        for index in order
    ]
