"""The skills, physically: every outcome here is judged by the state of the simulated world."""

from __future__ import annotations

import math

import numpy as np
import pytest

from homie_core import fetch
from homie_core.skill import SkillErrorCode, SkillOutcome
from homie_sim.house import load_house
from homie_sim.world import MujocoWorld
from homie_skills.m3 import M3, SKILLS
from homie_skills.postures import CARRYING, FORWARD, STOWED
from homie_skills.robot import CommandTimeout, GripperOutcome
from support.direct_robot import DirectRobot

CAN = "potted_meat_can_1"
DRAWER = "kitchen_counter/drawer_2"


def done(outcome: SkillOutcome) -> bool:
    assert outcome.error_msg == ""
    assert outcome.error_code is SkillErrorCode.NONE
    return outcome.success


def folded(world: MujocoWorld) -> bool:
    joints = np.array([world.joint_positions()[name] for name in fetch.ARM_WITH_TORSO_JOINTS])
    return any(np.allclose(np.cos(joints[1:]), np.cos(posture[1:]), atol=0.05) for posture in (STOWED, *CARRYING))


def distance(world: MujocoWorld, id: str) -> float:
    thing, (x, y, _yaw) = world.world_state()[id], world.base_pose()
    offset = np.abs(np.array([x, y]) - thing.box_center[:2]) - np.array(thing.box_size[:2]) / 2
    return float(np.linalg.norm(np.maximum(offset, 0)))


@pytest.mark.parametrize("target", ["fridge", "sofa", "brown_table", DRAWER, CAN, "orange_1"])
def test_go_to_brings_it_near_but_not_too_near(m3: M3, world: MujocoWorld, target: str) -> None:
    assert done(m3.execute("go_to", target))
    assert 0.28 + 0.1 < distance(world, target) < 1.5
    assert folded(world)


def test_go_to_room(m3: M3, world: MujocoWorld) -> None:
    assert done(m3.execute("go_to", "living_room"))
    assert distance(world, "living_room") == 0.0


def test_can_goes_from_the_table_into_the_fridge(m3: M3, world: MujocoWorld) -> None:
    assert done(m3.execute("open", "fridge"))
    assert world.world_state()["fridge"].open_fraction >= math.radians(75) / 1.57
    assert done(m3.execute("go_to", CAN))
    assert done(m3.execute("pick", CAN))
    assert world.held == CAN and folded(world)
    assert done(m3.execute("go_to", "fridge"))
    assert world.held == CAN
    assert done(m3.execute("put", CAN, "fridge"))
    assert world.held == "" and world.world_state()[CAN].parent == "fridge"
    assert done(m3.execute("close", "fridge"))
    assert world.world_state()["fridge"].open_fraction < 0.05
    assert world.world_state()[CAN].parent == "fridge"


def test_things_may_be_named(m3: M3, world: MujocoWorld) -> None:
    assert done(m3.execute("go_to", "potted_meat_can"))
    assert distance(world, CAN) < 1.5
    assert done(m3.execute("pick", "potted_meat_can"))
    assert world.held == CAN


def test_can_goes_into_a_drawer_and_out_again(m3: M3, world: MujocoWorld) -> None:
    assert done(m3.execute("open", DRAWER))
    assert world.world_state()[DRAWER].open_fraction > 0.75
    assert done(m3.execute("pick", CAN))
    assert done(m3.execute("put", CAN, DRAWER))
    assert done(m3.execute("close", DRAWER))
    assert world.world_state()[DRAWER].open_fraction < 0.05
    assert world.world_state()[CAN].parent == DRAWER
    assert done(m3.execute("open", DRAWER))
    assert done(m3.execute("pick", CAN))
    assert world.held == CAN


@pytest.mark.parametrize("place", ["kitchen_counter", "sofa", "tv_stand", "sink"])
def test_apple_is_put_on(m3: M3, world: MujocoWorld, place: str) -> None:
    assert done(m3.execute("pick", "apple_1"))
    assert done(m3.execute("go_to", place))
    assert done(m3.execute("put", "apple_1", place))
    assert world.world_state()["apple_1"].parent == place


@pytest.mark.parametrize("target", [CAN, "lemon_1", "mug_1"])
def test_it_is_lowered_into_the_sink_before_it_is_let_go(m3: M3, world: MujocoWorld, target: str) -> None:
    """Into the basin, which is 17 cm deep: it falls by 5 cm at most."""
    assert done(m3.execute("pick", target))
    assert done(m3.execute("go_to", "sink"))
    lowest: list[float] = []

    def watch(phase: str, _progress: float) -> None:
        if phase == "release":
            thing = world.world_state()[target]
            lowest.append(thing.box_center[2] - thing.box_size[2] / 2)

    assert done(m3.execute("put", target, "sink", progress=watch))
    world.tick(100)
    state = world.world_state()
    basin = next(region for region in world.readout.regions if region.owner == "sink")
    floor = float(world.data.site_xpos[basin.site][2]) - basin.half[2]
    assert state[target].parent == "sink"
    assert lowest[0] - floor < 0.05
    assert state[target].box_center[2] - state[target].box_size[2] / 2 == pytest.approx(floor, abs=0.01)


