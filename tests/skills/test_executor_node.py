"""The executor as a node, with the real monitor, a toy bridge and a toy skill server."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from homie_msgs import msg as messages
from homie_msgs.action import ExecuteSkill, ExecuteSubtask
from rclpy.action import ActionClient

from homie_monitor.monitor_node import MonitorNode
from homie_ros.domains import DomainReservation
from homie_ros.fastdds import PROFILE_VARIABLE, profile_path
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.parameters import ParameterError
from homie_ros.waiting import ActionOutcome, send_goal, wait_until
from homie_skills.executor_node import ExecutorNode
from support.graph import fresh_host
from support.peers import Failure, Interference, ToyBridge, ToySkillServer, drop, fail, hang, lose_robot, once_it_runs
from support.toy_house import ToyWorld, house, stand_at

CAN = "potted_meat_can_1"
PICK = messages.Subtask(action="Pick", target="green can", model="RT-1-X")
SECONDS = 20.0


class Caller(HomieNode):
    """Sends subtasks."""

    def __init__(self, **options: Any) -> None:
        super().__init__("caller", **options)
        self.client = ActionClient(self, ExecuteSubtask, "execute_subtask")
        self.phases: list[tuple[str, int]] = []

    def send(
        self, subtask: messages.Subtask, inventory: tuple[str, ...] = (), cancelled: threading.Event | None = None
    ) -> ActionOutcome[ExecuteSubtask.Result]:
        goal = ExecuteSubtask.Goal(episode_id="e1", seed=9, step=2, subtask=subtask, inventory=list(inventory))
        return send_goal(self.client, goal, SECONDS, feedback=self._note, cancelled=cancelled)

    def _note(self, feedback: ExecuteSubtask.Feedback) -> None:
        self.phases.append((feedback.phase, feedback.attempt))


@dataclass
class Graph:
    host: NodeHost
    bridge: ToyBridge
    skills: ToySkillServer
    caller: Caller


@contextmanager
def graph(interfere: Interference | None = None) -> Iterator[Graph]:
    with fresh_host() as host:
        bridge = host.add(ToyBridge, world=ToyWorld(stand_at(house(), "brown_table")))
        host.add(MonitorNode, parameters={"world_state_seconds": 1.0})
        skills = host.add(ToySkillServer, bridge=bridge, interfere=interfere)
        host.add(ExecutorNode, parameters={"check_seconds": 5.0})
        yield Graph(host, bridge, skills, host.add(Caller))


def test_a_subtask_is_carried_out() -> None:
    with graph() as g:
        outcome = g.caller.send(PICK)
        result = outcome.result
        assert outcome.succeeded
        assert (result.success, result.error_code, result.feedback, result.attempts) == (True, "", "None", 1)
        assert list(result.inventory) == ["green can"]
        assert result.stamp.sec == 1
        assert not result.infrastructure_failure
        assert (result.target_id, result.destination_id, result.note) == (CAN, "", "")
        assert g.skills.goals == [("reset_arm", "", ""), ("pick", CAN, "")]
        assert g.bridge.world.state.held == CAN
        wait_until(lambda: len(g.caller.phases) == 3, SECONDS, "the feedback")
        assert g.caller.phases == [("check", 0), ("reset_arm", 1), ("pick", 1)]


def test_a_put_names_object_and_place() -> None:
    with graph() as g:
        g.bridge.world.act("pick", CAN)
        result = g.caller.send(
            messages.Subtask(action="Put", target="green can", destination="brown_table"), ("green can",)
        ).result
        assert result.success
        assert list(result.inventory) == []
        assert (result.target_id, result.destination_id) == (CAN, "brown_table")
        assert g.skills.goals[-1] == ("put", CAN, "brown_table")


def test_an_ambiguous_name_is_told_about() -> None:
    with graph() as g:
        result = g.caller.send(messages.Subtask(action="Pick", target="can")).result
        assert result.success
        assert result.target_id == CAN
        assert result.note == "'can' is ambiguous; of potted_meat_can, tuna_fish_can it means potted_meat_can"


def test_a_failed_check_moves_nothing() -> None:
    with graph() as g:
        result = g.caller.send(messages.Subtask(action="Open", target="fridge")).result
        assert (result.success, result.error_code, result.attempts) == (False, "D1", 0)
        assert g.skills.goals == []


def test_three_failures_are_too_difficult() -> None:
    with graph(fail) as g:
        outcome = g.caller.send(PICK)
        result = outcome.result
        assert outcome.succeeded
        assert (result.success, result.error_code, result.attempts) == (False, "E1", 3)
        assert result.feedback == "Unable to pick, the subtask is too difficult to perform"
        assert "no grasp (711)" in result.detail
        assert [skill for skill, _, _ in g.skills.goals] == ["reset_arm", "pick"] * 3
        assert g.skills.seeds == [(9, 2, attempt) for attempt in (1, 1, 2, 2, 3, 3)]


def test_an_object_dropped_while_putting_is_missing_and_not_tried_again() -> None:
    with graph() as g:

        def interfere(goal: ExecuteSkill.Goal, cancelled: threading.Event) -> Failure | None:
            drop(g.bridge)
            return fail(goal, cancelled)

        g.bridge.world.act("pick", CAN)
        g.skills._interfere = interfere
        put = messages.Subtask(action="Put", target="green can", destination="brown_table")
        result = g.caller.send(put, ("green can",)).result
        assert (result.success, result.error_code, result.attempts) == (False, "E2", 1)
        assert list(result.inventory) == []


def test_cancelling_a_subtask_cancels_its_skill() -> None:
    with graph(hang) as g:
        cancelled = threading.Event()
        with once_it_runs(g.skills, cancelled.set):
            outcome = g.caller.send(PICK, cancelled=cancelled)
        assert outcome.canceled
        assert g.skills.goals == [("reset_arm", "", ""), ("pick", CAN, "")]
        assert g.bridge.world.state.held == ""
        g.skills._interfere = None
        assert g.caller.send(PICK).result.success


def test_a_clock_that_stands_still_is_an_infrastructure_failure() -> None:
    with graph() as g:
        g.bridge.frozen = 0
        result = g.caller.send(PICK).result
        assert result.infrastructure_failure
        assert "the world's clock stands at 0.000 s" in result.detail


def test_a_monitor_that_is_not_there_is_an_infrastructure_failure() -> None:
    with fresh_host() as host:
        host.add(ExecutorNode, parameters={"check_seconds": 0.5})
        outcome = host.add(Caller).send(PICK)
        assert outcome.aborted
        assert outcome.result.infrastructure_failure
        assert "check_subtask" in outcome.result.detail


def test_a_robot_that_is_gone_is_an_infrastructure_failure() -> None:
    with graph(lose_robot) as g:
        outcome = g.caller.send(PICK)
        assert outcome.aborted
        assert outcome.result.infrastructure_failure
        assert outcome.result.detail == "skill server m3: the robot is gone"
        assert [skill for skill, _, _ in g.skills.goals] == ["reset_arm", "pick"]


HANGING_SERVER = """
import sys
from homie_ros.node_host import NodeHost
from support.peers import ToyBridge, ToySkillServer, hang
from support.toy_house import ToyWorld

