"""homie_core's dataclasses to homie_msgs; the way back is ``homie_core.from_messages``. Times are nanoseconds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from homie_msgs import msg as messages
from std_msgs.msg import Header

from homie_core.episode import EpisodeInfo, EpisodeResult, Step
from homie_core.errors import ErrorCode, Fault, Phase
from homie_core.from_messages import NANOSECONDS
from homie_core.subtask import Subtask
from homie_core.world_state import ObjectState, WorldState

MAP_FRAME = "map"


def time_to_msg(nanoseconds: int) -> Time:
    """Nanoseconds as a ROS time."""
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    return Time(sec=seconds, nanosec=rest)


def header(stamp: int = 0, frame_id: str = "") -> Header:
    """A header with ``stamp`` in nanoseconds."""
    return Header(stamp=time_to_msg(stamp), frame_id=frame_id)


def quaternion_of_yaw(yaw: float) -> Quaternion:
    """The rotation by ``yaw`` radians about z."""
    return Quaternion(z=math.sin(yaw / 2), w=math.cos(yaw / 2))


def planar_pose_to_msg(pose: tuple[float, float, float]) -> Pose:
    """(x, y, yaw), metres and radians, on the floor."""
    x, y, yaw = pose
    return Pose(position=Point(x=float(x), y=float(y)), orientation=quaternion_of_yaw(yaw))


def subtask_to_msg(subtask: Subtask) -> messages.Subtask:
    """A subtask as a message."""
    return messages.Subtask(
        action=subtask.action, target=subtask.target, destination=subtask.destination, model=subtask.model
    )


def error_code_to_text(code: ErrorCode | None) -> str:
    """The code as messages carry it: an empty text for None."""
    return "" if code is None else code.value


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
        target_id=step.target_id,
        destination_id=step.destination_id,
        note=step.note,
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
        requests=step.requests,
        cost_usd=math.nan if step.cost_usd is None else step.cost_usd,
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


def object_state_to_msg(thing: ObjectState) -> messages.ObjectState:
    """One thing of the world as a message."""
    message = messages.ObjectState(
        id=thing.id,
        category=thing.category,
        kind=thing.kind.value,
        parent=thing.parent,
        open_fraction=float(thing.open_fraction),
        states=list(thing.states),
    )
    # A message makes its parts itself: to fill them costs half of what others in their place do.
    _fill(message.pose.position, thing.position)
    _fill(message.box_center, thing.box_center)
    _fill(message.box_size, thing.box_size)
    rotation = message.pose.orientation
    rotation.x, rotation.y, rotation.z, rotation.w = map(float, thing.quaternion)
    return message


def world_state_to_msg(state: WorldState) -> messages.WorldState:
    """The world as a message, stamped with its own time."""
    return messages.WorldState(
        header=header(state.stamp, MAP_FRAME),
        scene=state.scene,
        objects=[object_state_to_msg(thing) for thing in state.objects],
        robot_pose=planar_pose_to_msg(state.robot_pose),
        held=state.held,
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


def incident_to_msg(
    detail: str, fault: Fault | None, episode_id: str, step: int, attempt: int, stamp: int
) -> messages.ErrorEvent:
    """Something that happened during a try; ``fault`` is what became of the try, None if it reached its goal."""
    code, feedback = (None, "") if fault is None else (fault.code, fault.feedback)
    return messages.ErrorEvent(
        header=header(stamp),
        episode_id=episode_id,
        step=step,
        attempt=attempt,
        phase=Phase.DURING.value,
        code=error_code_to_text(code),
        feedback=feedback,
        detail=detail,
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


def _fill(vector: Point | Vector3, values: tuple[float, float, float]) -> None:
    vector.x, vector.y, vector.z = map(float, values)
