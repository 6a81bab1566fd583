"""homie_core's dataclasses to and from homie_msgs. Times are nanoseconds on the Python side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from homie_msgs import msg as messages
from std_msgs.msg import Header

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode, Fault, Phase
from homie_core.subtask import Subtask
from homie_core.world_state import Kind, ObjectState, WorldState

MAP_FRAME = "map"
NANOSECONDS = 1_000_000_000

E = TypeVar("E", bound=StrEnum)


class ConversionError(ValueError):
    """A message holds a value that is not part of the protocol."""


def time_to_msg(nanoseconds: int) -> Time:
    """Nanoseconds as a ROS time."""
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    return Time(sec=seconds, nanosec=rest)


def time_from_msg(message: Time) -> int:
    """A ROS time in nanoseconds."""
    return int(message.sec) * NANOSECONDS + int(message.nanosec)


def header(stamp: int = 0, frame_id: str = "") -> Header:
    """A header with ``stamp`` in nanoseconds."""
    return Header(stamp=time_to_msg(stamp), frame_id=frame_id)


def quaternion_of_yaw(yaw: float) -> Quaternion:
    """The rotation by ``yaw`` radians about z."""
    return Quaternion(z=math.sin(yaw / 2), w=math.cos(yaw / 2))


def yaw_of_quaternion(rotation: Quaternion) -> float:
    """The heading (-pi, pi] of a rotation about z; of any other rotation, that of its x axis in the plane."""
    x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def planar_pose_to_msg(pose: tuple[float, float, float]) -> Pose:
    """(x, y, yaw), metres and radians, on the floor."""
    x, y, yaw = pose
    return Pose(position=Point(x=float(x), y=float(y)), orientation=quaternion_of_yaw(yaw))


def planar_pose_from_msg(message: Pose) -> tuple[float, float, float]:
    """(x, y, yaw), metres and radians, of a pose on the floor."""
    return message.position.x, message.position.y, yaw_of_quaternion(message.orientation)


def subtask_to_msg(subtask: Subtask) -> messages.Subtask:
    """A subtask as a message."""
    return messages.Subtask(
        action=subtask.action, target=subtask.target, destination=subtask.destination, model=subtask.model
    )


def subtask_from_msg(message: messages.Subtask) -> Subtask:
    """The subtask in a message."""
    return Subtask(message.action, message.target, message.destination, message.model)


def error_code_to_text(code: ErrorCode | None) -> str:
    """The code as messages carry it: an empty text for None."""
    return "" if code is None else code.value


def error_code_from_text(text: str) -> ErrorCode | None:
    """The code, or None for an empty text.

    Raises:
        ConversionError: ``text`` is no error code.
    """
    return _enum(ErrorCode, text, "error_code") if text else None


def step_to_msg(step: Step, episode_id: str) -> messages.StepRecord:
    """A step of ``episode_id`` as a message."""
    return messages.StepRecord(
        header=header(step.stamp),
        episode_id=episode_id,
        index=step.index,
        subtask=subtask_to_msg(step.subtask),
        analysis=step.analysis,
        prompt=step.prompt,
        raw_output=step.raw_output,
        success=step.success,
        error_code=error_code_to_text(step.error_code),
        feedback=step.feedback,
        attempts=step.attempts,
        inventory_before=list(step.inventory_before),
        inventory_after=list(step.inventory_after),
        planner_wall_seconds=step.planner_wall_seconds,
        execution_wall_seconds=step.execution_wall_seconds,
        sim_seconds=step.sim_seconds,
        tokens_in=step.tokens_in,
        tokens_out=step.tokens_out,
    )


def step_from_msg(message: messages.StepRecord) -> Step:
    """The step in a message.

    Raises:
    ConversionError: the error code is unknown.
    """
    return Step(
        index=message.index,
        subtask=subtask_from_msg(message.subtask),
        success=message.success,
        error_code=error_code_from_text(message.error_code),
        feedback=message.feedback,
        analysis=message.analysis,
        prompt=message.prompt,
        raw_output=message.raw_output,
        attempts=message.attempts,
        inventory_before=tuple(message.inventory_before),
        inventory_after=tuple(message.inventory_after),
        planner_wall_seconds=message.planner_wall_seconds,
        execution_wall_seconds=message.execution_wall_seconds,
        sim_seconds=message.sim_seconds,
        tokens_in=message.tokens_in,
        tokens_out=message.tokens_out,
        stamp=time_from_msg(message.header.stamp),
    )


def episode_info_to_msg(info: EpisodeInfo, stamp: int = 0) -> messages.EpisodeInfo:
    """An announcement as a message; ``stamp`` in nanoseconds of simulation time."""
    return messages.EpisodeInfo(
        header=header(stamp),
        format_version=info.format_version,
        episode_id=info.episode_id,
        benchmark=info.benchmark,
        task_id=info.task_id,
        instruction=info.instruction,
        scene=info.scene,
        seed=info.seed,
        trial=info.trial,
        planner=info.planner,
        setting=info.setting,
        max_steps=info.max_steps,
        task_json=info.task_json,
        configuration_json=info.configuration_json,
        version_names=list(info.versions),
        version_values=list(info.versions.values()),
    )


def episode_info_from_msg(message: messages.EpisodeInfo) -> EpisodeInfo:
    """The announcement in a message."""
    return EpisodeInfo(
        episode_id=message.episode_id,
        benchmark=message.benchmark,
        task_id=message.task_id,
        instruction=message.instruction,
        scene=message.scene,
        seed=message.seed,
        trial=message.trial,
        planner=message.planner,
        setting=message.setting,
        max_steps=message.max_steps,
        task_json=message.task_json,
        configuration_json=message.configuration_json,
        versions=dict(zip(message.version_names, message.version_values, strict=True)),
        format_version=message.format_version,
    )


def episode_result_to_msg(result: EpisodeResult, episode_id: str, stamp: int = 0) -> messages.EpisodeResult:
    """The end of ``episode_id`` as a message; ``stamp`` in nanoseconds of simulation time."""
    return messages.EpisodeResult(
        header=header(stamp),
        episode_id=episode_id,
        outcome=result.outcome.value,
        cause=result.cause,
        steps=result.steps,
        wall_seconds=result.wall_seconds,
        sim_seconds=result.sim_seconds,
    )


def episode_result_from_msg(message: messages.EpisodeResult) -> EpisodeResult:
    """The end of an episode in a message.

    Raises:
    ConversionError: the outcome is unknown.
    """
    return EpisodeResult(
        outcome=_enum(Outcome, message.outcome, "outcome"),
        steps=message.steps,
        cause=message.cause,
        wall_seconds=message.wall_seconds,
        sim_seconds=message.sim_seconds,
    )


def object_state_to_msg(thing: ObjectState) -> messages.ObjectState:
    """One thing of the world as a message."""
    return messages.ObjectState(
        id=thing.id,
        category=thing.category,
        kind=thing.kind.value,
        pose=Pose(position=Point(**_xyz(thing.position)), orientation=Quaternion(**_xyzw(thing.quaternion))),
        box_center=Vector3(**_xyz(thing.box_center)),
        box_size=Vector3(**_xyz(thing.box_size)),
        parent=thing.parent,
        open_fraction=float(thing.open_fraction),
        states=list(thing.states),
    )


def object_state_from_msg(message: messages.ObjectState) -> ObjectState:
    """The thing of the world in a message.

    Raises:
    ConversionError: the kind is unknown.
    """
    position, orientation = message.pose.position, message.pose.orientation
    return ObjectState(
        id=message.id,
        category=message.category,
        kind=_enum(Kind, message.kind, "kind"),
        position=(position.x, position.y, position.z),
        quaternion=(orientation.x, orientation.y, orientation.z, orientation.w),
        box_center=(message.box_center.x, message.box_center.y, message.box_center.z),
        box_size=(message.box_size.x, message.box_size.y, message.box_size.z),
        parent=message.parent,
        open_fraction=message.open_fraction,
        states=tuple(message.states),
    )


def world_state_to_msg(state: WorldState) -> messages.WorldState:
    """The world as a message, stamped with its own time."""
    return messages.WorldState(
        header=header(state.stamp, MAP_FRAME),
        scene=state.scene,
        objects=[object_state_to_msg(thing) for thing in state.objects],
        robot_pose=planar_pose_to_msg(state.robot_pose),
        held=state.held,
    )


def world_state_from_msg(message: messages.WorldState) -> WorldState:
    """The world in a message.

    Raises:
    ConversionError: the kind of an object is unknown.
    """
    return WorldState(
        scene=message.scene,
        stamp=time_from_msg(message.header.stamp),
        objects=tuple(object_state_from_msg(thing) for thing in message.objects),
        robot_pose=planar_pose_from_msg(message.robot_pose),
        held=message.held,
    )


def fault_to_msg(fault: Fault, episode_id: str, step: int, attempt: int, stamp: int) -> messages.ErrorEvent:
    """An error of one attempt of one step as a message; ``stamp`` in nanoseconds of simulation time."""
    return messages.ErrorEvent(
        header=header(stamp),
        episode_id=episode_id,
        step=step,
        attempt=attempt,
        phase=fault.phase.value,
        code=fault.code.value,
        feedback=fault.feedback,
        detail=fault.detail,
    )


def fault_from_msg(message: messages.ErrorEvent) -> Fault:
    """The error in a message.

    Raises:
    ConversionError: the code or the phase is unknown.
    """
    return Fault(
        code=_enum(ErrorCode, message.code, "code"),
        feedback=message.feedback,
        phase=_enum(Phase, message.phase, "phase"),
        detail=message.detail,
    )


def score_to_msg(
    episode_id: str,
    benchmark: str,
    metrics: Mapping[str, float],
    explanation: Iterable[str],
    *,
    steps: int,
    final: bool,
    stamp: int = 0,
) -> messages.Score:
    """``metrics`` keeps its order; NaN marks a metric that this episode does not define."""
    return messages.Score(
        header=header(stamp),
        episode_id=episode_id,
        benchmark=benchmark,
        steps=steps,
        final=final,
        metric_names=list(metrics),
        metric_values=[float(value) for value in metrics.values()],
        explanation=list(explanation),
    )


def metrics_from_msg(message: messages.Score) -> dict[str, float]:
    """The metrics of a score by name, in their order."""
    return dict(zip(message.metric_names, message.metric_values, strict=True))


def _xyz(values: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip("xyz", map(float, values), strict=True))


def _xyzw(values: tuple[float, float, float, float]) -> dict[str, float]:
    return dict(zip("xyzw", map(float, values), strict=True))


def _enum(kind: type[E], text: str, field: str) -> E:
    try:
        return kind(text)
    except ValueError as error:
        allowed = ", ".join(item.value for item in kind)
        raise ConversionError(f"{field} is {text!r}; allowed: {allowed}") from error
