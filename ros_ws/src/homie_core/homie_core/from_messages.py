"""The dataclasses of homie_core from messages: from rclpy's classes, or from what a reader of bags makes of them.

Any object with the fields of the message will do, so nothing here needs ROS, and the live referee and the reader of
bags understand a message in the same way. The way back, which needs the messages' classes, is
``homie_ros.conversions``. Times are nanoseconds.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any, TypeVar

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.subtask import Subtask
from homie_core.world_state import Kind, ObjectState, WorldState

NANOSECONDS = 1_000_000_000

E = TypeVar("E", bound=StrEnum)


class MessageError(ValueError):
    """A message holds a value that is not part of the protocol. One line: the field, the value, what is allowed."""


def time_from_msg(message: Any) -> int:
    """A ROS time in nanoseconds."""
    return int(message.sec) * NANOSECONDS + int(message.nanosec)


def stamp_from_msg(message: Any) -> int:
    """Nanoseconds of a message with a header."""
    return time_from_msg(message.header.stamp)


def yaw_of_quaternion(rotation: Any) -> float:
    """The heading (-pi, pi] of a rotation about z; of any other rotation, that of its x axis in the plane."""
    x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def planar_pose_from_msg(message: Any) -> tuple[float, float, float]:
    """(x, y, yaw), metres and radians, of a Pose on the floor."""
    return float(message.position.x), float(message.position.y), yaw_of_quaternion(message.orientation)


def subtask_from_msg(message: Any) -> Subtask:
    """The subtask in a message."""
    return Subtask(message.action, message.target, message.destination, message.model)


def error_code_from_text(text: str) -> ErrorCode | None:
    """The code as messages carry it, or None for an empty text.

    Raises:
        MessageError: ``text`` is no error code.
    """
    return _word(ErrorCode, text, "error_code") if text else None


def step_from_msg(message: Any) -> Step:
    """What a StepRecord says. Fields that it did not always have may be missing.

    Raises:
        MessageError: the error code is unknown.
    """
    return Step(
        index=int(message.index),
        subtask=subtask_from_msg(message.subtask),
        success=bool(message.success),
        error_code=error_code_from_text(message.error_code),
        feedback=message.feedback,
        analysis=message.analysis,
        prompt=message.prompt,
        raw_output=message.raw_output,
        target_id=getattr(message, "target_id", ""),
        destination_id=getattr(message, "destination_id", ""),
        note=getattr(message, "note", ""),
        attempts=int(message.attempts),
        inventory_before=tuple(message.inventory_before),
        inventory_after=tuple(message.inventory_after),
        planner_wall_seconds=float(message.planner_wall_seconds),
        execution_wall_seconds=float(message.execution_wall_seconds),
        sim_seconds=float(message.sim_seconds),
        tokens_in=int(message.tokens_in),
        tokens_out=int(message.tokens_out),
        requests=int(message.requests),
        cost_usd=None if math.isnan(message.cost_usd) else float(message.cost_usd),
        stamp=stamp_from_msg(message),
    )


def episode_info_from_msg(message: Any) -> EpisodeInfo:
    """What an EpisodeInfo says."""
    return EpisodeInfo(
        episode_id=message.episode_id,
        benchmark=message.benchmark,
        task_id=message.task_id,
        instruction=message.instruction,
        scene=message.scene,
        seed=int(message.seed),
        trial=int(message.trial),
        planner=message.planner,
        setting=message.setting,
        max_steps=int(message.max_steps),
        task_json=message.task_json,
        configuration_json=message.configuration_json,
        versions=dict(zip(message.version_names, message.version_values, strict=False)),
        format_version=int(message.format_version),
    )


def episode_result_from_msg(message: Any) -> EpisodeResult:
    """What an EpisodeResult says.

    Raises:
        MessageError: the outcome is unknown.
    """
    return EpisodeResult(
        outcome=_word(Outcome, message.outcome, "outcome"),
        steps=int(message.steps),
        cause=message.cause,
        wall_seconds=float(message.wall_seconds),
        sim_seconds=float(message.sim_seconds),
    )


def object_state_from_msg(message: Any) -> ObjectState:
    """What an ObjectState says.

    Raises:
        MessageError: the kind is unknown.
    """
    rotation = message.pose.orientation
    return ObjectState(
        id=message.id,
        category=message.category,
        kind=_word(Kind, message.kind, f"kind of {message.id}"),
        position=_xyz(message.pose.position),
        quaternion=(float(rotation.x), float(rotation.y), float(rotation.z), float(rotation.w)),
        box_center=_xyz(message.box_center),
        box_size=_xyz(message.box_size),
        parent=message.parent,
        open_fraction=float(message.open_fraction),
        states=tuple(message.states),
    )


def world_state_from_msg(message: Any) -> WorldState:
    """What a WorldState says.

    Raises:
        MessageError: the kind of a thing is unknown.
    """
    return WorldState(
        scene=message.scene,
        stamp=stamp_from_msg(message),
        objects=tuple(object_state_from_msg(thing) for thing in message.objects),
        robot_pose=planar_pose_from_msg(message.robot_pose),
        held=message.held,
    )


def metrics_from_msg(message: Any) -> dict[str, float]:
    """The metrics of a Score by name, in their order."""
    return dict(zip(message.metric_names, map(float, message.metric_values), strict=False))


def _xyz(vector: Any) -> tuple[float, float, float]:
    return float(vector.x), float(vector.y), float(vector.z)


def _word(kind: type[E], text: str, field: str) -> E:
    try:
        return kind(text)
    except ValueError as error:
        raise MessageError(f"{field} is {text!r}; allowed: {', '.join(kind)}") from error
