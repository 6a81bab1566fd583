from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from homie_core import fetch
from homie_skills.geometry import make_pose, rotation_z, translation
from homie_skills.grasping import MAX_WIDTH, Grasp, grasps
from homie_skills.planning_scene import Shape
from homie_skills.shapes import span

GEOM = mujoco.mjtGeom
TABLE = 0.7
CAN = [Shape(int(GEOM.mjGEOM_CYLINDER), np.eye(4), np.array([0.033, 0.033, 0.05]))]
CARTON = [Shape(int(GEOM.mjGEOM_BOX), np.eye(4), np.array([0.03, 0.075, 0.1]))]
CRATE = [Shape(int(GEOM.mjGEOM_BOX), np.eye(4), np.array([0.1, 0.1, 0.1]))]


def standing(height: float, yaw: float = 0.0) -> np.ndarray:
    return make_pose(rotation_z(yaw), (1.0, 2.0, TABLE + height))


def pitches(options: list[Grasp]) -> set[int]:
    return {round(math.degrees(grasp.pitch)) for grasp in options}


def test_can_is_taken_from_every_side_at_every_pitch() -> None:
    options = grasps(CAN, standing(0.05))
    assert pitches(options) == {0, 30, 45, 60, 90}
    level = [grasp for grasp in options if grasp.pitch == 0]
    assert len({round(grasp.yaw, 3) for grasp in level}) == 24


@pytest.mark.parametrize("shapes", [CAN, CARTON])
def test_object_lies_between_the_fingers(shapes: list[Shape]) -> None:
    pose = standing(float(shapes[0].half_extents[2]), yaw=0.3)
    options = grasps(shapes, pose)
    assert options
    for grasp in options:
        closing = grasp.hand[:3, 1]
        low, high = span(shapes, pose, closing)
        assert abs(closing[2]) < 1e-9
        assert high - low <= MAX_WIDTH
        assert grasp.opening > high - low and grasp.opening <= fetch.MAX_OPENING
        assert (low + high) / 2 == pytest.approx(float(closing @ grasp.hand[:3, 3]), abs=1e-9)
        assert grasp.hand[2, 3] > TABLE


def test_carton_is_taken_across_its_thin_side_only() -> None:
    options = grasps(CARTON, standing(0.1, yaw=0.3))
    thin = rotation_z(0.3)[:, 0]
    assert all(abs(grasp.hand[:3, 1] @ thin) > 0.999 for grasp in options)


def test_flat_object_is_not_taken_with_a_level_hand() -> None:
    tuna = [Shape(int(GEOM.mjGEOM_CYLINDER), np.eye(4), np.array([0.042, 0.042, 0.017]))]
    assert 0 not in pitches(grasps(tuna, standing(0.017)))
    assert 90 in pitches(grasps(tuna, standing(0.017)))


def test_crate_is_too_large_and_tried_on_its_top() -> None:
    options = grasps(CRATE, standing(0.1))
    assert pitches(options) == {90}
    for grasp in options:
        assert grasp.opening == fetch.MAX_OPENING
        np.testing.assert_allclose(grasp.hand[:2, 3], standing(0.1)[:2, 3], atol=1e-9)
        assert grasp.hand[2, 3] > 0.2


def test_wide_bowl_is_taken_by_its_rim() -> None:
    wall = Shape(int(GEOM.mjGEOM_BOX), translation(0.07, 0, 0), np.array([0.003, 0.02, 0.03]))
    floor = Shape(int(GEOM.mjGEOM_CYLINDER), translation(0, 0, -0.028), np.array([0.07, 0.07, 0.002]))
    options = grasps([wall, floor], standing(0.03))
    assert options
    assert pitches(options) == {90}
    for grasp in options:
        np.testing.assert_allclose(np.abs(grasp.hand[:3, 1]), [1, 0, 0], atol=1e-9)
        assert grasp.hand[0, 3] == pytest.approx(1.07, abs=0.005)
