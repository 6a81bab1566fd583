"""Small real nodes that stand for the neighbours of a node under test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from homie_msgs import msg as messages
from homie_msgs.action import ExecuteSkill
from homie_msgs.srv import GetObservation, GetWorldState, ResetEpisode

from homie_core.world_state import FLOOR
from homie_ros import qos
from homie_ros.action_server import GoalEnd, RunningGoal, WorkerActionServer
from homie_ros.conversions import time_to_msg, world_state_to_msg
from homie_ros.homie_node import HomieNode
from homie_ros.images import observation_to_msg
from homie_ros.waiting import wait_until
from support.toy_house import ToyWorld, put

VIEWS = ("front", "left", "back", "right")
WAIT_SECONDS = 20.0


class ToyBridge(HomieNode):
    """A toy world behind the services of a bridge. ``frozen`` stops its clock for whoever looks."""

    def __init__(self, *, world: ToyWorld, **options: Any) -> None:
        super().__init__("bridge", **options)
        self.world = world
        self.frozen: int | None = None
        self.refuse = ""
        self._states = self.create_publisher(messages.WorldState, "world_state", qos.state())
        self.create_service(ResetEpisode, "reset_episode", self._reset)
        self.create_service(GetObservation, "get_observation", self._observe)
        self.create_service(GetWorldState, "get_world_state", self._state)

    def publish_state(self) -> None:
        self._states.publish(world_state_to_msg(self.world.state))

    def _reset(self, request: ResetEpisode.Request, response: ResetEpisode.Response) -> ResetEpisode.Response:
        self.world.reset()
        response.success, response.message = not self.refuse, self.refuse
        return response

    def _observe(self, request: GetObservation.Request, response: GetObservation.Response) -> GetObservation.Response:
        views = {name: np.full((256, 256, 3), 10 * index, np.uint8) for index, name in enumerate(VIEWS)}
        response.success = True
        response.observation = observation_to_msg(views, self.world.state.stamp)
        return response

    def _state(self, request: GetWorldState.Request, response: GetWorldState.Response) -> GetWorldState.Response:
        stamp = self.world.state.stamp if self.frozen is None else self.frozen
        response.success = True
        response.state = world_state_to_msg(replace(self.world.state, stamp=stamp))
        return response


Failure = tuple[int, str]
"""An error code of ExecuteSkill and its message."""

Interference = Callable[[ExecuteSkill.Goal, threading.Event], Failure | None]
"""Called before a skill acts, with its goal and cancel flag. A failure that it returns keeps the skill from acting."""


class ToySkillServer(HomieNode):
    """Skills that work at once in a toy world, unless something interferes."""

    def __init__(self, *, bridge: ToyBridge, interfere: Interference | None = None, **options: Any) -> None:
        super().__init__("m3_skill_server", **options)
        self.goals: list[tuple[str, str, str]] = []
        self.seeds: list[tuple[int, int, int]] = []
        """Seed, step and number of the try of each goal."""
        self.started = threading.Event()
        """Set when a skill other than the arm reset begins."""
        self._bridge = bridge
        self._interfere = interfere
        self._server = WorkerActionServer(self, ExecuteSkill, "skills/m3/execute", self._execute)

    def _execute(self, goal: RunningGoal) -> GoalEnd:
        request = goal.request
        self.goals.append((request.skill, request.object, request.receptacle))
        self.seeds.append((request.seed, request.step, request.attempt))
        failure: Failure | None = None
        if request.skill != "reset_arm":
            self.started.set()
            failure = None if self._interfere is None else self._interfere(request, goal.cancelled)
        if failure is None and not goal.cancelled.is_set():
            self._bridge.world.act(request.skill, request.object, request.receptacle)
            self._bridge.publish_state()
        result = ExecuteSkill.Result(success=failure is None, stamp=time_to_msg(self._bridge.world.state.stamp))
        if goal.cancelled.is_set():
            result.success = False
            return goal.canceled(result)
        if failure is None:
            return goal.succeed(result)
        result.error_code, result.error_msg = failure
        return goal.abort(result)


def hang(goal: ExecuteSkill.Goal, cancelled: threading.Event) -> Failure | None:
    """A skill that goes on until it is cancelled."""
    wait_until(cancelled.is_set, WAIT_SECONDS, "the skill to be cancelled")
    return None


@contextmanager
def once_it_runs(server: ToySkillServer, action: Callable[[], None]) -> Iterator[None]:
    """During this block something happens as soon as a skill has begun."""

    def wait() -> None:
        if server.started.wait(WAIT_SECONDS):
            action()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    yield
    waiting.join(WAIT_SECONDS)


def fail(goal: ExecuteSkill.Goal, cancelled: threading.Event) -> Failure | None:
    """A skill that fails at every try."""
    return ExecuteSkill.Goal.NO_GRASP, "no grasp"


def lose_robot(goal: ExecuteSkill.Goal, cancelled: threading.Event) -> Failure | None:
    """A skill server that has lost its robot."""
    return ExecuteSkill.Goal.ROBOT_FAILURE, "the robot is gone"


def drop(bridge: ToyBridge) -> None:
    """What is in the hand falls to the floor, and the bridge tells."""
    world = bridge.world
    if world.state.held:
        world.state = replace(put(world.state, world.state.held, FLOOR), held="")
        world.tick(0.1)
    bridge.publish_state()


class Listener(HomieNode):
    """Keeps every message of some topics, in order."""

    def __init__(self, *, topics: dict[str, Any], **options: Any) -> None:
        super().__init__("listener", **options)
        self.heard: dict[str, list[Any]] = {topic: [] for topic in topics}
        for topic, kind in topics.items():
            self.create_subscription(kind, topic, self.heard[topic].append, qos.events())

    def wait_for(self, topic: str, count: int = 1) -> list[Any]:
        """The messages of ``topic`` when there are at least ``count``."""
        heard = self.heard[topic]
        wait_until(lambda: len(heard) >= count, WAIT_SECONDS, f"{count} messages on {topic}", context=self.context)
        return heard
