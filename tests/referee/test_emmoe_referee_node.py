"""The live referee scores a real episode as the bag's scorer does, whatever order the events come in."""

from __future__ import annotations

from typing import Any

import pytest
from homie_msgs import msg as messages

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.from_messages import metrics_from_msg
from homie_core.subtask import Subtask
from homie_core.world_state import Kind, ObjectState, WorldState
from homie_eval.emmoe.metrics import score_episode
from homie_eval.emmoe.tasks import Task
from homie_eval.trajectory import TrajectoryBuilder
from homie_referee.emmoe_referee_node import EmmoeRefereeNode
from homie_ros import conversions as c
from homie_ros import qos
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.waiting import wait_until
from support.graph import fresh_host

TASK = Task(
    id="1_apple_to_fridge",
    instruction="put the apple in the fridge",
    scene="house_1",
    key_paths=[["[Pick, apple]", "[Put, apple, fridge]", "[End]"]],
    goal=[{"in": "fridge", "object": "apple"}],
    attributes=("short_horizon",),
    expert_length=3,
)
STEPS = (
    Step(1, Subtask("Pick", "apple"), True, stamp=10),
    Step(2, Subtask("Put", "apple", "fridge"), True, stamp=20),
    Step(3, Subtask("End"), True, stamp=20),
)


def info(episode: str = "one", task: str = "", benchmark: str = "emmoe") -> EpisodeInfo:
    return EpisodeInfo(
        episode, benchmark, TASK.id, TASK.instruction, TASK.scene, 1, 1, "expert", "x", task_json=task or TASK.to_json()
    )


def world_state(stamp: int, parent: str) -> WorldState:
    fridge = ObjectState("fridge", "fridge", Kind.CONTAINER, (0, 0, 0), open_fraction=1.0)
    return WorldState(
        "house_1", stamp, (ObjectState("apple_1", "apple", Kind.OBJECT, (0, 0, 0), parent=parent), fridge), (0, 0, 0)
    )


class Episode(HomieNode):
    """Publishes an episode and keeps the scores."""

    def __init__(self, **options: Any) -> None:
        super().__init__("episode", **options)
        self.scores: list[messages.Score] = []
        self._info = self.create_publisher(messages.EpisodeInfo, "episode/info", qos.events())
        self._step = self.create_publisher(messages.StepRecord, "episode/step", qos.events())
        self._result = self.create_publisher(messages.EpisodeResult, "episode/result", qos.events())
        self._state = self.create_publisher(messages.WorldState, "world_state", qos.state())
        self.create_subscription(messages.Score, "referee/emmoe/score", self.scores.append, qos.events())

    def begin(self, episode: EpisodeInfo) -> None:
        self._info.publish(c.episode_info_to_msg(episode))

    def step(self, step: Step, episode: str = "one") -> None:
        self._step.publish(c.step_to_msg(step, episode))

    def end(self, steps: int = 3, episode: str = "one", stamp: int = 20) -> None:
        self._result.publish(c.episode_result_to_msg(EpisodeResult(Outcome.ENDED, steps), episode, stamp))

    def state(self, state: WorldState) -> None:
        self._state.publish(c.world_state_to_msg(state))

    def until(self, count: int) -> messages.Score:
        wait_until(lambda: len(self.scores) >= count, 10, f"{count} scores", context=self.context)
        return self.scores[-1]


def graph(host: NodeHost, **parameters: Any) -> Episode:
    episode = host.add(Episode)
    host.add(EmmoeRefereeNode, parameters=parameters)
    return episode


def play(episode: Episode) -> messages.Score:
    """The events one by one, each after the referee has answered the one before."""
    episode.state(world_state(0, "table"))
    episode.begin(info())
    for step in STEPS:
        episode.step(step)
        assert not episode.until(step.index).final
    episode.state(world_state(20, "fridge"))
    episode.end()
    return episode.until(4)


def test_a_score_after_every_step_and_the_final_one_as_offline() -> None:
    with fresh_host() as host:
        final = play(graph(host))
    builder = TrajectoryBuilder()
    builder.on_world_state(0, lambda: world_state(0, "table"))
    builder.on_info(info())
    for step in STEPS:
        builder.on_step("one", step)
    builder.on_world_state(20, lambda: world_state(20, "fridge"))
    builder.on_result("one", EpisodeResult(Outcome.ENDED, 3), 20)
    offline = score_episode(builder.trajectory("one"), TASK)
    assert final.final
    assert metrics_from_msg(final) == pytest.approx(
        {name: value.number for name, value in offline.values.items()}, nan_ok=True, abs=0
    )
    assert tuple(final.explanation) == offline.explanation()
    assert (final.steps, final.header.stamp.nanosec) == (3, 20)
    assert metrics_from_msg(final)["SR"] == 1.0
    assert metrics_from_msg(final)["GC"] == 1.0


def test_the_final_score_waits_for_the_world_state_of_the_end() -> None:
    with fresh_host() as host:
        episode = graph(host)
        episode.state(world_state(0, "table"))
        episode.begin(info())
        episode.end()
        for step in STEPS:
            episode.step(step)
        assert not episode.until(3).final
        episode.state(world_state(20, "fridge"))
        final = episode.until(4)
        assert final.final
        assert metrics_from_msg(final)["GC"] == 1.0


def test_without_that_state_it_is_scored_at_the_deadline() -> None:
    with fresh_host() as host:
        episode = graph(host, state_seconds=0.5)
        episode.begin(info())
        for step in STEPS:
            episode.step(step)
        episode.until(3)
        episode.end()
        final = episode.until(4)
        assert final.final
        assert any("no world state" in line for line in final.explanation)


def test_many_episodes_one_after_the_other() -> None:
    with fresh_host() as host:
        episode = graph(host)
        for number in range(3):
            name = f"episode {number}"
            episode.state(world_state(0, "table"))
            episode.begin(info(name))
            for step in STEPS:
                episode.step(step, name)
            episode.until(number * 4 + 3)
            episode.state(world_state(20, "fridge" if number == 1 else "table"))
            episode.end(episode=name)
            final = episode.until(number * 4 + 4)
            assert (final.episode_id, final.final) == (name, True)
            assert metrics_from_msg(final)["GC"] == float(number == 1)


def test_other_benchmarks_and_broken_tasks_are_left_alone() -> None:
    with fresh_host() as host:
        episode = graph(host)
        episode.begin(info("muep", benchmark="muep"))
        episode.step(STEPS[0], "muep")
        episode.begin(info("broken", task="{"))
        episode.step(STEPS[0], "broken")
        final = play(episode)
        host.check()
        assert final.final
        assert {score.episode_id for score in episode.scores} == {"one"}
