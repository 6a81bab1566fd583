from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.world import MujocoWorld
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.manipulator import BasePose, Manipulator, Watch
from homie_skills.planning_scene import PlanningScene
from homie_skills.postures import FORWARD
from homie_skills.robot import FloatArray, NavigationFailed, NoGrasp, NoMotion
from homie_skills.standing_and_reaching import PLACES, stand_and_reach
from support.direct_robot import DirectRobot

OPEN_FLOOR: list[BasePose] = [(3.0, 2.0, 0.0), (3.4, 2.4, 1.0), (2.6, 1.4, 2.0)]


@dataclass(frozen=True)
class Wish:
    base: BasePose
    approach: FloatArray
    allowed: tuple[tuple[str, str], ...] = ()


class _Picky(DirectRobot):
    """Cannot drive to the first place."""

    def navigate_to(self, x: float, y: float, yaw: float) -> None:
        if (x, y, yaw) == OPEN_FLOOR[0]:
            raise NavigationFailed("a cat is in the way")
        super().navigate_to(x, y, yaw)


def make(robot: DirectRobot, scene: PlanningScene, arm: ArmKinematics) -> Manipulator:
    watch = Watch(lambda _phase, _share: None, lambda: False, 10**12)
    return Manipulator(robot, scene, arm, np.random.default_rng(0), watch)


def first(poses: Iterable[BasePose]) -> Wish:
    for pose in poses:
        return Wish(pose, FORWARD[None])
    raise NoGrasp("nowhere")


def places() -> Iterator[BasePose]:
    yield from OPEN_FLOOR


def test_drives_plans_again_and_reaches(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> None:
    manipulator = make(DirectRobot(world), scene, arm)
    plan = stand_and_reach(manipulator, places, first)
    assert plan.base == pytest.approx(scene.base, abs=2e-3)
    np.testing.assert_allclose(world.base_pose(), OPEN_FLOOR[0], atol=0.02)
    reached = [world.joint_positions()[name] for name in fetch.ARM_WITH_TORSO_JOINTS]
    np.testing.assert_allclose(np.cos(reached), np.cos(FORWARD), atol=0.02)


def test_next_place_is_tried_after_a_failure(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> None:
    stand_and_reach(make(_Picky(world), scene, arm), places, first)
    np.testing.assert_allclose(world.base_pose(), OPEN_FLOOR[1], atol=0.02)


def test_place_beside_one_without_a_way_is_tried(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> None:
    x, y, yaw = OPEN_FLOOR[0]
    beside = (x + 0.05, y, yaw)
    stand_and_reach(make(_Picky(world), scene, arm), lambda: iter([OPEN_FLOOR[0], beside, OPEN_FLOOR[1]]), first)
    np.testing.assert_allclose(world.base_pose(), beside, atol=0.02)


def test_last_failure_is_reported(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> None:
    manipulator = make(DirectRobot(world), scene, arm)
    tried: list[BasePose] = []

    def unreachable(poses: Iterable[BasePose]) -> Wish:
        wish = first(poses)
        tried.append(wish.base)
        in_the_floor = FORWARD.copy()
        in_the_floor[2] = 1.5
        in_the_floor[4] = 0.0
        return Wish(wish.base, in_the_floor[None])

    with pytest.raises(NoMotion):
        stand_and_reach(manipulator, places, unreachable)
    assert {OPEN_FLOOR[0], OPEN_FLOOR[1], OPEN_FLOOR[2]} <= set(tried)
    assert len(tried) <= 2 * PLACES


def test_no_plan_from_anywhere_moves_nothing(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> None:
    manipulator = make(DirectRobot(world), scene, arm)
    before = world.stamp
    with pytest.raises(NoGrasp, match="nowhere"):
        stand_and_reach(manipulator, lambda: iter(()), first)
    assert world.stamp == before
