from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from homie_skills.geometry import make_pose, rotation_z, translation
from homie_skills.planning_scene import Shape
from homie_skills.shapes import reach_along, span

GEOM = mujoco.mjtGeom
UP, SIDE = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
DIAGONAL = np.array([1.0, 1.0, 0.0]) / math.sqrt(2)


def shape(kind: int, *half: float) -> Shape:
    return Shape(int(kind), np.eye(4), np.array(half))


@pytest.mark.parametrize(
    ("thing", "direction", "reach"),
    [
        (shape(GEOM.mjGEOM_SPHERE, 0.1, 0.1, 0.1), DIAGONAL, 0.1),
        (shape(GEOM.mjGEOM_BOX, 0.1, 0.2, 0.3), UP, 0.3),
        (shape(GEOM.mjGEOM_BOX, 0.1, 0.2, 0.3), DIAGONAL, 0.3 / math.sqrt(2)),
        (shape(GEOM.mjGEOM_CYLINDER, 0.1, 0.1, 0.3), DIAGONAL, 0.1),
        (shape(GEOM.mjGEOM_CYLINDER, 0.1, 0.1, 0.3), UP, 0.3),
        (shape(GEOM.mjGEOM_CAPSULE, 0.1, 0.1, 0.3), UP, 0.3),
        (shape(GEOM.mjGEOM_CAPSULE, 0.1, 0.1, 0.3), SIDE, 0.1),
        (shape(GEOM.mjGEOM_ELLIPSOID, 0.1, 0.2, 0.3), SIDE, 0.1),
    ],
)
def test_reach(thing: Shape, direction: np.ndarray, reach: float) -> None:
    assert math.isclose(reach_along(thing, direction), reach)


def test_span_covers_all_parts_where_they_are() -> None:
    parts = [
        Shape(int(GEOM.mjGEOM_SPHERE), translation(0.0, 0.3, 0.0), np.full(3, 0.1)),
        Shape(int(GEOM.mjGEOM_BOX), np.eye(4), np.array([0.1, 0.2, 0.3])),
    ]
    pose = make_pose(rotation_z(math.pi / 2), (1.0, 0.0, 0.0))
    assert span(parts, pose, SIDE) == pytest.approx((0.6, 1.2))
