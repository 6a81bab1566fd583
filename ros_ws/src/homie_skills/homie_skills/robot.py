"""What a skill asks of a robot: a Fetch with a differential base, torso, arm, head and gripper. No ROS here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from homie_core.fetch import GRIPPER_JOINTS
from homie_core.skill import SkillErrorCode
from homie_core.world_state import WorldState

FloatArray = NDArray[np.float64]


class SkillError(Exception):
    """A skill cannot go on. The class attribute ``code`` says why; the text says what was measured."""

    code: ClassVar[SkillErrorCode] = SkillErrorCode.ROBOT_FAILURE


class UnknownSkill(SkillError):
    """No skill has this name, or it was called with the wrong arguments."""

    code = SkillErrorCode.UNKNOWN_SKILL


class UnknownTarget(SkillError):
    """The id names nothing in the world, or nothing that this skill works on."""

    code = SkillErrorCode.UNKNOWN_TARGET


class NoPath(SkillError):
    """The base cannot get there."""

    code = SkillErrorCode.NO_PATH


class NoGrasp(SkillError):
    """There is no grasp, place or pull pose within reach and free of collision."""

    code = SkillErrorCode.NO_GRASP


class NoMotion(SkillError):
    """No collision-free arm motion was found."""

    code = SkillErrorCode.NO_MOTION


class GraspFailed(SkillError):
    """The fingers closed on nothing."""

    code = SkillErrorCode.GRASP_FAILED


class ObjectLost(SkillError):
    """The object left the hand, or did not end where it was put."""

    code = SkillErrorCode.OBJECT_LOST


class Stalled(SkillError):
    """A door or drawer, the arm or the base did not move as far as it should."""

    code = SkillErrorCode.STALLED


class SkillTimeout(SkillError):
    """The skill's simulation time is used up."""

    code = SkillErrorCode.TIMEOUT


class SkillCancelled(SkillError):
    """The caller cancelled the skill."""


class RobotError(SkillError):
    """A command to the robot failed: it was refused, or nothing answered before the deadline."""


class CommandRejected(RobotError):
    """The robot refused the command, or gave it up with an error of its own."""


class CommandTimeout(RobotError):
    """No answer before the deadline: the robot or its bridge is gone."""


class CommandCancelled(RobotError, SkillCancelled):
    """The command was cancelled while it ran."""


class ToleranceViolated(RobotError, Stalled):
    """An arm trajectory ended, or was stopped, away from where it should have been."""

    code = SkillErrorCode.STALLED


class NavigationFailed(RobotError, NoPath):
    """The base found no path, was blocked, or left its path."""

    code = SkillErrorCode.NO_PATH


class BaseBlocked(NavigationFailed, Stalled):
    """Something stopped the base on its way."""

    code = SkillErrorCode.STALLED


@dataclass(frozen=True, slots=True)
class GripperOutcome:
    """How a gripper motion ended. ``opening`` is the distance between the finger pads in metres."""

    opening: float
    stalled: bool
    """Whether something between the fingers, or the end of the effort, stopped them before the wanted opening."""


SHUT = 0.012
"""Metres between the pads below which nothing is between them: the thinnest things are held at 0.02."""


def fingers_shut(joints: Mapping[str, float]) -> bool:
    """Whether the gripper's joints, by Fetch's own names, say that the hand is empty. Open fingers tell nothing."""
    return sum(joints[name] for name in GRIPPER_JOINTS) < SHUT


class Robot(Protocol):
    """Blocking commands and readings of one Fetch; joint names are Fetch's own.

    One command at a time. Every command raises a :class:`RobotError`; readings are those after the last command.
    """

    def joint_positions(self) -> dict[str, float]:
        """Position of every joint by name, metres or radians; fingers: metres from closed."""
        ...

    def base_pose(self) -> tuple[float, float, float]:
        """(x, y, yaw) of the base in the map frame, metres and radians."""
        ...

    def world_state(self) -> WorldState:
        """Privileged state of the world now."""
        ...

    def follow_joint_trajectory(self, joints: Sequence[str], positions: FloatArray, times: FloatArray) -> None:
        """Move torso and arm.

        Args:
            joints: names of the columns of ``positions``.
            positions: (n, j) waypoints, metres and radians.
            times: (n,) seconds from the start, increasing, the first one > 0 or the current position.

        Raises:
            CommandRejected: names, shapes, limits or speeds are wrong.
            ToleranceViolated: the arm could not follow, or did not arrive.
        """
        ...

    def point_head(self, pan: float, tilt: float) -> None:
        """Turn the head; radians, tilt positive looks down."""
        ...

    def gripper(self, opening: float, max_effort: float) -> GripperOutcome:
        """Move the fingers to ``opening`` (0 to 0.10 m between the pads) with at most ``max_effort`` newtons.

        A stall against an object is an outcome, not an error.
        """
        ...

    def navigate_to(self, x: float, y: float, yaw: float) -> None:
        """Plan a base path and drive it; map frame.

        Raises:
            NavigationFailed: no path, or blocked on the way.
        """
        ...

    def follow_path(self, poses: FloatArray) -> None:
        """Drive through ``poses`` (n, 3), map frame x, y, yaw; backwards where the step runs against the yaw.

        Raises:
            NavigationFailed: blocked, or off the path.
        """
        ...
