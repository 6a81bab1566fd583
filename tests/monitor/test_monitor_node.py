"""The monitor as a node, against a real bridge of a toy world."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from homie_msgs import msg as messages
from homie_msgs.srv import CheckSubtask
from rclpy.client import Client

from homie_core.world_state import FLOOR
from homie_monitor.monitor_node import MonitorNode
from homie_ros.conversions import time_to_msg
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.parameters import ParameterError
from homie_ros.waiting import call_service
from support.graph import fresh_host
from support.peers import Listener, ToyBridge, drop
from support.toy_house import ToyWorld, house, put, stand_at

CAN = "potted_meat_can_1"
GO_TO_FRIDGE = messages.Subtask(action="Go to", target="fridge", model="M3")
PICK = messages.Subtask(action="Pick", target="green can", model="M3")


class Caller(HomieNode):
    """Asks the monitor."""

    def __init__(self, **options: Any) -> None:
        super().__init__("caller", **options)
        self.check: Client = self.create_client(CheckSubtask, "check_subtask")


@dataclass
class Graph:
    host: NodeHost
    bridge: ToyBridge
    caller: Caller
    listener: Listener

    def ask(self, phase: str, subtask: messages.Subtask, **fields: object) -> CheckSubtask.Response:
        request = CheckSubtask.Request(episode_id="e1", step=3, phase=phase, subtask=subtask, **fields)
        return call_service(self.caller.check, request, 20.0)


@pytest.fixture
def graph(request: pytest.FixtureRequest) -> Iterator[Graph]:
    parameters = {"world_state_seconds": 1.0, **getattr(request, "param", {})}
    with fresh_host() as host:
        bridge = host.add(ToyBridge, world=ToyWorld(stand_at(house(), "brown_table")))
        host.add(MonitorNode, parameters=parameters)
        listener = host.add(Listener, topics={"monitor/error": messages.ErrorEvent})
        yield Graph(host, bridge, host.add(Caller), listener)


def test_a_subtask_that_may_start_is_resolved_to_ids(graph: Graph) -> None:
    answer = graph.ask("before", PICK)
    assert (answer.success, answer.ok, answer.code, answer.feedback) == (True, True, "", "None")
    assert answer.object_id == CAN
    assert answer.hand_known
    assert answer.hand == ""
    assert graph.listener.heard["monitor/error"] == []


def test_an_error_before_is_answered_and_published(graph: Graph) -> None:
    answer = graph.ask("before", messages.Subtask(action="Open", target="fridge", model="M3"))
    assert (answer.success, answer.ok, answer.code) == (True, False, "D1")
    (event,) = graph.listener.wait_for("monitor/error")
    assert (event.episode_id, event.step, event.attempt, event.phase, event.code) == ("e1", 3, 0, "before", "D1")
    assert event.feedback == answer.feedback == "Unable to open, the target is far away"
    assert "> 2.00 m" in event.detail


def test_a_try_is_judged_from_the_world_and_not_from_the_claim(graph: Graph) -> None:
    answer = graph.ask("after", PICK, object_id=CAN, attempt=2, skill_success=True)
    assert (answer.ok, answer.code, answer.retry) == (False, "E1", True)
    (event,) = graph.listener.wait_for("monitor/error")
    assert (event.phase, event.code, event.attempt) == ("after", "E1", 2)
    graph.bridge.world.act("pick", CAN)
    answer = graph.ask("after", PICK, object_id=CAN, attempt=3, skill_success=False)
    assert (answer.ok, answer.hand) == (True, "potted_meat_can")


def test_a_loss_on_the_way_is_one_error_found_during(graph: Graph) -> None:
    world = graph.bridge.world
    world.act("pick", CAN)
    assert graph.ask("before", GO_TO_FRIDGE, inventory=["green can"]).ok
    drop(graph.bridge)
    (event,) = graph.listener.wait_for("monitor/error")
    assert (event.phase, event.code) == ("during", "E2")
    world.act("go_to", "fridge")
    stamp = time_to_msg(world.state.stamp)
    answer = graph.ask(
        "after", GO_TO_FRIDGE, inventory=["green can"], object_id="fridge", attempt=1, skill_success=True, stamp=stamp
    )
    assert (answer.ok, answer.code, answer.retry, answer.hand) == (False, "E2", False, "")
    assert answer.feedback == "Unable to go to, and the object is missing"
    assert len(graph.listener.heard["monitor/error"]) == 1


def test_a_loss_that_no_message_told_is_found_at_the_end(graph: Graph) -> None:
    world = graph.bridge.world
    world.act("pick", CAN)
    assert graph.ask("before", GO_TO_FRIDGE, inventory=["green can"]).ok
    world.act("put", CAN, FLOOR)
    answer = graph.ask("after", GO_TO_FRIDGE, inventory=["green can"], object_id="fridge", attempt=1)
    assert (answer.code, answer.retry) == ("E2", False)
    (event,) = graph.listener.wait_for("monitor/error")
    assert (event.phase, event.code) == ("during", "E2")


def test_a_stall_is_told_as_something_that_happened_during_the_try(graph: Graph) -> None:
    assert graph.ask("before", PICK).ok
    told = {"object_id": CAN, "attempt": 1, "skill_message": "it fell", "skill_error_code": 715}
    assert graph.ask("after", PICK, **told).code == "E1"
    during, after = graph.listener.wait_for("monitor/error", 2)
    assert (during.phase, during.code, during.detail, during.attempt) == ("during", "E1", "stall: it fell", 1)
    assert (after.phase, after.code) == ("after", "E1")


def test_a_collision_in_a_try_that_succeeds_is_no_error(graph: Graph) -> None:
    world = graph.bridge.world
    assert graph.ask("before", PICK).ok
    world.act("pick", CAN)
    world.state = put(world.state, "bowl_1", FLOOR)
    assert graph.ask("after", PICK, object_id=CAN, attempt=1, skill_success=True).ok
    (event,) = graph.listener.wait_for("monitor/error")
    assert (event.phase, event.code, event.feedback) == ("during", "", "")
    assert event.detail.startswith("collision: bowl_1 was pushed")


def test_an_unknown_error_code_of_a_skill_is_refused(graph: Graph) -> None:
    answer = graph.ask("after", PICK, object_id=CAN, skill_error_code=3)
    assert not answer.success
    assert answer.message.startswith("skill_error_code 3 is unknown; allowed: 0, 700")


def test_a_clock_that_stands_still_is_no_answer_but_no_hang_either(graph: Graph) -> None:
    graph.bridge.frozen = 1_000_000_000
    answer = graph.ask("after", PICK, object_id=CAN, stamp=time_to_msg(2_000_000_000))
    assert not answer.success
    assert "a world state of 2.000 s; the world's clock stands at 1.000 s" in answer.message


def test_an_unknown_phase_is_refused(graph: Graph) -> None:
    answer = graph.ask("between", PICK)
    assert not answer.success
    assert answer.message == "phase 'between' is unknown; allowed: before, after"


def test_without_a_bridge_it_says_so() -> None:
    with fresh_host() as host:
        host.add(MonitorNode, parameters={"world_state_seconds": 0.3})
        caller = host.add(Caller)
        answer = call_service(caller.check, CheckSubtask.Request(phase="before", subtask=PICK), 20.0)
        assert not answer.success
        assert "get_world_state" in answer.message


def test_without_background_information_it_needs_no_bridge() -> None:
    with fresh_host() as host:
        host.add(MonitorNode, parameters={"setting": "no_background_information"})
        caller = host.add(Caller)
        subtask = messages.Subtask(action="Pick", target="the green can", model="RT-1-X")
        answer = call_service(caller.check, CheckSubtask.Request(phase="before", subtask=subtask), 20.0)
        assert (answer.success, answer.ok, answer.hand_known) == (True, True, False)
        assert answer.object_id == "potted_meat_can"
        put_can = messages.Subtask(action="Put", target="the green can", destination="sofa", model="RT-1-X")
        lost = CheckSubtask.Request(phase="after", subtask=put_can, inventory=["green can"], fingers_shut=True)
        answer = call_service(caller.check, lost, 20.0)
        assert (answer.success, answer.code, answer.hand_known, answer.hand) == (True, "E2", True, "")


def test_a_wrong_setting_is_named() -> None:
    with fresh_host() as host, pytest.raises(ParameterError, match="no_background_information"):
        host.add(MonitorNode, parameters={"setting": "all"})


def test_the_newest_world_counts(graph: Graph) -> None:
    """A change that was never published is seen, because the state is asked for."""
    graph.bridge.world.state = put(graph.bridge.world.state, CAN, "fridge")
    assert graph.ask("before", PICK).code == "L3"
