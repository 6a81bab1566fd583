"""The live EMMOE referee: listens to an episode and publishes its score after every step and at the end.

The numbers come from the functions that score bags, fed with the same events, so both are equal to the last digit.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from homie_msgs import msg as messages
from pydantic import BaseModel, Field
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.timer import Timer

from homie_core.episode import EpisodeInfo
from homie_core.from_messages import (
    MessageError,
    episode_info_from_msg,
    episode_result_from_msg,
    step_from_msg,
    time_from_msg,
    world_state_from_msg,
)
from homie_eval.emmoe.metrics import score_episode
from homie_eval.emmoe.tasks import Task, TaskError, from_json
from homie_eval.trajectory import StateSource, TrajectoryBuilder
from homie_ros import qos
from homie_ros.conversions import score_to_msg
from homie_ros.homie_node import HomieNode
from homie_ros.node_main import run_node
from homie_ros.parameters import read_parameters

BENCHMARK = "emmoe"


class EmmoeRefereeSettings(BaseModel):
    """Parameters of the node."""

    state_seconds: float = Field(
        10.0, gt=0, description="Wall seconds that the final score waits for the world state of the episode's end."
    )


class _Live:
    """The episode that is being scored."""

    def __init__(self, info: EpisodeInfo, task: Task) -> None:
        self.id = info.episode_id
        self.task = task
        self.builder = TrajectoryBuilder()
        self.stopped = False
        self.final = False


class EmmoeRefereeNode(HomieNode):
    """Subscribes to the episode's topics; publishes ``referee/emmoe/score``."""

    def __init__(self, **options: Any) -> None:
        super().__init__("emmoe_referee", **options)
        self._settings = read_parameters(self, EmmoeRefereeSettings)
        self._episode: _Live | None = None
        self._latest_state: tuple[int, StateSource] | None = None
        self._deadline: Timer | None = None
        self._publisher = self.create_publisher(messages.Score, "referee/emmoe/score", qos.events())
        self.create_subscription(messages.EpisodeInfo, "episode/info", self._on_info, qos.events())
        self.create_subscription(messages.StepRecord, "episode/step", self._on_step, qos.events())
        self.create_subscription(messages.EpisodeResult, "episode/result", self._on_result, qos.events())
        self.create_subscription(messages.WorldState, "world_state", self._on_world_state, qos.state())

    def _on_info(self, message: messages.EpisodeInfo) -> None:
        if message.benchmark != BENCHMARK or (self._episode is not None and self._episode.id == message.episode_id):
            return
        self._finish("a new episode began")
        info = episode_info_from_msg(message)
        try:
            episode = _Live(info, from_json(info.task_json))
        except TaskError as error:
            self.get_logger().error(f"episode {info.episode_id} is not scored: {error}")
            return
        if self._latest_state is not None:
            episode.builder.on_world_state(*self._latest_state)
        episode.builder.on_info(info, time_from_msg(message.header.stamp))
        self._episode = episode

    def _on_step(self, message: messages.StepRecord) -> None:
        episode = self._episode_of(message.episode_id)
        if episode is None:
            return
        try:
            step = step_from_msg(message)
        except MessageError as error:
            self.get_logger().error(f"step {message.index} of episode {episode.id} is left out: {error}")
            return
        episode.builder.on_step(episode.id, step)
        self._publish(episode)
        self._finish_if_settled(episode)

    def _on_result(self, message: messages.EpisodeResult) -> None:
        episode = self._episode_of(message.episode_id)
        if episode is None or episode.stopped:
            return
        try:
            result = episode_result_from_msg(message)
        except MessageError as error:
            self.get_logger().error(f"the result of episode {episode.id} is left out: {error}")
            return
        episode.stopped = True
        episode.builder.on_result(episode.id, result, time_from_msg(message.header.stamp))
        self._deadline = self.create_timer(
            self._settings.state_seconds, self._on_deadline, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._finish_if_settled(episode)

    def _on_world_state(self, message: messages.WorldState) -> None:
        self._latest_state = (time_from_msg(message.header.stamp), partial(world_state_from_msg, message))
        if self._episode is not None:
            self._episode.builder.on_world_state(*self._latest_state)
            self._finish_if_settled(self._episode)

    def _on_deadline(self) -> None:
        self._finish(f"no world state of its end within {self._settings.state_seconds:.1f} s")

    def _episode_of(self, episode_id: str) -> _Live | None:
        """The running episode if it has this id: steps of others were announced before this node was there."""
        episode = self._episode
        return episode if episode is not None and episode.id == episode_id and not episode.final else None

    def _finish_if_settled(self, episode: _Live) -> None:
        trajectory = episode.builder.trajectory(episode.id) if episode.stopped and not episode.final else None
        if trajectory is None or trajectory.result is None or trajectory.result.steps > len(trajectory.steps):
            return  # steps and result travel apart: the result may come first
        if episode.builder.settled(episode.id):
            self._finish("")

    def _finish(self, problem: str) -> None:
        """Publish the final score of an episode that has stopped; ``problem`` says why that is not the normal way."""
        if self._deadline is not None:
            self.destroy_timer(self._deadline)
            self._deadline = None
        episode = self._episode
        if episode is None or not episode.stopped or episode.final:
            return
        episode.final = True
        if problem:
            self.get_logger().warning(f"episode {episode.id} is scored as it is known: {problem}")
        self._publish(episode)

    def _publish(self, episode: _Live) -> None:
        trajectory = episode.builder.trajectory(episode.id)
        score = score_episode(trajectory, episode.task)
        self._publisher.publish(
            score_to_msg(
                episode.id,
                BENCHMARK,
                {name: value.number for name, value in score.values.items()},
                score.explanation(),
                steps=score.steps,
                final=episode.final,
                stamp=trajectory.steps[-1].stamp if trajectory.steps else 0,
            )
        )


def main() -> None:
    """Run the referee as a process."""
    sys.exit(run_node(EmmoeRefereeNode))
