"""Motions that stop by themselves: the moment is one of simulation time, the same in every run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from homie_core.skill import SkillTry
from homie_sim.commands import Code, FollowPathCommand, Guarded, JointTrajectoryCommand, NavigateCommand, run
from homie_sim.commands.guard import HARD, hardest_collision
from homie_sim.house import load_house
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld
from support.physical_subtasks import DisturbedWorld, knock_out

CAN = "potted_meat_can_1"


@pytest.fixture(scope="module")
def carried() -> DisturbedWorld:
    return DisturbedWorld(load_house("house_1"))


@pytest.fixture
def carrying(carried: DisturbedWorld) -> DisturbedWorld:
    """The can is in the hand; nothing disturbs it yet."""
    carried.disturb = None
    carried.reset(seed=0)
    assert NativeSkills(carried).execute(SkillTry("pick", CAN)).success
    return carried


def drive(world: DisturbedWorld) -> tuple[Code, str, float, float]:
    """Drive to the other room while the can is knocked out after a second: how it ends, when, and when it was lost."""
    begin = world.time
    lost: list[float] = []
    knock = knock_out(CAN)

    def disturb(world: MujocoWorld) -> None:
        if world.time - begin > 1.0:
            knock(world)
        if not world.held and not lost:
            lost.append(world.time)

    world.disturb = disturb
    (outcome,) = run(world, Guarded(NavigateCommand(2.0, 3.0, 0.0)))
    return outcome.code, outcome.message, world.time - begin, (lost or [world.time])[0] - begin


def test_a_drive_ends_where_the_object_is_lost(carrying: DisturbedWorld) -> None:
    code, message, ended, lost = drive(carrying)
    assert (code, message) == (Code.FAILED_TO_MAKE_PROGRESS, f"{CAN} has left the hand")
    assert lost > 1.0
    assert ended - lost <= 0.1


def test_the_same_run_ends_at_the_same_moment(carrying: DisturbedWorld) -> None:
    first = drive(carrying)
    carrying.disturb = None
    carrying.reset(seed=0)
    assert NativeSkills(carrying).execute(SkillTry("pick", CAN)).success
    assert drive(carrying) == first


def test_an_arm_that_is_pressed_against_a_wall_stops(world: MujocoWorld) -> None:
    """The forearm swings into the fridge's case, long before the servo is off its path."""
    x, y, _ = world.world_state()["fridge"].box_center
    world.set_joint_positions({"base_x": x + 0.1, "base_y": y - 0.95, "base_yaw": 0.0})
    out = [0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    joints = ("torso_lift_joint", "shoulder_pan_joint", "shoulder_lift_joint", "upperarm_roll_joint",
              "elbow_flex_joint", "forearm_roll_joint", "wrist_flex_joint", "wrist_roll_joint")  # fmt: skip
    world.set_joint_positions(dict(zip(joints, out, strict=True)))
    swing = [[*out[:1], 1.5, *out[2:]]]
    (outcome,) = run(world, Guarded(JointTrajectoryCommand(joints, swing, [3.0])))
    assert outcome.code is Code.PATH_TOLERANCE_VIOLATED
    assert "runs into fridge" in outcome.message


def test_a_base_that_runs_into_furniture_stops(world: MujocoWorld) -> None:
    box = world.world_state()["fridge"]
    world.set_joint_positions({"base_x": box.box_center[0], "base_y": box.box_center[1] - 1.0, "base_yaw": math.pi / 2})
    path = np.column_stack([np.full(30, box.box_center[0]), box.box_center[1] - 1.0 + 0.02 * np.arange(30)])
    poses = np.column_stack([path, np.full(30, math.pi / 2)])
    (outcome,) = run(world, Guarded(FollowPathCommand(poses)))
    assert outcome.code is Code.FAILED_TO_MAKE_PROGRESS
    found = hardest_collision(world)
    assert found is not None and found.other == "fridge"


def test_free_motion_is_let_alone(world: MujocoWorld) -> None:
    (outcome,) = run(world, Guarded(NavigateCommand(2.0, 3.0, 0.0)))
    assert outcome.ok
    found = hardest_collision(world)
    assert found is None or found.force < HARD
