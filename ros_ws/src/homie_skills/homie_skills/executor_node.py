"""The executor as a node: the `execute_subtask` action, over `check_subtask` and the skill servers.

A neighbour that dies or does not answer ends the subtask with ``infrastructure_failure`` and its name; a cancelled
subtask cancels the skill that runs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

from homie_msgs.action import ExecuteSkill, ExecuteSubtask
from homie_msgs.srv import CheckSubtask
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from rclpy.action import ActionClient
from rclpy.client import Client

from homie_core.episode import Setting
from homie_core.errors import Phase
from homie_core.from_messages import MessageError, error_code_from_text, subtask_from_msg, time_from_msg
from homie_core.skill import SkillErrorCode
from homie_ros.action_server import GoalEnd, RunningGoal, WorkerActionServer
from homie_ros.conversions import error_code_to_text, subtask_to_msg, time_to_msg
from homie_ros.errors import InfrastructureError, Interrupted
from homie_ros.homie_node import HomieNode
from homie_ros.node_main import run_node
from homie_ros.parameters import read_parameters
from homie_ros.waiting import call_service, require_success, send_goal, wait_until
from homie_skills.executor import (
    Assignment,
    Cancelled,
    Check,
    Execution,
    Executor,
    SkillCall,
    SkillResult,
    Unavailable,
    read_server,
)

_CLOSE_SECONDS = 10.0


def _server(text: str) -> str:
    """``text``, if it is a server."""
    read_server(text)
    return text


class ExecutorSettings(BaseModel):
    """Parameters of the node."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: Setting = Field(Setting.BACKGROUND_INFORMATION, description="What the skills may know")
    servers: tuple[Annotated[str, AfterValidator(_server)], ...] = Field(
        ("M3=m3",), description="Skill servers that may be used, as MODEL=server: the action is skills/<server>/execute"
    )
    check_seconds: float = Field(30.0, gt=0.0, description="Wall-clock limit for an answer of the monitor")
    skill_seconds: float = Field(1800.0, gt=0.0, description="Wall-clock limit for one try of a skill")

    @property
    def server_of_model(self) -> dict[str, str]:
        return dict(map(read_server, self.servers))


class ExecutorNode(HomieNode):
    """See the head of this file."""

    def __init__(self, **options: Any) -> None:
        super().__init__("executor", **options)
        self.settings = read_parameters(self, ExecutorSettings)
        self._check = self.create_client(CheckSubtask, "check_subtask")
        servers = dict.fromkeys(self.settings.server_of_model.values())
        self._skills = {name: ActionClient(self, ExecuteSkill, f"skills/{name}/execute") for name in servers}
        self._server = WorkerActionServer(self, ExecuteSubtask, "execute_subtask", self._execute)

    def close(self) -> None:
        self._server.cancel_all()
        wait_until(lambda: not self._server.busy, _CLOSE_SECONDS, "the running subtask to end", context=self.context)
        super().close()

    def _execute(self, goal: RunningGoal) -> GoalEnd:
        """One subtask; runs in a worker thread."""
        request = goal.request
        subtask = subtask_from_msg(request.subtask)
        assignment = Assignment(subtask, tuple(request.inventory), request.episode_id, request.seed, request.step)
        settings = self.settings
        executor = Executor(
            _MonitorPort(self._check, goal, settings.check_seconds),
            _SkillsPort(self._skills, goal, settings.skill_seconds),
            settings.server_of_model,
            settings.setting,
        )
        unchanged = ExecuteSubtask.Result(inventory=list(request.inventory))
        try:
            execution = executor.execute(assignment, _Reporter(goal))
        except Cancelled:
            unchanged.detail = "cancelled"
            return goal.canceled(unchanged)
        except Unavailable as error:
            self.get_logger().error(f"{subtask.brackets()}: {error}")
            unchanged.infrastructure_failure = True
            unchanged.detail = str(error)
            return goal.abort(unchanged)
        return goal.succeed(_result(execution))