with NodeHost(domain_id=int(sys.argv[1])) as host:
    bridge = host.add(ToyBridge, world=ToyWorld(), namespace="elsewhere")
    server = host.add(ToySkillServer, bridge=bridge, interfere=hang)
    server.started.wait(60)
    print("started", flush=True)
    host.wait(60)
"""


def test_a_skill_server_that_is_killed_is_an_infrastructure_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROFILE_VARIABLE, str(profile_path()))
    with DomainReservation() as domain, NodeHost(domain_id=domain.id) as host:
        host.add(ToyBridge, world=ToyWorld(stand_at(house(), "brown_table")))
        host.add(MonitorNode)
        host.add(ExecutorNode)
        caller = host.add(Caller)
        command = [sys.executable, "-c", HANGING_SERVER, str(domain.id)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:

            def kill_in_the_middle() -> None:
                if server.stdout is not None:
                    server.stdout.readline()
                os.kill(server.pid, signal.SIGKILL)

            killer = threading.Thread(target=kill_in_the_middle)
            killer.start()
            outcome = caller.send(PICK)
            killer.join()
        assert outcome.aborted
        assert outcome.result.infrastructure_failure
        assert "skill pick of server m3" in outcome.result.detail


@pytest.mark.parametrize("server", ["M3", "M3=", "GraspNet=m3", "M3=../m3", "M3=m3/execute", "m3=m3"])
def test_only_listed_models_and_plain_names_are_servers(server: str) -> None:
    with fresh_host() as host, pytest.raises(ParameterError, match="must be MODEL=server"):
        host.add(ExecutorNode, parameters={"servers": [server]})
