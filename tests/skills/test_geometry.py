from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from homie_skills.geometry import (
    heading,
    inverse,
    make_pose,
    planar_pose,
    quaternion_matrix,
    rotation_angle,
    rotation_x,
    rotation_y,
    rotation_z,
    wrap,
)

angles = st.floats(-10, 10)


@given(angles, angles, angles)
def test_inverse_undoes_a_pose(first: float, second: float, third: float) -> None:
    pose = make_pose(rotation_z(first) @ rotation_y(second) @ rotation_x(third), (first, second, third))
    np.testing.assert_allclose(pose @ inverse(pose), np.eye(4), atol=1e-9)


@given(angles)
def test_wrapped_angle_points_the_same_way(angle: float) -> None:
    wrapped = wrap(angle)
    assert -math.pi <= wrapped <= math.pi
    assert math.isclose(math.cos(wrapped), math.cos(angle), abs_tol=1e-9)


def test_quaternion_of_a_quarter_turn_about_z() -> None:
    half = math.sqrt(0.5)
    np.testing.assert_allclose(quaternion_matrix((0, 0, half, half)), rotation_z(math.pi / 2), atol=1e-12)


def test_rotation_angle_measures_the_turn() -> None:
    assert math.isclose(rotation_angle(rotation_y(0.7)), 0.7, abs_tol=1e-9)


def test_planar_pose_and_heading_agree() -> None:
    pose = planar_pose(1.0, 2.0, 0.5)
    ahead = pose @ np.array([3.0, 0.0, 0.0, 1.0])
    assert math.isclose(heading(pose[:3, 3], ahead[:3]), 0.5)