def test_reset_arm_from_a_stretched_arm(m3: M3, world: MujocoWorld) -> None:
    world.set_joint_positions(dict(zip(fetch.ARM_WITH_TORSO_JOINTS, FORWARD, strict=True)))
    assert done(m3.execute("reset_arm"))
    assert folded(world)


def test_same_seed_gives_the_same_trajectory(mjcf: str) -> None:
    ends = []
    for _ in range(2):
        world = MujocoWorld(load_house("house_1"))
        world.reset(seed=3)
        m3 = M3(DirectRobot(world), mjcf, fetch.mesh_assets(), np.random.default_rng(3))
        assert done(m3.execute("pick", CAN))
        ends.append((world.stamp, world.data.qpos.tolist()))
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("fly", CAN), SkillErrorCode.UNKNOWN_SKILL),
        (("go_to", "unicorn"), SkillErrorCode.UNKNOWN_TARGET),
        (("pick", "fridge"), SkillErrorCode.UNKNOWN_TARGET),
        (("open", "sofa"), SkillErrorCode.UNKNOWN_TARGET),
        (("put", CAN, "brown_table"), SkillErrorCode.OBJECT_LOST),
        (("put", CAN, "kitchen"), SkillErrorCode.UNKNOWN_TARGET),
        (("pick", "tuna_fish_can_1"), SkillErrorCode.NO_GRASP),
    ],
)
def test_impossible_calls_fail_at_once(m3: M3, world: MujocoWorld, call: tuple[str, ...], code: SkillErrorCode) -> None:
    before = world.stamp
    skill, target, receptacle = (*call, "")[:3]
    outcome = m3.execute(skill, target, receptacle)
    assert not outcome.success
    assert outcome.error_code is code
    assert outcome.error_msg
    assert world.stamp == before


def test_full_hand_opens_and_picks_nothing(m3: M3, world: MujocoWorld) -> None:
    assert done(m3.execute("pick", CAN))
    assert m3.execute("open", "fridge").error_code is SkillErrorCode.NO_GRASP
    assert m3.execute("pick", "mug_1").error_code is SkillErrorCode.NO_GRASP
    assert m3.execute("put", CAN, "fridge").error_code is SkillErrorCode.NO_GRASP
    assert world.held == CAN
    assert done(m3.execute("go_to", CAN))


class _Clumsy(DirectRobot):
    """The fingers close on nothing: whatever was there was pushed away a moment before."""

    def gripper(self, opening: float, max_effort: float) -> GripperOutcome:
        if opening == 0.0:
            joint = self.world.model.joint(CAN)
            self.world.data.qpos[joint.qposadr[0] + 1] += 0.3
        return super().gripper(opening, max_effort)


def test_empty_grasp_is_reported_and_the_next_try_can_begin(world: MujocoWorld, mjcf: str) -> None:
    m3 = M3(_Clumsy(world), mjcf, fetch.mesh_assets(), np.random.default_rng(0))
    assert m3.execute("pick", CAN).error_code is SkillErrorCode.GRASP_FAILED
    assert world.held == ""
    again = M3(DirectRobot(world), mjcf, fetch.mesh_assets(), np.random.default_rng(0))
    assert done(again.execute("reset_arm"))
    assert done(again.execute("pick", CAN))


class _Dead(DirectRobot):
    def navigate_to(self, x: float, y: float, yaw: float) -> None:
        raise CommandTimeout(f"navigate_to_pose did not answer within 5 s for ({x:.1f}, {y:.1f}, {yaw:.1f})")


def test_dead_robot_is_an_outcome(world: MujocoWorld, mjcf: str) -> None:
    m3 = M3(_Dead(world), mjcf, fetch.mesh_assets(), np.random.default_rng(0))
    outcome = m3.execute("go_to", "sofa")
    assert outcome.error_code is SkillErrorCode.ROBOT_FAILURE
    assert "did not answer" in outcome.error_msg


def test_timeout_and_cancel_stop_a_skill(m3: M3) -> None:
    assert m3.execute("go_to", "sofa", timeout=1.0).error_code is SkillErrorCode.TIMEOUT
    outcome = m3.execute("pick", CAN, cancelled=lambda: True)
    assert not outcome.success and "cancel" in outcome.error_msg


def test_progress_rises_to_one(m3: M3) -> None:
    seen: list[tuple[str, float]] = []
    assert done(m3.execute("pick", CAN, progress=lambda phase, share: seen.append((phase, share))))
    assert [phase for phase, _ in seen][-1] == "done"
    assert {"plan", "drive", "reach", "grasp", "lift", "fold"} <= {phase for phase, _ in seen}
    assert seen[-1][1] == 1.0


def test_every_skill_of_the_action_is_there() -> None:
    assert set(SKILLS) == {"go_to", "pick", "put", "open", "close", "reset_arm"}
