"""What a command is: something that steers the robot for a while and then says how it went."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld


class Part(StrEnum):
    """The part of the robot that a command steers; a new command for a part replaces the running one."""

    ARM = "arm"
    HEAD = "head"
    GRIPPER = "gripper"
    BASE = "base"


class Code(IntEnum):
    """How a command ended. Numbers are those of control_msgs/FollowJointTrajectory and Nav2's actions."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5
    INVALID_PATH = 103
    FAILED_TO_MAKE_PROGRESS = 105
    NO_VALID_PATH = 208
    TIMEOUT = 207
    CANCELLED = -100
    """Cancelled or replaced; ROS says it by the goal's status."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a command: its code and, unless it succeeded, one line of explanation."""

    code: Code
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.code is Code.SUCCESSFUL


@dataclass(frozen=True, slots=True)
class GripperOutcome(Outcome):
    """Result of a gripper command. ``opening`` in metres, ``effort`` in newtons a finger."""

    opening: float = 0.0
    effort: float = 0.0
    stalled: bool = False
    reached_goal: bool = False


CANCELLED = Outcome(Code.CANCELLED, "cancelled")


class Command(Protocol):
    """Called by whoever ticks the world: ``start`` once, ``update`` before every tick until it returns an outcome."""

    part: Part

    def start(self, world: MujocoWorld) -> Outcome | None:
        """Look at the world and begin; an outcome here means that the command is refused or already done."""

    def update(self, world: MujocoWorld) -> Outcome | None:
        """Set the targets for the next tick, or say how it ended."""

    def stop(self, world: MujocoWorld) -> None:
        """Leave the part standing where it is: the command is cancelled."""


def run(world: MujocoWorld, *commands: Command) -> list[Outcome]:
    """Tick the world until every one of ``commands``, all started now, has ended. Their outcomes, in order."""
    outcomes: list[Outcome | None] = [command.start(world) for command in commands]
    while None in outcomes:
        for index, command in enumerate(commands):
            if outcomes[index] is None:
                outcomes[index] = command.update(world)
        if None in outcomes:
            world.tick()
    return [outcome for outcome in outcomes if outcome is not None]
