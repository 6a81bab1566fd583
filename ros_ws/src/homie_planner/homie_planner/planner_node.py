"""The planner as a node: the `run_task` action runs one episode.

What happens in the episode is on plain topics that any bag tool can read: `episode/info`, `episode/step` and
`episode/result`. The pictures that the planner saw are on the bridge's topic `observation`. What the planner tells
people, such as the address of a page, is on `planner/notice`.
"""

from __future__ import annotations

import sys
from typing import Any

from homie_msgs import msg as messages
from homie_msgs.action import ExecuteSubtask, RunTask
from homie_msgs.srv import GetObservation, GetWorldState, ResetEpisode
from pydantic import BaseModel, ConfigDict, Field
from rclpy.action import ActionClient
from rclpy.client import Client
from std_msgs.msg import String

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Setting, Step
from homie_core.from_messages import MessageError, error_code_from_text, time_from_msg, world_state_from_msg
from homie_core.inventory import Inventory
from homie_core.subtask import Subtask
from homie_core.world_state import WorldState
from homie_planner import loop
from homie_planner.backend import Announcing, PlannerError
from homie_planner.config import read_config
from homie_planner.instruction import VIEW_ORDER
from homie_planner.loop import DEFAULT_PLANNER_SECONDS, EpisodeLoop, Executed, Observed
from homie_planner.prompting import Prompter
from homie_planner.registry import make_planner
from homie_planner.versions import versions
from homie_ros import qos
from homie_ros.action_server import GoalEnd, RunningGoal, WorkerActionServer
from homie_ros.conversions import episode_info_to_msg, episode_result_to_msg, step_to_msg, subtask_to_msg
from homie_ros.errors import InfrastructureError, Interrupted
from homie_ros.homie_node import HomieNode
from homie_ros.images import ImageError, views_from_msg
from homie_ros.node_main import run_node
from homie_ros.parameters import ParameterError, read_parameters
from homie_ros.waiting import ACCEPT_SECONDS, call_service, require_success, send_goal, wait_until

_CLOSE_SECONDS = 15.0


