"""The monitor as a node: answers `check_subtask`, publishes what it finds on `monitor/error`.

Every decision is made from a world state that is asked for at that moment with `get_world_state` and that is at least
as new as the request says. Losses, stalls and collisions of a try are told from the states before and after it and
from the skill server's report (`incidents`); the skill server, which looks at the physics after every command, has
stopped the try by then.
The `world_state` topic only feeds the watch over the hand, whose finds are early notices. So a result never depends on
which message came first.

A request waits for that state in a worker thread (`WorkerService`), while this node's executor goes on to receive the
answer.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from homie_msgs import msg as messages
from homie_msgs.srv import CheckSubtask, GetWorldState
from pydantic import BaseModel, ConfigDict, Field
from rclpy.serialization import deserialize_message

from homie_core import names
from homie_core.episode import Setting
from homie_core.errors import SUCCESS_FEEDBACK, Fault, Phase
from homie_core.from_messages import MessageError, subtask_from_msg, time_from_msg, world_state_from_msg
from homie_core.skill import SkillErrorCode
from homie_core.subtask import Subtask
from homie_core.world_state import WorldState
from homie_monitor.checks import CLEARANCE, FOOTPRINT_RADIUS, REACH, Checker, Claim, Targets, Watch
from homie_monitor.incidents import incidents
from homie_ros import qos
from homie_ros.conversions import error_code_to_text, fault_to_msg, incident_to_msg
from homie_ros.errors import DeadlineExceeded, InfrastructureError
from homie_ros.homie_node import HomieNode
from homie_ros.node_main import run_node
from homie_ros.parameters import read_parameters
from homie_ros.waiting import Deadline, call_service, require_success
from homie_ros.worker_service import WorkerService

_RETRY_SECONDS = 0.02


class MonitorSettings(BaseModel):
    """Parameters of the node."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: Setting = Field(Setting.BACKGROUND_INFORMATION, description="What the checks may know")
    reach: float = Field(REACH, gt=0.0, description="Metres beyond which a target is too far away (D1)")
    clearance: float = Field(CLEARANCE, ge=0.0, description="Metres below which a target is too close (D2)")
    footprint_radius: float = Field(FOOTPRINT_RADIUS, gt=0.0, description="Radius of the robot's base, metres")
    world_state_seconds: float = Field(10.0, gt=0.0, description="Wall-clock limit for a new enough world state")


