"""Poses as 4x4 homogeneous matrices. Metres, radians."""

from __future__ import annotations

import math

import numpy as np

from homie_core.world_state import ObjectState
from homie_skills.robot import FloatArray


def make_pose(rotation: FloatArray, position: FloatArray | tuple[float, float, float]) -> FloatArray:
    """The (4, 4) pose with this (3, 3) rotation and (3,) position."""
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = position
    return pose


def translation(x: float, y: float, z: float) -> FloatArray:
    """The (4, 4) pose that only moves."""
    return make_pose(np.eye(3), (x, y, z))


def rotation_x(angle: float) -> FloatArray:
    """The (3, 3) rotation about x."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> FloatArray:
    """The (3, 3) rotation about y."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> FloatArray:
    """The (3, 3) rotation about z."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def planar_pose(x: float, y: float, yaw: float) -> FloatArray:
    """The (4, 4) pose of something that stands on the floor."""
    return make_pose(rotation_z(yaw), (x, y, 0.0))


def inverse(pose: FloatArray) -> FloatArray:
    """The inverse of a (4, 4) pose."""
    rotation = pose[:3, :3].T
    return make_pose(rotation, -rotation @ pose[:3, 3])


def quaternion_matrix(quaternion: tuple[float, float, float, float]) -> FloatArray:
    """The (3, 3) rotation of a quaternion (x, y, z, w)."""
    x, y, z, w = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def object_pose(thing: ObjectState) -> FloatArray:
    """The (4, 4) pose of the body of ``thing`` in the map frame."""
    return make_pose(quaternion_matrix(thing.quaternion), thing.position)


def wrap(angle: float) -> float:
    """``angle`` brought to -pi..pi."""
    return math.remainder(angle, 2 * math.pi)


def heading(origin: FloatArray, target: FloatArray) -> float:
    """Yaw from the first point to the second, (2,) or (3,) each."""
    return math.atan2(target[1] - origin[1], target[0] - origin[0])


def rotation_angle(rotation: FloatArray) -> float:
    """Angle of a (3, 3) rotation, 0 to pi."""
    return math.acos(max(-1.0, min(1.0, (float(np.trace(rotation)) - 1.0) / 2.0)))
