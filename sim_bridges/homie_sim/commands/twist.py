"""Drive with given speeds for a moment, as cmd_vel asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from homie_sim.commands.base import Code, Outcome, Part
from homie_sim.commands.drive import ACCELERATION, BLOCKED_ANGLE, BLOCKED_DISTANCE, TURN_ACCELERATION, Wheels, halt

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld

DURATION = 0.1
"""Seconds of simulation that one message moves the robot."""


class TwistCommand:
    """``speed`` in m/s forwards, ``turn`` in rad/s counter-clockwise; beyond the robot's limits they are cut."""

    part = Part.BASE

    def __init__(self, speed: float, turn: float, duration: float = DURATION) -> None:
        self._wanted = (speed, turn)
        self._duration = duration
        self._now = (0.0, 0.0)
        self._end = 0.0
        self._wheels: Wheels | None = None

    def start(self, world: MujocoWorld) -> Outcome | None:
        """Go on from the present speeds."""
        if not np.all(np.isfinite(self._wanted)):
            return Outcome(Code.INVALID_GOAL, f"twist: {self._wanted}; must be finite")
        self._now = world.base_velocity()
        self._end = world.time + self._duration
        self._wheels = Wheels.at_rest(world)
        return None

    def update(self, world: MujocoWorld) -> Outcome | None:
        """One tick; the base stands still once the time is over, unless the next message comes."""
        if self._wheels is None or world.time >= self._end - 1e-9:
            halt(world)
            return Outcome(Code.SUCCESSFUL)
        distance, angle = self._wheels.lag(world)
        if distance > BLOCKED_DISTANCE or angle > BLOCKED_ANGLE:
            halt(world)
            return Outcome(Code.FAILED_TO_MAKE_PROGRESS, "the base is blocked")
        self._now = (
            _approach(self._now[0], self._wanted[0], ACCELERATION * world.control_period),
            _approach(self._now[1], self._wanted[1], TURN_ACCELERATION * world.control_period),
        )
        self._wheels.drive(world, *self._now)
        return None

    def stop(self, world: MujocoWorld) -> None:
        """Stand still."""
        halt(world)


def _approach(value: float, wanted: float, step: float) -> float:
    return value + float(np.clip(wanted - value, -step, step))
