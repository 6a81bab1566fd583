"""The bridge's native skills over ROS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from homie_msgs.action import ExecuteSkill
from homie_msgs.msg import WorldState as WorldStateMessage
from homie_msgs.srv import GetObservation, GetWorldState, ResetEpisode
from rclpy.action import ActionClient

from homie_core.from_messages import time_from_msg, world_state_from_msg
from homie_core.world_state import WorldState
from homie_ros import qos
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.parameters import ParameterError
from homie_ros.waiting import ActionOutcome, call_service, require_success, send_goal, wait_until
from homie_sim.mujoco_bridge_node import MujocoBridgeNode
from homie_sim.native.server import ACTION
from support.graph import fresh_host

CAN = "potted_meat_can_1"
PARAMETERS = {"render": False, "views": False, "video_fps": 0.0, "native_skills": True}


class Client(HomieNode):
    """Asks for skills, and hears what the bridge tells."""

    def __init__(self, **options: Any) -> None:
        super().__init__("client", **options)
        self.states: list[WorldStateMessage] = []
        self.action = ActionClient(self, ExecuteSkill, ACTION)
        self._reset = self.create_client(ResetEpisode, "reset_episode")
        self._observe = self.create_client(GetObservation, "get_observation")
        self._state = self.create_client(GetWorldState, "get_world_state")
        self.create_subscription(WorldStateMessage, "world_state", self.states.append, qos.state())

    def reset(self) -> None:
        require_success(call_service(self._reset, ResetEpisode.Request(seed=1), 60), "reset_episode")

    def observe(self) -> Any:
        return require_success(call_service(self._observe, GetObservation.Request(), 60), "get_observation").observation

    def state(self) -> WorldState:
        response = require_success(call_service(self._state, GetWorldState.Request(), 60), "get_world_state")
        return world_state_from_msg(response.state)

    def execute(self, skill: str, target: str = "", receptacle: str = "", **fields: Any) -> ActionOutcome[Any]:
        goal = ExecuteSkill.Goal(skill=skill, object=target, receptacle=receptacle, timeout=180.0, **fields)
        return send_goal(self.action, goal, 60)


@pytest.fixture(scope="module")
def host() -> Iterator[NodeHost]:
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters=PARAMETERS)
        yield host
        host.check()


@pytest.fixture(scope="module")
def shared_client(host: NodeHost) -> Client:
    return host.add(Client)


@pytest.fixture
def client(shared_client: Client) -> Client:
    shared_client.reset()
    return shared_client


def test_a_skill_that_changes_nothing_publishes_nothing(client: Client) -> None:
    assert client.execute("go_to", CAN).succeeded
    stamp = client.state().stamp
    wait_until(lambda: bool(client.states) and time_from_msg(client.states[-1].header.stamp) == stamp, 10, "the state")
    heard = len(client.states)
    for _ in range(3):  # the arm is folded already
        assert time_from_msg(client.execute("reset_arm").result.stamp) == stamp
    assert client.execute("open", "fridge").succeeded
    wait_until(lambda: time_from_msg(client.states[-1].header.stamp) > stamp, 10, "the next state")
    assert len(client.states) == heard + 1


def test_a_skill_changes_the_world_at_once(client: Client) -> None:
    outcome = client.execute("pick", CAN)
    assert outcome.succeeded
    assert (outcome.result.success, outcome.result.error_code, outcome.result.error_msg) == (True, 0, "")
    state = client.state()
    assert state.held == CAN
    assert state.stamp == time_from_msg(outcome.result.stamp) > 0


def test_the_new_state_is_told(client: Client) -> None:
    stamp = client.execute("pick", CAN).result.stamp
    wait_until(lambda: client.states[-1].header.stamp == stamp, 5, "the world state after the skill")
    assert client.states[-1].held == CAN


def test_a_failed_try_says_why(client: Client) -> None:
    outcome = client.execute("pick", "tuna_fish_can_1")
    assert outcome.aborted
    assert outcome.result.error_code == ExecuteSkill.Goal.NO_GRASP
    assert "closed" in outcome.result.error_msg
    assert outcome.result.stamp.sec > 0


def test_an_unknown_skill_is_refused(client: Client) -> None:
    assert client.execute("dance").result.error_code == ExecuteSkill.Goal.UNKNOWN_SKILL


def test_observations_hold_no_views_but_their_time(client: Client) -> None:
    stamp = client.execute("go_to", "sofa").result.stamp
    observation = client.observe()
    assert observation.header.stamp == stamp
    assert list(observation.views) == []


def test_luck_is_drawn_from_the_goal() -> None:
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters={**PARAMETERS, "success_rates": "pick=0.5"})
        client = host.add(Client)
        tries = [{"seed": seed, "step": 3, "attempt": 2} for seed in range(8)]
        outcomes = []
        for order in (tries, tries[::-1]):
            found = []
            for each in order:
                client.reset()
                found.append((each["seed"], client.execute("pick", CAN, "", **each).result.success))
            outcomes.append(sorted(found))
        assert outcomes[0] == outcomes[1]
        assert {success for _, success in outcomes[0]} == {True, False}
        host.check()


def test_without_the_parameter_there_are_none() -> None:
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters={**PARAMETERS, "native_skills": False})
        client = host.add(Client)
        client.reset()
        assert not client.action.server_is_ready()


def test_a_wrong_rate_is_named_at_the_start() -> None:
    with fresh_host() as host, pytest.raises(ParameterError, match="success_rates") as caught:
        host.add(MujocoBridgeNode, parameters={**PARAMETERS, "success_rates": "fly=0.5"})
    assert "fly" in str(caught.value)
