from __future__ import annotations

import numpy as np

from homie_skills.cartesian import LINE_STEP, follow, line
from homie_skills.geometry import make_pose, rotation_z, translation
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.postures import FORWARD


def free(_joints: np.ndarray) -> bool:
    return True


def test_line_is_straight_and_fine() -> None:
    end = make_pose(rotation_z(0.4), (0.3, 0.0, 0.1))
    poses = line(np.eye(4), end)
    np.testing.assert_allclose(poses[-1], end, atol=1e-12)
    positions = np.array([pose[:3, 3] for pose in poses])
    assert np.all(np.linalg.norm(np.diff(positions, axis=0), axis=1) <= LINE_STEP + 1e-9)
    np.testing.assert_allclose(np.cross(positions, end[:3, 3]), 0, atol=1e-9)


def test_hand_follows_a_line(arm: ArmKinematics) -> None:
    start = arm.hand_pose(FORWARD)
    poses = line(start, translation(0, 0, 0.15) @ start)
    path = follow(arm, np.eye(4), FORWARD, poses, free)
    assert len(path) == len(poses) + 1
    for joints, pose in zip(path[1:], poses, strict=True):
        np.testing.assert_allclose(arm.hand_pose(joints)[:3, 3], pose[:3, 3], atol=2e-3)


def test_line_ends_where_something_is_in_the_way(arm: ArmKinematics) -> None:
    start = arm.hand_pose(FORWARD)
    poses = line(start, translation(0, 0, 0.15) @ start)
    limit = start[2, 3] + 0.05
    path = follow(arm, np.eye(4), FORWARD, poses, lambda joints: arm.hand_pose(joints)[2, 3] < limit)
    assert 1 < len(path) < len(poses)


def test_line_out_of_reach_is_cut_short(arm: ArmKinematics) -> None:
    start = arm.hand_pose(FORWARD)
    poses = line(start, translation(0.6, 0, 0) @ start)
    assert len(follow(arm, np.eye(4), FORWARD, poses, free)) < len(poses)


def test_free_axis_lets_the_hand_keep_its_direction(arm: ArmKinematics) -> None:
    start = arm.hand_pose(FORWARD)
    turned = translation(0, 0.05, 0) @ start @ make_pose(rotation_z(1.0), (0, 0, 0))
    path = follow(arm, np.eye(4), FORWARD, [turned], free, free_axis=2)
    assert len(path) == 2
    reached = arm.hand_pose(path[-1])
    np.testing.assert_allclose(reached[:3, 3], turned[:3, 3], atol=2e-3)
    assert reached[:3, 0] @ start[:3, 0] > 0.98
