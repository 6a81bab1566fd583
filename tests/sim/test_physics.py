"""Numbers that run away are an error that names them, never a world that is quietly put back to its beginning."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from homie_core import fetch
from homie_sim.commands import Outcome, Part
from homie_sim.house import House
from homie_sim.lockstep import LockstepLoop, LoopError
from homie_sim.physics import PhysicsError
from homie_sim.world import MujocoWorld

ELBOW = fetch.mjcf_name("elbow_flex_joint")
DEADLINE = 20.0


def break_position(world: MujocoWorld) -> None:
    world.data.joint(ELBOW).qpos[0] = math.inf


def break_velocity(world: MujocoWorld) -> None:
    world.data.joint(ELBOW).qvel[0] = math.nan


def break_acceleration(world: MujocoWorld) -> None:
    world.data.joint(ELBOW).qfrc_applied[0] = 1e18


def break_control(world: MujocoWorld) -> None:
    world.set_target("elbow_flex_joint", math.nan)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (break_position, f"BADQPOS, the position of {ELBOW} is"),
        (break_velocity, "BADQVEL, the velocity of fetch/elbow_flex_link is"),
        (break_acceleration, "BADQACC, the acceleration of fetch/"),
        (break_control, "BADCTRL, the control of fetch/elbow_flex"),
    ],
)
def test_a_world_that_breaks_down_says_what_did(
    world: MujocoWorld, damage: Callable[[MujocoWorld], None], text: str
) -> None:
    world.tick()
    damage(world)
    with pytest.raises(PhysicsError) as raised:
        world.tick()
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_reset_mends_it_and_nothing_of_it_is_left(world: MujocoWorld) -> None:
    world.tick(10)
    untouched = world.data.qpos.copy()
    break_velocity(world)
    for _ in range(2):
        with pytest.raises(PhysicsError):
            world.tick()
    world.reset(seed=1)
    world.tick(10)
    assert (world.data.qpos == untouched).all()


def test_mujoco_leaves_no_file(world: MujocoWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    break_position(world)
    with pytest.raises(PhysicsError):
        world.tick()
    assert list(tmp_path.iterdir()) == []


class Breaking:
    """A command that breaks the arm's numbers once it runs."""

    part = Part.ARM

    def start(self, world: MujocoWorld) -> Outcome | None:
        return None

    def update(self, world: MujocoWorld) -> Outcome | None:
        break_velocity(world)
        return None

    def stop(self, world: MujocoWorld) -> None:
        pass


def test_it_ends_the_simulation_thread_with_its_cause(house: House) -> None:
    with LockstepLoop(MujocoWorld(house)) as loop:
        with pytest.raises(LoopError, match="the simulation broke down: BADQVEL") as raised:
            loop.submit(Breaking()).wait(DEADLINE)
        assert isinstance(raised.value.__cause__, PhysicsError)