class PlannerSettings(BaseModel):
    """Parameters of the node."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    planner: str = Field("expert", description="Planner and its argument, e.g. expert, or a YAML file")
    planner_options: tuple[str, ...] = Field((), description="Fields of its configuration, e.g. repair=false")
    setting: Setting = Field(Setting.BACKGROUND_INFORMATION, description="Setting that the record names")
    reset: bool = Field(True, description="Whether the world is put into the task's initial state; false on a robot")
    planner_seconds: float = Field(DEFAULT_PLANNER_SECONDS, gt=0.0, description="Wall-clock limit for one reply")
    world_seconds: float = Field(60.0, gt=0.0, description="Wall-clock limit for a reset, an observation, a state")
    subtask_seconds: float = Field(7200.0, gt=0.0, description="Wall-clock limit for one subtask with all its tries")


class PlannerNode(HomieNode):
    """See the head of this file."""

    def __init__(self, **options: Any) -> None:
        super().__init__("planner", **options)
        self.settings = read_parameters(self, PlannerSettings)
        try:
            self._config = read_config(self.settings.planner, self.settings.planner_options)
            self._prompter = Prompter(self._config.instruction)
            self._backend = make_planner(self._config)
        except PlannerError as error:
            raise ParameterError(str(error)) from error
        self.reset_episode = self.create_client(ResetEpisode, "reset_episode")
        self.get_observation = self.create_client(GetObservation, "get_observation")
        self.get_world_state = self.create_client(GetWorldState, "get_world_state")
        self.execute_subtask = ActionClient(self, ExecuteSubtask, "execute_subtask")
        self.info = self.create_publisher(messages.EpisodeInfo, "episode/info", qos.events())
        self.step = self.create_publisher(messages.StepRecord, "episode/step", qos.events())
        self.result = self.create_publisher(messages.EpisodeResult, "episode/result", qos.events())
        self.notice = self.create_publisher(String, "planner/notice", qos.state())
        if isinstance(self._backend, Announcing):
            self._backend.announce = self._announce
        self._server = WorkerActionServer(self, RunTask, "run_task", self._run, accept=_reason_to_reject)

    def close(self) -> None:
        self._server.cancel_all()
        wait_until(lambda: not self._server.busy, _CLOSE_SECONDS, "the running episode to end", context=self.context)
        self._backend.close()
        super().close()

    def _announce(self, text: str) -> None:
        """Tell people something. It is logged where no console shows it, as the log would tear a live table apart."""
        self.notice.publish(String(data=text))
        if not self.notice.get_subscription_count():
            self.get_logger().info(text)

    def _run(self, goal: RunningGoal) -> GoalEnd:
        """One episode; runs in a worker thread."""
        ports = _Ports(self, goal)
        episode = EpisodeLoop(
            world=ports,
            executor=ports,
            journal=ports,
            backend=self._backend,
            prompter=self._prompter,
            repair=self._config.repair,
            prices=self._config.prices,
            planner_seconds=self.settings.planner_seconds,
            cancelled=goal.cancelled,
        )
        result = episode.run(self._info(goal.request))
        if ports.result is None:
            raise RuntimeError("the episode ended without a result")
        message = RunTask.Result(result=ports.result)
        if result.outcome is Outcome.CANCELLED:
            return goal.canceled(message)
        if result.outcome is Outcome.INFRASTRUCTURE_FAILURE:
            self.get_logger().error(f"episode {goal.request.episode_id}: {result.cause}")
            return goal.abort(message)
        return goal.succeed(message)

    def _info(self, request: RunTask.Goal) -> EpisodeInfo:
        return EpisodeInfo(
            episode_id=request.episode_id,
            benchmark=request.benchmark,
            task_id=request.task_id,
            instruction=request.instruction,
            scene=request.scene,
            seed=request.seed,
            trial=request.trial,
            planner=self._backend.name,
            setting=self.settings.setting.value,
            max_steps=request.max_steps,
            task_json=request.task_json,
            configuration_json=request.configuration_json,
            versions=versions(),
        )


def _reason_to_reject(request: RunTask.Goal) -> str:
    if not request.episode_id:
        return "episode_id is empty"
    if not request.instruction:
        return "instruction is empty"
    if request.max_steps < 1:
        return f"max_steps is {request.max_steps}, at least 1 is needed"
    return ""


class _Ports:
    """The loop's world, executor and journal, for one goal."""

    def __init__(self, node: PlannerNode, goal: RunningGoal) -> None:
        self._node = node
        self._goal = goal
        self._episode_id = goal.request.episode_id
        self.result: messages.EpisodeResult | None = None

    def reset(self) -> int:
        if not self._node.settings.reset:
            return int(self._node.get_clock().now().nanoseconds)
        request = self._goal.request
        wanted = ResetEpisode.Request(scene=request.scene, seed=request.seed, placements_json=request.placements_json)
        return time_from_msg(self._call(self._node.reset_episode, wanted, "reset_episode").stamp)

    def observe(self) -> Observed:
        response = self._call(self._node.get_observation, GetObservation.Request(), "get_observation")
        try:
            views = views_from_msg(response.observation)
        except ImageError as error:
            raise loop.InfrastructureError(f"get_observation: {error}") from error
        if views and set(views) != set(VIEW_ORDER):
            wanted, given = ", ".join(VIEW_ORDER), ", ".join(views)
            raise loop.InfrastructureError(f"get_observation gave the views {given}; wanted are {wanted}")
        return Observed(
            stamp=time_from_msg(response.observation.header.stamp),
            views=tuple(views[name] for name in VIEW_ORDER if name in views),
            text=response.observation.text,
        )

    def state(self) -> WorldState:
        response = self._call(self._node.get_world_state, GetWorldState.Request(), "get_world_state")
        try:
            return world_state_from_msg(response.state)
        except MessageError as error:
            raise loop.InfrastructureError(f"get_world_state: {error}") from error

    def _call(self, client: Client, request: Any, what: str) -> Any:
        seconds = self._node.settings.world_seconds
        try:
            response = call_service(client, request, seconds, what, cancelled=self._goal.cancelled)
            return require_success(response, what)
        except Interrupted as error:
            raise loop.Cancelled from error
        except InfrastructureError as error:
            raise loop.InfrastructureError(str(error)) from error

    def execute(self, step: int, subtask: Subtask, inventory: Inventory) -> Executed:
        goal = ExecuteSubtask.Goal(
            episode_id=self._episode_id,
            seed=self._goal.request.seed,
            step=step,
            subtask=subtask_to_msg(subtask),
            inventory=list(inventory),
        )
        seconds = self._node.settings.subtask_seconds
        what = f"execute_subtask {subtask.brackets()}"
        try:
            outcome = send_goal(
                self._node.execute_subtask,
                goal,
                seconds,
                what,
                cancelled=self._goal.cancelled,
                accept_timeout=min(ACCEPT_SECONDS, seconds),
            )
        except Interrupted as error:
            raise loop.Cancelled from error
        except InfrastructureError as error:
            raise loop.InfrastructureError(str(error)) from error
        if self._goal.cancelled.is_set():
            raise loop.Cancelled
        result = outcome.result
        if result.infrastructure_failure or not outcome.succeeded:
            raise loop.InfrastructureError(result.detail or f"{what} was given up without a reason")
        try:
            code = error_code_from_text(result.error_code)
        except MessageError as error:
            raise loop.InfrastructureError(f"{what}: {error}") from error
        return Executed(
            success=result.success,
            error_code=code,
            feedback=result.feedback,
            attempts=result.attempts,
            inventory=tuple(result.inventory),
            stamp=time_from_msg(result.stamp),
            target_id=result.target_id,
            destination_id=result.destination_id,
            note=result.note,
        )

    def begin(self, info: EpisodeInfo, stamp: int) -> None:
        self._node.info.publish(episode_info_to_msg(info, stamp))

    def step(self, step: Step) -> None:
        message = step_to_msg(step, self._episode_id)
        self._node.step.publish(message)
        self._goal.feedback(RunTask.Feedback(step=message))

    def end(self, result: EpisodeResult, stamp: int) -> None:
        self.result = episode_result_to_msg(result, self._episode_id, stamp)
        self._node.result.publish(self.result)


def main() -> None:
    """Run the node until it is told to stop."""
    sys.exit(run_node(PlannerNode))
