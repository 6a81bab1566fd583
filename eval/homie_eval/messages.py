"""homie_core's dataclasses from homie_msgs as a bag reader gives them: any object with the fields of the message."""

from __future__ import annotations

import math
from typing import Any

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.subtask import Subtask
from homie_core.world_state import Kind, ObjectState, WorldState


class MessageError(ValueError):
    """A message holds a value that is not part of the protocol."""


def stamp(message: Any) -> int:
    """Nanoseconds of a message with a header."""
    time = message.header.stamp
    return int(time.sec) * 1_000_000_000 + int(time.nanosec)


def episode_info(message: Any) -> EpisodeInfo:
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


def step(message: Any) -> Step:
    """What a StepRecord says.

    Raises:
        MessageError: the error code is unknown.
    """
    return Step(
        index=int(message.index),
        subtask=Subtask(
            message.subtask.action, message.subtask.target, message.subtask.destination, message.subtask.model
        ),
        success=bool(message.success),
        error_code=_error_code(message.error_code),
        feedback=message.feedback,
        analysis=message.analysis,
        prompt=message.prompt,
        raw_output=message.raw_output,
        attempts=int(message.attempts),
        inventory_before=tuple(message.inventory_before),
        inventory_after=tuple(message.inventory_after),
        planner_wall_seconds=float(message.planner_wall_seconds),
        execution_wall_seconds=float(message.execution_wall_seconds),
        sim_seconds=float(message.sim_seconds),
        tokens_in=int(message.tokens_in),
        tokens_out=int(message.tokens_out),
        stamp=stamp(message),
    )


def episode_result(message: Any) -> EpisodeResult:
    """What an EpisodeResult says.

    Raises:
        MessageError: the outcome is unknown.
    """
    try:
        outcome = Outcome(message.outcome)
    except ValueError as error:
        raise MessageError(f"outcome {message.outcome!r} is none of {', '.join(Outcome)}") from error
    return EpisodeResult(
        outcome=outcome,
        steps=int(message.steps),
        cause=message.cause,
        wall_seconds=float(message.wall_seconds),
        sim_seconds=float(message.sim_seconds),
    )


def world_state(message: Any) -> WorldState:
    """What a WorldState says.

    Raises:
        MessageError: the kind of a thing is unknown.
    """
    pose = message.robot_pose
    return WorldState(
        scene=message.scene,
        stamp=stamp(message),
        objects=tuple(_object_state(each) for each in message.objects),
        robot_pose=(float(pose.position.x), float(pose.position.y), _yaw(pose.orientation)),
        held=message.held,
    )


def _object_state(message: Any) -> ObjectState:
    try:
        kind = Kind(message.kind)
    except ValueError as error:
        raise MessageError(f"{message.id}: kind {message.kind!r} is none of {', '.join(Kind)}") from error
    position, rotation = message.pose.position, message.pose.orientation
    return ObjectState(
        id=message.id,
        category=message.category,
        kind=kind,
        position=(float(position.x), float(position.y), float(position.z)),
        quaternion=(float(rotation.x), float(rotation.y), float(rotation.z), float(rotation.w)),
        box_center=(float(message.box_center.x), float(message.box_center.y), float(message.box_center.z)),
        box_size=(float(message.box_size.x), float(message.box_size.y), float(message.box_size.z)),
        parent=message.parent,
        open_fraction=float(message.open_fraction),
        states=tuple(message.states),
    )


def _error_code(text: str) -> ErrorCode | None:
    if not text:
        return None
    try:
        return ErrorCode(text)
    except ValueError as error:
        raise MessageError(f"error code {text!r} is none of {', '.join(ErrorCode)}") from error


def _yaw(rotation: Any) -> float:
    x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
