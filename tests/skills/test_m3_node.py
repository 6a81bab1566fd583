"""The skill server's part: waiting for the world, seeds, results, cancelling. The skills themselves are stand-ins."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from homie_msgs.action import ExecuteSkill
from homie_msgs.srv import GetWorldState
from rclpy.action import ActionClient
from std_msgs.msg import String

from homie_core import fetch
from homie_core.from_messages import time_from_msg
from homie_core.world_state import WorldState
from homie_ros import qos
from homie_ros.conversions import world_state_to_msg
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.parameters import ParameterError
from homie_ros.waiting import ActionOutcome, send_goal
from homie_ros.worker_service import WorkerService
from homie_sim.world import MujocoWorld
from homie_skills import m3_node
from homie_skills.m3 import M3, SkillOutcome
from homie_skills.m3_node import M3Node, seed_of
from homie_skills.robot import CommandRejected, Robot, SkillCancelled, SkillError, SkillErrorCode
from support.direct_robot import DirectRobot
from support.graph import fresh_host


class World(HomieNode):
    """Describes itself and tells its state."""

    def __init__(self, **options: Any) -> None:
        super().__init__("world", **options)
        self.now = 0
        self.alive = True
        self._descriptions = self.create_publisher(String, "world_description", qos.state())
        WorkerService(self, GetWorldState, "get_world_state", self._state)

    def describe(self, text: str) -> None:
        self._descriptions.publish(String(data=text))

    def _state(self, _: GetWorldState.Request) -> GetWorldState.Response:
        if not self.alive:
            return GetWorldState.Response(message="the simulation has stopped")
        return GetWorldState.Response(
            success=True, state=world_state_to_msg(WorldState("test", self.now, (), (0, 0, 0)))
        )


class StandIn:
    """In the place of M3: what it does is in the name of the target."""

    made: list[StandIn] = []  # noqa: RUF012 - cleared by the fixture

    def __init__(self, robot: Robot, mjcf: str, assets: Mapping[str, bytes], rng: np.random.Generator) -> None:
        self.robot = robot
        self.mjcf = mjcf
        self.rng = rng
        self.numbers: list[float] = []
        StandIn.made.append(self)

    def execute(
        self,
        skill: str,
        target: str,
        receptacle: str,
        timeout: float,
        progress: Callable[[str, float], None],
        cancelled: Callable[[], bool],
    ) -> SkillOutcome:
        self.numbers.append(float(self.rng.random()))
        progress("approach", 0.5)
        try:
            self._act(target, cancelled)
        except SkillError as error:
            return SkillOutcome(False, error.code, str(error))
        return SkillOutcome(True, SkillErrorCode.NONE, "")

    def _act(self, target: str, cancelled: Callable[[], bool]) -> None:
        match target:
            case "refused":
                raise CommandRejected("too fast")
            case "bug":
                raise IndexError("list index out of range")
            case "state":
                self.robot.world_state()
            case "forever":
                end = time.monotonic() + 20
                while not cancelled() and time.monotonic() < end:
                    time.sleep(0.01)
                raise SkillCancelled("cancelled during approach")


class Setup:
    """A skill server with stand-in skills, its world and a client."""

    def __init__(self, host: NodeHost, description: str = "a house") -> None:
        self.world = host.add(World)
        if description:
            self.world.describe(description)
        self.server = host.add(M3Node, parameters={"world_seconds": 3.0 if description else 0.3})
        self.client = host.add(lambda **options: HomieNode("client", **options))
        self.action = ActionClient(self.client, ExecuteSkill, "skills/m3/execute")

    def execute(
        self,
        target: str = "apple_1",
        skill: str = "pick",
        feedback: Callable[[Any], None] | None = None,
        cancelled: threading.Event | None = None,
        **fields: Any,
    ) -> ActionOutcome[Any]:
        goal = ExecuteSkill.Goal(skill=skill, object=target, timeout=60.0, **fields)
        return send_goal(self.action, goal, 60, feedback=feedback, cancelled=cancelled)


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    StandIn.made = []
    monkeypatch.setattr(m3_node, "M3", StandIn)
    monkeypatch.setattr(m3_node, "mesh_assets", dict)


@pytest.fixture
def setup() -> Iterator[Setup]:
    with fresh_host() as host:
        yield Setup(host)
        host.check()


def test_a_try_that_succeeds(setup: Setup) -> None:
    setup.world.now = 7
    heard: list[Any] = []
    outcome = setup.execute(feedback=heard.append)
    assert outcome.succeeded
    assert (outcome.result.success, outcome.result.error_code, time_from_msg(outcome.result.stamp)) == (True, 0, 7)
    assert [(message.phase, message.progress) for message in heard] == [("approach", 0.5)]


def test_a_refused_command_is_a_failed_try(setup: Setup) -> None:
    outcome = setup.execute("refused")
    assert outcome.aborted
    assert (outcome.result.error_code, outcome.result.error_msg) == (ExecuteSkill.Goal.NO_MOTION, "too fast")


def test_a_robot_that_is_gone_is_a_failure_of_the_machinery(setup: Setup) -> None:
    setup.world.alive = False
    outcome = setup.execute("state")
    assert outcome.aborted
    assert outcome.result.error_code == ExecuteSkill.Goal.ROBOT_FAILURE
    assert "the simulation has stopped" in outcome.result.error_msg
    setup.world.alive = True
    assert setup.execute("state").succeeded


def test_a_bug_is_a_failure_of_the_machinery(setup: Setup) -> None:
    outcome = setup.execute("bug")
    assert outcome.aborted
    assert outcome.result.error_code == ExecuteSkill.Goal.ROBOT_FAILURE
    assert outcome.result.error_msg == "IndexError: list index out of range"
    assert setup.execute().succeeded


def test_a_cancelled_try(setup: Setup) -> None:
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    start = time.monotonic()
    outcome = setup.execute("forever", cancelled=cancelled)
    assert outcome.canceled
    assert time.monotonic() - start < 2
    assert setup.execute().succeeded


def test_skills_outside_of_the_allow_list() -> None:
    with fresh_host() as host:
        setup = Setup(host)
        outcome = setup.execute(skill="dance")
        assert outcome.aborted
        assert outcome.result.error_code == ExecuteSkill.Goal.UNKNOWN_SKILL
        assert outcome.result.error_msg.startswith("skill 'dance' is not allowed; allowed: go_to, pick")
        with pytest.raises(ParameterError, match=r"skills of node m3_skill_server.*unknown: dance; allowed: go_to"):
            host.add(M3Node, parameters={"skills": ["pick", "dance"]}, namespace="other")


def test_a_world_that_does_not_describe_itself() -> None:
    with fresh_host() as host:
        outcome = Setup(host, description="").execute()
    assert outcome.aborted
    assert outcome.result.error_code == ExecuteSkill.Goal.ROBOT_FAILURE
    assert "waited 0.3 s for world_description" in outcome.result.error_msg


def test_planners_are_made_anew_only_for_another_world(setup: Setup) -> None:
    for _ in range(3):
        setup.execute()
    assert [m3.mjcf for m3 in StandIn.made] == ["a house"]
    setup.world.describe("another house")
    end = time.monotonic() + 10
    while StandIn.made[-1].mjcf != "another house" and time.monotonic() < end:
        setup.execute()
    assert [m3.mjcf for m3 in StandIn.made] == ["a house", "another house"]


GOALS: tuple[dict[str, Any], ...] = (
    {"skill": "reset_arm", "seed": 3, "step": 1, "attempt": 1},
    {"skill": "pick", "seed": 3, "step": 1, "attempt": 1},
    {"skill": "pick", "seed": 3, "step": 1, "attempt": 2},
    {"skill": "pick", "seed": 3, "step": 2, "attempt": 1},
    {"skill": "pick", "seed": 4, "step": 1, "attempt": 1},
    {"skill": "pick", "seed": 2**32 + 3, "step": 1, "attempt": 1},
    {"skill": "pick", "seed": 2**64 - 1, "step": 2**32 - 1, "attempt": 255},
)


def test_what_was_asked_before_does_not_change_the_random_numbers(setup: Setup) -> None:
    def number(goal: dict[str, Any]) -> float:
        setup.execute(**goal)
        return StandIn.made[0].numbers[-1]

    first = [number(goal) for goal in GOALS]
    assert len(set(first)) == len(GOALS)
    setup.execute("refused", seed=8)
    assert [number(goal) for goal in reversed(GOALS)] == first[::-1]


def test_the_random_numbers_are_those_of_the_goal_alone() -> None:
    def number(**fields: Any) -> int:
        return int(seed_of(ExecuteSkill.Goal(**fields)).generate_state(1)[0])

    assert number(**GOALS[1]) == number(**GOALS[1], object="apple_1", receptacle="sofa", timeout=3.0)
    assert number(**GOALS[1]) == 3422639514  # the same on every machine, in every version


def test_the_real_skills_move_the_same_whatever_they_did_before(world: MujocoWorld, mjcf: str) -> None:
    rng = np.random.default_rng(0)
    m3 = M3(DirectRobot(world), mjcf, fetch.mesh_assets(), rng)

    def episode(seed: int, *calls: tuple[str, str]) -> list[tuple[SkillOutcome, int, list[float]]]:
        world.reset(seed)
        ends = []
        for step, (skill, target) in enumerate(calls, start=1):
            goal = ExecuteSkill.Goal(skill=skill, object=target, seed=seed, step=step, attempt=1)
            rng.bit_generator.state = np.random.PCG64(seed_of(goal)).state
            ends.append((m3.execute(skill, target), world.stamp, world.data.qpos.tolist()))
        return ends

    wanted = ("open", "fridge"), ("pick", "potted_meat_can_1")
    first = episode(5, *wanted)
    assert all(outcome.success for outcome, _, _ in first)
    episode(6, ("pick", "apple_1"), ("go_to", "sofa"))
    assert episode(5, *wanted) == first
