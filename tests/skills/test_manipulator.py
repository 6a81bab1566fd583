from __future__ import annotations

import math

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.world import MujocoWorld
from homie_skills.geometry import translation
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.manipulator import Manipulator, Watch
from homie_skills.planning_scene import PlanningScene
from homie_skills.postures import FORWARD, READY, STOWED
from homie_skills.robot import SkillCancelled, SkillTimeout
from support.direct_robot import DirectRobot


def watch(deadline: int = 10**12, cancelled: bool = False) -> Watch:
    return Watch(lambda _phase, _share: None, lambda: cancelled, deadline)


@pytest.fixture
def manipulator(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> Manipulator:
    return Manipulator(DirectRobot(world), scene, arm, np.random.default_rng(0), watch())


def arm_of(world: MujocoWorld) -> np.ndarray:
    return np.array([world.joint_positions()[name] for name in fetch.ARM_WITH_TORSO_JOINTS])


def test_moves_and_folds(manipulator: Manipulator, world: MujocoWorld) -> None:
    manipulator.move_to([READY])
    np.testing.assert_allclose(np.cos(arm_of(world)), np.cos(READY), atol=0.02)
    manipulator.stow()
    np.testing.assert_allclose(np.cos(arm_of(world)), np.cos(STOWED), atol=0.02)
    assert manipulator.stowed


def test_head_stays_out_of_the_way_of_the_arm(
    manipulator: Manipulator, world: MujocoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, _yaw = world.base_pose()
    beside, path = np.array([x + 1.0, y + 1.0, 0.8]), FORWARD[None]

    def head() -> float:
        return world.joint_positions()["head_pan_joint"]

    before = head()
    monkeypatch.setattr(manipulator, "is_free", lambda _joints: False)
    manipulator.look_at(beside, path)
    assert head() == pytest.approx(before, abs=1e-3)
    monkeypatch.setattr(manipulator, "is_free", lambda _joints: True)
    manipulator.look_at(beside, path)
    assert abs(head() - before) > 0.1


def test_folds_from_below_a_table_top(manipulator: Manipulator, world: MujocoWorld) -> None:
    world.set_joint_positions({"base_x": 6.5, "base_y": 0.82, "base_yaw": math.pi / 2})
    world.set_joint_positions(dict(zip(fetch.ARM_WITH_TORSO_JOINTS, FORWARD, strict=True)))
    manipulator.refresh()
    manipulator.stow()
    assert manipulator.stowed


def test_solutions_are_free_different_and_reach(manipulator: Manipulator, scene: PlanningScene) -> None:
    hand = scene.base_matrix @ manipulator.arm.hand_pose(FORWARD)
    found = list(manipulator.solutions(hand))
    assert len(found) >= 2
    for joints in found:
        assert manipulator.is_free(joints)
        np.testing.assert_allclose(scene.hand_pose[:3, 3], hand[:3, 3], atol=2e-3)
    assert manipulator.reach(translation(3, 0, 0) @ hand) is None


def test_line_leads_straight(manipulator: Manipulator, scene: PlanningScene) -> None:
    hand = scene.base_matrix @ manipulator.arm.hand_pose(FORWARD)
    path = manipulator.line(FORWARD, translation(0, 0, 0.1) @ hand)
    assert path is not None
    np.testing.assert_array_equal(path[0], FORWARD)
    assert manipulator.line(FORWARD, translation(0, 0, 1.5) @ hand) is None


def test_trial_of_a_standing_place_leaves_the_robot_where_it_is(
    manipulator: Manipulator, scene: PlanningScene, world: MujocoWorld
) -> None:
    with manipulator.standing_at((1.0, 1.0, 0.5)):
        assert scene.base == (1.0, 1.0, 0.5)
    assert scene.base == pytest.approx(world.base_pose())


def test_backs_off_until_something_is_in_the_way(manipulator: Manipulator, world: MujocoWorld) -> None:
    world.set_joint_positions({"base_x": 3.0, "base_y": 0.5, "base_yaw": math.pi / 2})
    manipulator.refresh()
    manipulator.back_off(1.0)
    x, y, _yaw = world.base_pose()
    assert x == pytest.approx(3.0, abs=0.01)
    assert 0.28 < y < 0.4


def test_steps_back_from_furniture_that_is_too_near(manipulator: Manipulator, world: MujocoWorld) -> None:
    world.set_joint_positions({"base_x": 6.5, "base_y": 1.05, "base_yaw": math.pi / 2})
    manipulator.refresh()
    manipulator.step_back()
    assert world.base_pose()[1] < 1.40 - 0.28 - 0.12


def test_does_not_drive_to_where_it_stands(manipulator: Manipulator, world: MujocoWorld) -> None:
    before = world.stamp
    manipulator.drive_to(world.base_pose())
    assert world.stamp == before


def test_deadline_and_cancel(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(SkillCancelled):
        Manipulator(DirectRobot(world), scene, arm, rng, watch(cancelled=True))
    with pytest.raises(SkillTimeout, match="past the deadline"):
        Manipulator(DirectRobot(world), scene, arm, rng, watch(deadline=-1))