class _Reporter:
    """Sends the executor's progress as action feedback."""

    def __init__(self, goal: RunningGoal) -> None:
        self._goal = goal

    def __call__(self, phase: str, attempt: int) -> None:
        self._goal.feedback(ExecuteSubtask.Feedback(phase=phase, attempt=attempt))


class _MonitorPort:
    """The monitor, over the `check_subtask` service."""

    def __init__(self, client: Client, goal: RunningGoal, seconds: float) -> None:
        self._client = client
        self._goal = goal
        self._seconds = seconds

    def before(self, assignment: Assignment) -> Check:
        return self._ask(_request(assignment, Phase.BEFORE))

    def after(self, assignment: Assignment, attempt: int, start: Check, result: SkillResult) -> Check:
        request = _request(assignment, Phase.AFTER)
        request.attempt = attempt
        request.object_id, request.receptacle_id = start.object_id, start.receptacle_id
        request.skill_success, request.skill_message = result.success, result.message
        request.skill_error_code, request.fingers_shut = int(result.code), result.fingers_shut
        request.stamp = time_to_msg(result.stamp)
        return self._ask(request)

    def _ask(self, request: CheckSubtask.Request) -> Check:
        what = "the monitor's check_subtask"
        try:
            response = call_service(self._client, request, self._seconds, what, cancelled=self._goal.cancelled)
            code = error_code_from_text(require_success(response, what).code)
        except Interrupted as error:
            raise Cancelled from error
        except (InfrastructureError, MessageError) as error:
            raise Unavailable(str(error)) from error
        return Check(
            code=code,
            feedback=response.feedback,
            detail=response.detail,
            note=response.note,
            retry=response.retry,
            object_id=response.object_id,
            receptacle_id=response.receptacle_id,
            hand=response.hand if response.hand_known else None,
        )


class _SkillsPort:
    """The skill servers, over their `execute` actions."""

    def __init__(self, clients: Mapping[str, ActionClient], goal: RunningGoal, seconds: float) -> None:
        self._clients = clients
        self._goal = goal
        self._seconds = seconds

    def execute(self, server: str, call: SkillCall) -> SkillResult:
        goal = ExecuteSkill.Goal(
            skill=call.skill,
            object=call.object_id,
            receptacle=call.receptacle_id,
            timeout=call.timeout,
            seed=call.seed,
            step=call.step,
            attempt=call.attempt,
        )
        what = f"skill {call.skill} of server {server}"
        try:
            outcome = send_goal(self._clients[server], goal, self._seconds, what, cancelled=self._goal.cancelled)
        except Interrupted as error:
            raise Cancelled from error
        except InfrastructureError as error:
            raise Unavailable(str(error)) from error
        if self._goal.cancelled.is_set():
            raise Cancelled
        result = outcome.result
        if result.error_code == ExecuteSkill.Goal.ROBOT_FAILURE:
            raise Unavailable(f"skill server {server}: {result.error_msg}")
        message = result.error_msg or ("" if result.success else "it gave no reason")
        if result.error_code:
            message = f"{message} ({result.error_code})"
        try:
            code = SkillErrorCode(result.error_code)
        except ValueError as error:
            raise Unavailable(f"skill server {server}: error code {result.error_code} is unknown") from error
        return SkillResult(result.success, message, time_from_msg(result.stamp), code, result.fingers_shut)


def _request(assignment: Assignment, phase: Phase) -> CheckSubtask.Request:
    return CheckSubtask.Request(
        episode_id=assignment.episode_id,
        step=assignment.step,
        phase=phase.value,
        subtask=subtask_to_msg(assignment.subtask),
        inventory=list(assignment.inventory),
    )


def _result(execution: Execution) -> ExecuteSubtask.Result:
    return ExecuteSubtask.Result(
        success=execution.success,
        error_code=error_code_to_text(execution.code),
        feedback=execution.feedback,
        attempts=execution.attempts,
        inventory=list(execution.inventory),
        target_id=execution.target_id,
        destination_id=execution.destination_id,
        note=execution.note,
        detail=execution.detail,
        stamp=time_to_msg(execution.stamp),
    )


def main() -> None:
    """Run the node until it is told to stop."""
    sys.exit(run_node(ExecutorNode))
