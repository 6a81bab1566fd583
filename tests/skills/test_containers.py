from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from homie_sim.world import MujocoWorld
from homie_skills.containers import DOOR_OPEN, hinge_side, plan_course
from homie_skills.geometry import planar_pose
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.manipulator import Manipulator, Watch
from homie_skills.planning_scene import PlanningScene
from homie_skills.robot import NoGrasp
from support.direct_robot import DirectRobot

BEFORE_THE_DOOR = (1.65, 2.85, 2.57)


@pytest.fixture
def manipulator(world: MujocoWorld, scene: PlanningScene, arm: ArmKinematics) -> Manipulator:
    watch = Watch(lambda _phase, _share: None, lambda: False, 10**12)
    return Manipulator(DirectRobot(world), scene, arm, np.random.default_rng(0), watch)


def test_hand_stays_on_the_bar_all_the_way(manipulator: Manipulator, scene: PlanningScene) -> None:
    plan = plan_course(manipulator, "fridge", DOOR_OPEN, [BEFORE_THE_DOOR])
    assert plan.base == BEFORE_THE_DOOR
    assert plan.reached == pytest.approx(DOOR_OPEN)
    angles = np.linspace(0, DOOR_OPEN, len(plan.course))
    for angle, joints in zip(angles, plan.course, strict=True):
        scene.place_container("fridge", float(angle))
        hand = planar_pose(*BEFORE_THE_DOOR) @ manipulator.arm.hand_pose(joints)
        in_bar = np.linalg.inv(scene.handle("fridge").pose) @ hand[:, 3]
        np.testing.assert_allclose(in_bar[:2], 0, atol=3e-3)
        assert abs(in_bar[2]) < 0.2
        assert abs(hand[2, 2]) > 0.99
    np.testing.assert_allclose(plan.approach[-1], plan.course[0])


def test_planning_leaves_the_scene_as_it_was(manipulator: Manipulator, scene: PlanningScene) -> None:
    before = scene.data.qpos.copy()
    plan_course(manipulator, "fridge", DOOR_OPEN, [BEFORE_THE_DOOR])
    np.testing.assert_array_equal(scene.data.qpos, before)


def test_handle_out_of_reach(manipulator: Manipulator) -> None:
    with pytest.raises(NoGrasp, match="fridge"):
        plan_course(manipulator, "fridge", DOOR_OPEN, [(8.0, 2.0, 0.0)])


def test_side_of_the_hinge(scene: PlanningScene) -> None:
    handle = scene.handle("fridge")
    side = hinge_side(handle)
    mirrored = replace(handle, anchor=2 * handle.pose[:3, 3] - handle.anchor)
    assert hinge_side(mirrored) == -side
    # The person in front has the hinge to the left; seen from the fridge it is to the right.
    assert side == -1.0
    assert hinge_side(scene.handle("kitchen_counter/drawer_1")) == 1.0


def test_door_opens_less_far_than_its_stop() -> None:
    assert math.radians(75) < DOOR_OPEN < math.radians(90)
