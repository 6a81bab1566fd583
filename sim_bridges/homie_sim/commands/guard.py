"""Stop a motion within a tenth of a second when what the hand carries is lost, or the robot runs hard into something.

The decision is made between two control ticks, from the physics: it does not depend on when a message arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.commands.base import Code, Command, Outcome, Part

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld

HARD = 150.0
"""Newtons between the robot and anything else that no motion should bring about; setting things down takes up to 60."""

HARD_SECONDS = 0.05
"""How long they must last: what is knocked in passing lasts less."""

_HAND = (fetch.GRIPPER_BODY, *(fetch.mjcf_name(j.removesuffix("_joint") + "_link") for j in fetch.GRIPPER_JOINTS))


@dataclass(frozen=True, slots=True)
class Collision:
    """The hardest contact of the robot's links, or of what it holds, with anything else. ``force`` in newtons."""

    link: str
    other: str
    force: float


class Guarded:
    """A command that ends when one of these things happens, too: with the code that says so of its part."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self.part = command.part
        self._held = ""
        self._hard_since = 0.0

    def start(self, world: MujocoWorld) -> Outcome | None:
        """Begin, and remember what is in the hand."""
        self._held, self._hard_since = world.held, world.time
        return self._command.start(world)

    def update(self, world: MujocoWorld) -> Outcome | None:
        """Look at the last tick, then go on."""
        reason = self._lost(world) or self._collided(world)
        if not reason:
            return self._command.update(world)
        self._command.stop(world)
        moves_base = self.part is Part.BASE
        return Outcome(Code.FAILED_TO_MAKE_PROGRESS if moves_base else Code.PATH_TOLERANCE_VIOLATED, reason)

    def stop(self, world: MujocoWorld) -> None:
        """As the command itself does."""
        self._command.stop(world)

    def _lost(self, world: MujocoWorld) -> str:
        return "" if world.held == self._held or not self._held else f"{self._held} has left the hand"

    def _collided(self, world: MujocoWorld) -> str:
        found = hardest_collision(world)
        if found is None or found.force < HARD:
            self._hard_since = world.time
            return ""
        if world.time - self._hard_since < HARD_SECONDS:
            return ""
        return f"{found.link} runs into {found.other} with {found.force:.0f} N"


def hardest_collision(world: MujocoWorld) -> Collision | None:
    """Of the last step; None where nothing is touched. What the hand's own parts touch is what they are there for."""
    model, data = world.model, world.data
    count = data.ncon
    if not count:
        return None
    bodies = model.geom_bodyid[data.contact.geom[:count]]
    ours = _ours(world)[bodies]
    address = data.contact.efc_address[:count]
    chosen = np.flatnonzero((ours[:, 0] != ours[:, 1]) & ~_hand(model)[bodies].any(axis=1) & (address >= 0))
    if not len(chosen):
        return None
    # The first row of a contact's constraints is its normal force.
    forces = data.efc_force[address[chosen]]
    hardest = int(chosen[forces.argmax()])
    one, other = bodies[hardest] if ours[hardest, 0] else bodies[hardest][::-1]
    return Collision(model.body(int(one)).name, model.body(int(other)).name, float(forces.max()))


def _ours(world: MujocoWorld) -> NDArray[np.bool_]:
    """Which bodies (nbody,) are the robot's, or in its hand."""
    model = world.model
    ours = model.body_treeid == model.body_treeid[model.body(fetch.BASE_BODY).id]
    if world.held:
        ours[model.body(world.held).id] = True
    return np.asarray(ours)


def _hand(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Which bodies (nbody,) are the gripper's."""
    return np.isin(np.arange(model.nbody), [model.body(name).id for name in _HAND])