class MonitorNode(HomieNode):
    """See the head of this file."""

    def __init__(self, **options: Any) -> None:
        super().__init__("monitor", **options)
        self.settings = read_parameters(self, MonitorSettings)
        self._checker = Checker(
            setting=self.settings.setting,
            reach=self.settings.reach,
            clearance=self.settings.clearance,
            footprint_radius=self.settings.footprint_radius,
        )
        self._stopping = threading.Event()
        self._watching = threading.Lock()
        self._watch: _Watched | None = None
        self._errors = self.create_publisher(messages.ErrorEvent, "monitor/error", qos.events())
        self._world_state = self.create_client(GetWorldState, "get_world_state")
        self.create_subscription(messages.WorldState, "world_state", self._on_world_state, qos.state(), raw=True)
        self._service = WorkerService(self, CheckSubtask, "check_subtask", self._check)

    def close(self) -> None:
        self._stopping.set()
        super().close()

    def _check(self, request: CheckSubtask.Request) -> CheckSubtask.Response:
        """Answer one request; runs in a worker thread."""
        try:
            state = self._state(time_from_msg(request.stamp)) if self._checker.sees_world else None
        except (InfrastructureError, MessageError) as error:
            return CheckSubtask.Response(success=False, message=str(error))
        if request.phase == Phase.BEFORE:
            return self._before(request, state)
        if request.phase == Phase.AFTER:
            try:
                return self._after(request, state)
            except MessageError as error:
                return CheckSubtask.Response(success=False, message=str(error))
        allowed = f"{Phase.BEFORE.value}, {Phase.AFTER.value}"
        return CheckSubtask.Response(success=False, message=f"phase {request.phase!r} is unknown; allowed: {allowed}")

    def _before(self, request: CheckSubtask.Request, state: WorldState | None) -> CheckSubtask.Response:
        subtask = subtask_from_msg(request.subtask)
        permission = self._checker.before(subtask, tuple(request.inventory), state)
        with self._watching:
            watched = permission.fault is None and state is not None
            self._watch = _Watched(request, subtask, state) if watched and state is not None else None
        if permission.fault is not None:
            self._publish(permission.fault, request, state)
        response = _response(permission.fault, state)
        response.note = permission.targets.note
        response.object_id = permission.targets.object_id
        response.receptacle_id = permission.targets.receptacle_id
        return response

    def _after(self, request: CheckSubtask.Request, state: WorldState | None) -> CheckSubtask.Response:
        targets = Targets(request.object_id, request.receptacle_id)
        claim = _claim(request)
        subtask = subtask_from_msg(request.subtask)
        verdict = self._checker.after(subtask, targets, tuple(request.inventory), state, claim)
        with self._watching:
            watched = self._watch
            known = watched is not None and watched.found and verdict.fault is not None
            self._watch = watched if verdict.retry else None
        self._publish_incidents(request, targets, claim, watched, state, verdict.fault)
        if watched is not None and state is not None:
            watched.state = state
        if verdict.fault is not None and not (known and verdict.fault.phase is Phase.DURING):
            self._publish(verdict.fault, request, state)
        response = _response(verdict.fault, state)
        response.hand_known |= claim.fingers_shut
        response.retry = verdict.retry
        response.object_id, response.receptacle_id = request.object_id, request.receptacle_id
        return response

    def _on_world_state(self, data: bytes) -> None:
        """A serialized WorldState; read only if it can tell something."""
        with self._watching:
            watched = self._watch
            if watched is None or watched.watch.is_over:
                return
            state = world_state_from_msg(deserialize_message(data, messages.WorldState))
            fault = watched.watch.see(state)
            watched.found = fault is not None
        if fault is not None:
            self._publish(fault, watched.request, state)

    def _state(self, stamp: int) -> WorldState:
        """The state of the world now; ``stamp`` in nanoseconds is how new it has to be at least.

        Raises:
            InfrastructureError: the world did not answer in time, or its clock stands before ``stamp``.
        """
        seconds = self.settings.world_state_seconds
        deadline = Deadline(seconds, "the world state")
        while True:
            response = self._ask_world_state()
            state = world_state_from_msg(response.state)
            if state.stamp >= stamp:
                return state
            if not deadline.remaining:
                what = f"a world state of {stamp / 1e9:.3f} s; the world's clock stands at {state.stamp / 1e9:.3f} s"
                raise DeadlineExceeded(what, seconds)
            self._stopping.wait(_RETRY_SECONDS)

    def _ask_world_state(self) -> GetWorldState.Response:
        what, seconds = "get_world_state", self.settings.world_state_seconds
        response = call_service(self._world_state, GetWorldState.Request(), seconds, what, cancelled=self._stopping)
        return require_success(response, what)

    def _publish_incidents(
        self,
        request: CheckSubtask.Request,
        targets: Targets,
        claim: Claim,
        watched: _Watched | None,
        state: WorldState | None,
        fault: Fault | None,
    ) -> None:
        """Tell what happened during the try; a loss that is the verdict itself is told as such."""
        told = fault is not None and fault.phase is Phase.DURING
        before = watched.state if watched is not None else None
        for detail in incidents(targets, claim, before, state):
            if told and claim.code is SkillErrorCode.OBJECT_LOST and detail.endswith(claim.message):
                continue
            stamp = time_from_msg(request.stamp) if state is None else state.stamp
            self._errors.publish(
                incident_to_msg(detail, fault, request.episode_id, request.step, request.attempt, stamp)
            )

    def _publish(self, fault: Fault, request: CheckSubtask.Request, state: WorldState | None) -> None:
        stamp = state.stamp if state is not None else time_from_msg(request.stamp)
        self._errors.publish(fault_to_msg(fault, request.episode_id, request.step, request.attempt, stamp))


class _Watched:
    """A watch, the request that it began with, and the world as it was before the try that runs."""

    def __init__(self, request: CheckSubtask.Request, subtask: Subtask, state: WorldState) -> None:
        self.request = request
        self.watch = Watch(subtask, state)
        self.state = state
        self.found = False


def _claim(request: CheckSubtask.Request) -> Claim:
    """What the skill server says about a try.

    Raises:
        MessageError: its error code is none.
    """
    try:
        code = SkillErrorCode(request.skill_error_code)
    except ValueError as error:
        allowed = ", ".join(str(code.value) for code in SkillErrorCode)
        raise MessageError(f"skill_error_code {request.skill_error_code} is unknown; allowed: {allowed}") from error
    return Claim(request.skill_success, request.skill_message, code, request.fingers_shut)


def _response(fault: Fault | None, state: WorldState | None) -> CheckSubtask.Response:
    return CheckSubtask.Response(
        success=True,
        ok=fault is None,
        code=error_code_to_text(None if fault is None else fault.code),
        feedback=SUCCESS_FEEDBACK if fault is None else fault.feedback,
        detail="" if fault is None else fault.detail,
        hand_known=state is not None,
        hand=names.name_of(state.held, state) if state is not None and state.held else "",
    )


def main() -> None:
    """Run the node until it is told to stop."""
    sys.exit(run_node(MonitorNode))
