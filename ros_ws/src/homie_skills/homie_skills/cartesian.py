"""Straight lines of the hand: approach, lift, retreat, and pulling along a given course."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mink
import numpy as np

from homie_skills.geometry import inverse, make_pose, rotation_angle
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.motion_planning import IsFree
from homie_skills.robot import FloatArray

LINE_STEP = 0.01
ANGLE_STEP = 0.05
LARGEST_JOINT_STEP = 0.25
"""A larger step of a joint from one point of the line to the next means that the arm would have to turn over."""


def line(start: FloatArray, end: FloatArray) -> list[FloatArray]:
    """Hand poses (4, 4) from ``start`` (left out) to ``end`` (kept), at most ``LINE_STEP`` and ``ANGLE_STEP`` apart."""
    first, last = mink.SO3.from_matrix(start[:3, :3]), mink.SO3.from_matrix(end[:3, :3])
    length = float(np.linalg.norm(end[:3, 3] - start[:3, 3]))
    angle = rotation_angle(start[:3, :3].T @ end[:3, :3])
    count = max(1, math.ceil(length / LINE_STEP), math.ceil(angle / ANGLE_STEP))
    return [
        make_pose(first.interpolate(last, share).as_matrix(), start[:3, 3] + share * (end[:3, 3] - start[:3, 3]))
        for share in np.arange(1, count + 1) / count
    ]


def follow(
    arm: ArmKinematics,
    base: FloatArray,
    start: FloatArray,
    poses: Sequence[FloatArray],
    is_free: IsFree,
    free_axis: int | None = None,
) -> FloatArray:
    """Joints that bring the hand through ``poses`` one after the other, as far as that goes.

    Args:
        arm: kinematics.
        base: (4, 4) pose of the base in the map.
        start: (8,) joints to begin from.
        poses: hand poses (4, 4) in the map.
        is_free: collision check.
        free_axis: axis of the hand about which it may turn freely; the hand then keeps the turn that costs least.

    Returns:
        (k, 8) joints, ``start`` first; complete when k = len(poses) + 1.
    """
    to_base = inverse(base)
    path = [start]
    for pose in poses:
        target = to_base @ pose
        if free_axis is not None:
            target = _turned_towards(target, arm.hand_pose(path[-1]), free_axis)
        joints = arm.solve(target, [path[-1]], free_axis, iterations=15)
        if joints is None or np.max(np.abs(joints - path[-1])) > LARGEST_JOINT_STEP or not is_free(joints):
            break
        path.append(joints)
    return np.array(path)


def _turned_towards(target: FloatArray, current: FloatArray, axis: int) -> FloatArray:
    """``target`` turned about its own ``axis`` to come as close to the orientation of ``current`` as it can."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    difference = target[:3, :3].T @ current[:3, :3]
    angle = math.atan2(
        difference[second, first] - difference[first, second], difference[first, first] + difference[second, second]
    )
    turn = np.zeros(3)
    turn[axis] = angle
    return target @ make_pose(mink.SO3.exp(turn).as_matrix(), (0.0, 0.0, 0.0))
