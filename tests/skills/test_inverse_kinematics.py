from __future__ import annotations

import math

import numpy as np
import pytest

from homie_skills.geometry import make_pose, rotation_angle, rotation_y, rotation_z
from homie_skills.inverse_kinematics import ANGLE_TOLERANCE, POSITION_TOLERANCE, ArmKinematics, joint_limits
from homie_skills.postures import FORWARD, READY

LEVEL = make_pose(np.eye(3), (0.8, 0.1, 0.8))
DOWN = make_pose(rotation_y(math.pi / 2), (0.7, -0.1, 0.7))


@pytest.mark.parametrize("target", [LEVEL, DOWN], ids=["level", "down"])
def test_solution_reaches_the_target_within_limits(arm: ArmKinematics, target: np.ndarray) -> None:
    joints = arm.solve(target, [FORWARD, READY])
    assert joints is not None
    reached = arm.hand_pose(joints)
    assert np.linalg.norm(reached[:3, 3] - target[:3, 3]) < POSITION_TOLERANCE
    assert rotation_angle(reached[:3, :3].T @ target[:3, :3]) < 2 * ANGLE_TOLERANCE
    limited = np.array([0, 1, 2, 4, 6])
    assert np.all(joints[limited] > arm.lower[limited]) and np.all(joints[limited] < arm.upper[limited])


def test_own_poses_are_found_from_near(arm: ArmKinematics) -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        wanted = rng.uniform(0.8 * arm.lower, 0.8 * arm.upper)
        near = wanted + rng.normal(0, 0.05, 8) * np.array([0.1, 1, 1, 1, 1, 1, 1, 1])
        assert arm.solve(arm.hand_pose(wanted), [near]) is not None


def test_seed_beyond_one_turn_keeps_its_turn(arm: ArmKinematics) -> None:
    seed = FORWARD.copy()
    seed[7] += 4.5
    joints = arm.solve(arm.hand_pose(seed), [seed])
    assert joints is not None
    np.testing.assert_allclose(joints, seed, atol=0.02)


def test_free_axis_ignores_the_turn_about_it(arm: ArmKinematics) -> None:
    turned = LEVEL @ make_pose(rotation_z(0.6), (0, 0, 0))
    joints = arm.solve(turned, [FORWARD], free_axis=2)
    assert joints is not None
    reached = arm.hand_pose(joints)
    np.testing.assert_allclose(reached[:3, 3], turned[:3, 3], atol=2e-3)
    assert reached[2, 2] > 0.999


def test_far_target_has_no_solution(arm: ArmKinematics) -> None:
    far = make_pose(np.eye(3), (2.0, 0.0, 0.8))
    assert not arm.may_reach(far)
    assert arm.solve(far, [FORWARD, READY]) is None


def test_quick_test_never_refuses_what_the_arm_reaches(arm: ArmKinematics) -> None:
    rng = np.random.default_rng(1)
    lower, upper = joint_limits()
    assert all(arm.may_reach(arm.hand_pose(rng.uniform(lower, upper))) for _ in range(300))


def test_same_seed_gives_the_same_solution(arm: ArmKinematics) -> None:
    first, second = arm.solve(LEVEL, [READY]), arm.solve(LEVEL, [READY])
    assert first is not None and second is not None
    np.testing.assert_array_equal(first, second)
