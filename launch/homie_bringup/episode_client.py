"""The client of one episode: arms the recorder, sends the task, passes steps on, and closes the bag."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from homie_msgs.action import RunTask
from homie_msgs.msg import EpisodeResult as EpisodeResultMsg
from homie_msgs.msg import Score as ScoreMsg
from homie_msgs.msg import StepRecord
from homie_msgs.srv import CheckSubtask, GetObservation, ResetEpisode, StartRecording, StopRecording
from rclpy.action import ActionClient
from std_msgs.msg import String

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.from_messages import episode_result_from_msg, step_from_msg
from homie_ros import qos
from homie_ros.conversions import episode_result_to_msg
from homie_ros.errors import InfrastructureError, PeerLost
from homie_ros.homie_node import HomieNode
from homie_ros.memory import give_back
from homie_ros.waiting import call_service, require_success, send_goal, wait_until

START_SECONDS = 60.0
"""Until every node offers what it must; the first import of the physics engine on a cold disk is the slow part."""

EPISODE_SECONDS = 3600.0
SCORE_SECONDS = 10.0
STEP_SECONDS = 5.0
RECORDER_SECONDS = 20.0

REQUIRED_TOPICS = ("episode/info", "episode/step", "episode/result", "observation", "world_state", "monitor/error")
"""Topics without which a bag cannot be scored or reported."""


class Graph(Protocol):
    """Nodes that someone started: in this process, in others, or on a robot."""

    def failure(self) -> str:
        """Why the graph can not go on; empty while it can."""


class EpisodeClientNode(HomieNode):
    """Runs episodes in a graph, one at a time. Its methods are called from the main thread and block."""

    def __init__(self, graph: Graph, **options: Any) -> None:
        super().__init__("homie", **options)
        self._graph = graph
        self._run_task = ActionClient(self, RunTask, "run_task")
        self._start_recording = self.create_client(StartRecording, "start_recording")
        self._stop_recording = self.create_client(StopRecording, "stop_recording")
        observation = self.create_client(GetObservation, "get_observation")
        self._awaited = {
            "the world (reset_episode)": self.create_client(ResetEpisode, "reset_episode").service_is_ready,
            "the world's views (get_observation)": observation.service_is_ready,
            "the monitor (check_subtask)": self.create_client(CheckSubtask, "check_subtask").service_is_ready,
            "the recorder (start_recording)": self._start_recording.service_is_ready,
            "the planner (run_task)": self._run_task.server_is_ready,
        }
        self._results = self.create_publisher(EpisodeResultMsg, "episode/result", qos.events())
        self._heard: _Heard | None = None
        self._on_notice: Callable[[str], None] | None = None
        self.create_subscription(StepRecord, "episode/step", self._take_step, qos.events())
        self.create_subscription(String, "planner/notice", self._take_notice, qos.state())
        self.create_subscription(ScoreMsg, "referee/emmoe/score", self._take_score, qos.events())

    def wait_ready(self, stop: threading.Event) -> None:
        """Block until every node that an episode needs is there.

        Raises:
            InfrastructureError: one did not come in time, or the graph failed.
        """
        for what, is_ready in self._awaited.items():
            wait_until(partial(self._graph_has, is_ready), START_SECONDS, f"{what} to appear", cancelled=stop)

    def run(
        self,
        goal: RunTask.Goal,
        bag: Path,
        on_step: Callable[[Step], None],
        stop: threading.Event,
        on_notice: Callable[[str], None] | None = None,
        seconds: float = EPISODE_SECONDS,
    ) -> EpisodeResult:
        """Record and run one episode. ``stop`` cancels it; its bag is closed in any case.

        ``on_notice`` is told what the planner has to say to people; without it that is logged. An episode that takes
        longer than ``seconds`` of wall time is given up.

        Raises:
            InfrastructureError: the recorder could not be started or stopped.
        """
        request = StartRecording.Request(
            uri=str(bag), required_topics=list(REQUIRED_TOPICS), timeout_seconds=RECORDER_SECONDS
        )
        call = call_service(self._start_recording, request, RECORDER_SECONDS + 5.0, "the recorder to start")
        require_success(call, "starting the recorder")
        heard = self._heard = _Heard(goal.episode_id, on_step)
        self._on_notice = on_notice or self._log_notice
        try:
            result = self._run_goal(goal, heard, stop, seconds)
            self._wait_for_the_last_word(heard, result.steps)
        finally:
            self._heard = None
            self._on_notice = None
            stopped = call_service(
                self._stop_recording, StopRecording.Request(), RECORDER_SECONDS, "the recorder to stop"
            )
        require_success(stopped, "stopping the recorder")
        give_back()  # of all nodes, where they run in this process
        return result

    def _run_goal(self, goal: RunTask.Goal, heard: _Heard, stop: threading.Event, seconds: float) -> EpisodeResult:
        began = time.monotonic()
        try:
            outcome = send_goal(
                self._run_task,
                goal,
                seconds,
                "the planner to run the task",
                cancelled=stop,
            )
        except InfrastructureError as error:
            result = EpisodeResult(
                Outcome.INFRASTRUCTURE_FAILURE,
                steps=len(heard.steps),
                cause=self._graph.failure() or str(error),
                wall_seconds=time.monotonic() - began,
            )
            # The planner cannot say it any more, and the bag must tell how the episode stopped.
            self._results.publish(episode_result_to_msg(result, goal.episode_id, stamp=heard.last_stamp))
            return result
        return episode_result_from_msg(outcome.result.result)

    def _wait_for_the_last_word(self, heard: _Heard, steps: int) -> None:
        """Every step should have been shown, and the bag should hold the referee's final score.

        A referee that is silent fails no episode: the score can be had from the bag.
        """
        try:
            wait_until(lambda: len(heard.steps) >= steps, STEP_SECONDS, "the last steps")
            wait_until(lambda: heard.scored, SCORE_SECONDS, "the referee's final score")
        except InfrastructureError as error:
            self.get_logger().warning(str(error))

    def _take_step(self, message: StepRecord) -> None:
        heard = self._heard
        if heard is not None and message.episode_id == heard.episode_id:
            heard.take(step_from_msg(message))

    def _take_notice(self, message: String) -> None:
        tell = self._on_notice
        if tell is not None:
            tell(message.data)

    def _log_notice(self, text: str) -> None:
        self.get_logger().info(text)

    def _take_score(self, message: ScoreMsg) -> None:
        heard = self._heard
        if heard is not None and message.episode_id == heard.episode_id:
            heard.scored |= message.final

    def _graph_has(self, is_ready: Callable[[], bool]) -> bool:
        failure = self._graph.failure()
        if failure:
            raise PeerLost(failure)
        return is_ready()


class _Heard:
    """What came so far of the episode that runs; of others nothing is kept."""

    def __init__(self, episode_id: str, on_step: Callable[[Step], None]) -> None:
        self.episode_id = episode_id
        self.steps: dict[int, Step] = {}
        self.scored = False
        self._on_step = on_step

    @property
    def last_stamp(self) -> int:
        """Of the newest step, in nanoseconds; 0 before the first one."""
        return max((step.stamp for step in self.steps.values()), default=0)

    def take(self, step: Step) -> None:
        """Keep a step and show it."""
        self.steps[step.index] = step
        self._on_step(step)
