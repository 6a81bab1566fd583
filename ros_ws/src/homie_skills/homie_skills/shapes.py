"""How far primitive shapes reach in a direction: widths of objects, whatever they are made of."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from homie_skills.planning_scene import Shape
from homie_skills.robot import FloatArray

_GEOM = mujoco.mjtGeom


def reach_along(shape: Shape, direction: FloatArray) -> float:
    """Distance from the centre of ``shape`` to its furthest point in ``direction``, a unit vector (3,) of its frame."""
    half = shape.half_extents
    if shape.kind == _GEOM.mjGEOM_SPHERE:
        return float(half[0])
    if shape.kind == _GEOM.mjGEOM_ELLIPSOID:
        return float(np.linalg.norm(half * direction))
    if shape.kind == _GEOM.mjGEOM_CAPSULE:
        return float(half[0] + abs(direction[2]) * (half[2] - half[0]))
    if shape.kind == _GEOM.mjGEOM_CYLINDER:
        return float(half[0] * np.hypot(direction[0], direction[1]) + half[2] * abs(direction[2]))
    return float(half @ np.abs(direction))


def span(shapes: Sequence[Shape], pose: FloatArray, direction: FloatArray) -> tuple[float, float]:
    """Least and greatest coordinate of ``shapes``, placed by ``pose`` (4, 4), along the unit vector ``direction``."""
    lows, highs = [], []
    for shape in shapes:
        placed = pose @ shape.pose
        middle = float(direction @ placed[:3, 3])
        reach = reach_along(shape, placed[:3, :3].T @ direction)
        lows.append(middle - reach)
        highs.append(middle + reach)
    return min(lows), max(highs)
