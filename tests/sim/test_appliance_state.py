"""An appliance runs until its door opens; state and lamps tell."""

from __future__ import annotations

import pytest

from homie_core.skill import SkillTry
from homie_sim.furniture.parts import DECORATION_GROUP
from homie_sim.house import load_house
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld


@pytest.fixture(scope="module")
def kitchen() -> MujocoWorld:
    return MujocoWorld(load_house("house_2"))


def lamp_is_lit(world: MujocoWorld) -> bool:
    lit, dark = (world.model.geom(f"microwave/{word}/light").group[0] for word in ("lit_on", "lit_off"))
    assert (lit == DECORATION_GROUP) != (dark == DECORATION_GROUP)
    return bool(lit == DECORATION_GROUP)


def test_it_stops_for_good_when_its_door_opens(kitchen: MujocoWorld) -> None:
    kitchen.reset(0)
    assert kitchen.world_state()["microwave"].states == ("on",)
    assert lamp_is_lit(kitchen)
    kitchen.tick(20)
    assert kitchen.world_state()["microwave"].states == ("on",)
    joint = kitchen.data.joint("microwave/joint")
    joint.qpos[0] = 0.5
    kitchen.tick()
    assert kitchen.world_state()["microwave"].states == ()
    assert not lamp_is_lit(kitchen)
    joint.qpos[0] = 0.0
    joint.qvel[0] = 0.0
    kitchen.tick()
    assert kitchen.world_state()["microwave"].states == ()


def test_a_reset_switches_it_on_again(kitchen: MujocoWorld) -> None:
    kitchen.data.joint("microwave/joint").qpos[0] = 0.5
    kitchen.tick()
    kitchen.reset(0)
    assert kitchen.world_state()["microwave"].states == ("on",) and lamp_is_lit(kitchen)


def test_only_appliances_run(kitchen: MujocoWorld) -> None:
    kitchen.reset(0)
    assert [thing.id for thing in kitchen.world_state().objects if thing.states] == ["microwave"]


def test_a_moment_that_comes_back_brings_its_appliances(kitchen: MujocoWorld) -> None:
    kitchen.reset(0)
    running = kitchen.snapshot()
    kitchen.data.joint("microwave/joint").qpos[0] = 0.5
    kitchen.tick()
    assert list(kitchen.appliances.running) == []
    kitchen.restore(running)
    assert list(kitchen.appliances.running) == ["microwave"] and lamp_is_lit(kitchen)


def test_a_native_skill_that_opens_it_stops_it(kitchen: MujocoWorld) -> None:
    kitchen.reset(0)
    skills = NativeSkills(kitchen)
    for skill in ("go_to", "open", "close"):
        outcome = skills.execute(SkillTry(skill, "microwave"))
        assert outcome.success, f"{skill}: {outcome.error_msg}"
    assert kitchen.world_state()["microwave"].states == ()
    assert not kitchen.world_state()["microwave"].is_open
