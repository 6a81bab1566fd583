"""Open or close the gripper with limited force, as control_msgs/GripperCommand does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from homie_core import fetch
from homie_sim.commands.base import Code, GripperOutcome, Part

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld

REACHED = 0.002
"""Metres from the wanted opening that count as reached."""

_STALL_SPEED = 0.002
_STALL_SECONDS = 0.2
_TIMEOUT = 6.0


class GripperCommand:
    """``opening`` is the distance between the pads in metres; ``max_effort`` the force a finger, 0 for the strongest.

    Ends when the opening is reached, or when the fingers stall on something. They keep pushing afterwards, with this
    force and to this opening: fingers that lose what was between them close.
    """

    part = Part.GRIPPER

    def __init__(self, opening: float, max_effort: float = 0.0) -> None:
        self._goal = opening
        self._effort = max_effort if max_effort > 0 else fetch.MAX_GRIP_EFFORT
        self._target = 0.0
        self._begin = 0.0
        self._still_since = 0.0

    def start(self, world: MujocoWorld) -> GripperOutcome | None:
        """Set the force and tell the grasp whether the gripper closes."""
        if not -REACHED <= self._goal <= fetch.MAX_OPENING + REACHED:
            message = f"opening: {self._goal:.3f}; allowed 0 to {fetch.MAX_OPENING}"
            return self._outcome(world, Code.INVALID_GOAL, message)
        if self._effort > fetch.MAX_GRIP_EFFORT:
            message = f"max_effort: {self._effort:.1f}; allowed 0 to {fetch.MAX_GRIP_EFFORT}"
            return self._outcome(world, Code.INVALID_GOAL, message)
        world.set_grip_effort(self._effort)
        self._target = world.opening()
        self._begin = self._still_since = world.time
        world.grasp.set_closing(world.data, self._goal <= self._target)
        return None

    def update(self, world: MujocoWorld) -> GripperOutcome | None:
        """Move the target at the fingers' greatest speed, and watch for the goal or a stall."""
        speed = 2 * max(abs(world.joint_velocities()[joint]) for joint in fetch.GRIPPER_JOINTS)
        if speed > _STALL_SPEED:
            self._still_since = world.time
        if world.time - self._still_since >= _STALL_SECONDS:
            self._aim(world, self._goal)
            return self._outcome(world, Code.SUCCESSFUL)
        if world.time - self._begin > _TIMEOUT:
            self.stop(world)
            return self._outcome(world, Code.TIMEOUT, f"fingers still move after {_TIMEOUT:.0f} s")
        step = 2 * fetch.VELOCITY_LIMITS[fetch.GRIPPER_JOINTS[0]] * world.control_period
        self._target += float(np.clip(self._goal - self._target, -step, step))
        self._aim(world, self._target)
        return None

    def _aim(self, world: MujocoWorld, opening: float) -> None:
        for joint in fetch.GRIPPER_JOINTS:
            world.set_target(joint, float(np.clip(opening / 2, 0, fetch.FINGER_TRAVEL)))

    def stop(self, world: MujocoWorld) -> None:
        """Hold the fingers where they are."""
        for joint in fetch.GRIPPER_JOINTS:
            world.set_target(joint, world.opening() / 2)

    def _outcome(self, world: MujocoWorld, code: Code, message: str = "") -> GripperOutcome:
        opening = world.opening()
        reached = abs(opening - self._goal) <= REACHED
        efforts = world.joint_efforts()
        effort = max(abs(efforts[joint]) for joint in fetch.GRIPPER_JOINTS)
        stalled = code is Code.SUCCESSFUL and not reached
        return GripperOutcome(code, message, opening, effort, stalled, reached)
