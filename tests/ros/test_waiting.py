"""Waiting has deadlines, notices dead peers, and says what it waited for."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from homie_msgs.action import ExecuteSkill
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.task import Future
from std_srvs.srv import Trigger

from homie_ros.action_server import RESULT_TIMEOUT, GoalEnd, RunningGoal, WorkerActionServer
from homie_ros.domains import DomainReservation
from homie_ros.errors import CallFailed, DeadlineExceeded, InfrastructureError, Interrupted, NodeStopped, PeerLost
from homie_ros.fastdds import PROFILE_VARIABLE, profile_path
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.waiting import Deadline, call_service, require_success, send_goal, wait_until
from homie_ros.worker_service import WorkerService
from support.graph import fresh_host

SLEEPY_SERVER = """
import sys, threading
from homie_msgs.action import ExecuteSkill
from homie_ros.action_server import WorkerActionServer
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost

with NodeHost(domain_id=int(sys.argv[1])) as host:
    node = host.add(lambda **options: HomieNode("sleepy", **options))
    def work(goal):
        print("started", flush=True)
        goal.cancelled.wait(60)
        return goal.abort(ExecuteSkill.Result())
    WorkerActionServer(node, ExecuteSkill, "skill", work)
    host.wait(60)
"""


class Peer(HomieNode):
    def __init__(self, **options: Any) -> None:
        super().__init__("peer", **options)
        self.release = threading.Event()
        WorkerService(self, Trigger, "echo", lambda _: Trigger.Response(success=True, message="echo"))
        WorkerService(self, Trigger, "slow", self._slow)
        WorkerActionServer(self, ExecuteSkill, "skill", self._work)

    def _slow(self, _: Trigger.Request) -> Trigger.Response:
        self.release.wait(20)
        return Trigger.Response(success=True)

    def _work(self, goal: RunningGoal) -> GoalEnd:
        goal.cancelled.wait(20)
        return goal.canceled(ExecuteSkill.Result())


class Caller(HomieNode):
    def __init__(self, **options: Any) -> None:
        super().__init__("caller", **options)
        self.echo = self.create_client(Trigger, "echo")
        self.slow = self.create_client(Trigger, "slow")
        self.skill = ActionClient(self, ExecuteSkill, "skill")


def test_service_answers() -> None:
    with fresh_host() as host:
        host.add(Peer)
        caller = host.add(Caller)
        assert call_service(caller.echo, Trigger.Request(), 10).message == "echo"


def test_deadline_names_the_service_that_is_absent() -> None:
    with fresh_host() as host:
        caller = host.add(Caller)
        with pytest.raises(DeadlineExceeded, match=r"waited 0\.3 s for the echo of the wall to appear"):
            call_service(caller.echo, Trigger.Request(), 0.3, "the echo of the wall")


def test_deadline_of_a_slow_service_and_the_late_answer_is_dropped() -> None:
    with fresh_host() as host:
        peer = host.add(Peer)
        caller = host.add(Caller)
        call_service(caller.echo, Trigger.Request(), 10)
        with pytest.raises(DeadlineExceeded, match="service slow"):
            call_service(caller.slow, Trigger.Request(), 1.0)
        peer.release.set()
        assert call_service(caller.echo, Trigger.Request(), 10).success
        assert call_service(caller.slow, Trigger.Request(), 10).success
        host.check()


def test_interrupting_a_service_call() -> None:
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    with fresh_host() as host:
        peer = host.add(Peer)
        caller = host.add(Caller)
        with pytest.raises(Interrupted):
            call_service(caller.slow, Trigger.Request(), 20, cancelled=cancelled)
        peer.release.set()


def test_deadline_of_a_goal_cancels_it() -> None:
    with fresh_host() as host:
        host.add(Peer)
        caller = host.add(Caller)
        for _ in range(2):  # the second is accepted: the first one was cancelled
            with pytest.raises(DeadlineExceeded, match="action skill"):
                send_goal(caller.skill, ExecuteSkill.Goal(), 0.3)
            time.sleep(0.3)


def test_a_result_that_is_asked_for_too_late_is_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ClientGoalHandle.get_result_async

    def ask_late(handle: ClientGoalHandle) -> Future:
        time.sleep(RESULT_TIMEOUT + 1)
        return ask(handle)

    class Quick(HomieNode):
        def __init__(self, **options: Any) -> None:
            super().__init__("quick", **options)
            WorkerActionServer(self, ExecuteSkill, "skill", lambda goal: goal.succeed(ExecuteSkill.Result()))

    monkeypatch.setattr(ClientGoalHandle, "get_result_async", ask_late)
    with fresh_host() as host:
        host.add(Quick)
        caller = host.add(Caller)
        with pytest.raises(CallFailed, match="action skill failed: its server was asked for the result too late"):
            send_goal(caller.skill, ExecuteSkill.Goal(), 20)


def test_a_server_that_leaves_ends_its_goals() -> None:
    with fresh_host() as callers, NodeHost(domain_id=callers.context.get_domain_id()) as servers:
        servers.add(Peer)
        caller = callers.add(Caller)
        threading.Timer(0.7, servers.close).start()
        assert send_goal(caller.skill, ExecuteSkill.Goal(), 60).aborted


def test_a_server_that_vanishes_is_noticed() -> None:
    with fresh_host() as host:
        peer, caller = host.add(Peer), host.add(Caller)
        call_service(caller.echo, Trigger.Request(), 10)
        threading.Timer(0.5, peer.destroy_node).start()
        start = time.monotonic()
        with pytest.raises(PeerLost, match="went away during service slow"):
            call_service(caller.slow, Trigger.Request(), 60)
        assert time.monotonic() - start < 10
    peer.release.set()


def test_a_killed_server_is_noticed_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROFILE_VARIABLE, str(profile_path()))
    with DomainReservation() as domain:
        command = [sys.executable, "-c", SLEEPY_SERVER, str(domain.id)]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
            NodeHost(domain_id=domain.id) as host,
        ):
            caller = host.add(Caller)
            killer = threading.Thread(target=_kill_when_started, args=(server,))
            killer.start()
            with pytest.raises(PeerLost):
                send_goal(caller.skill, ExecuteSkill.Goal(), 60)
            killer.join(10)
            assert time.monotonic() - KILLED[0] < 10


KILLED: list[float] = []


def _kill_when_started(server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    server.stdout.readline()
    KILLED[:] = [time.monotonic()]
    server.kill()


def test_shutting_down_the_own_node_ends_the_wait() -> None:
    with fresh_host() as host:
        host.add(Peer)
        caller = host.add(Caller)
        threading.Timer(0.7, host.context.shutdown).start()
        with pytest.raises((NodeStopped, PeerLost)):
            send_goal(caller.skill, ExecuteSkill.Goal(), 60)


def test_calls_wait_in_wall_time_when_the_ros_clock_stands_still() -> None:
    with fresh_host() as host:
        peer = host.add(Peer, parameters={"use_sim_time": True})
        caller = host.add(Caller, parameters={"use_sim_time": True})
        assert caller.get_clock().now().nanoseconds == 0
        assert call_service(caller.echo, Trigger.Request(), 10).success
        with pytest.raises(DeadlineExceeded):
            send_goal(caller.skill, ExecuteSkill.Goal(), 0.3)
        peer.release.set()


def test_wait_until() -> None:
    wait_until(lambda: True, 0.0, "nothing")
    with pytest.raises(DeadlineExceeded, match=r"waited 0\.1 s for rain"):
        wait_until(lambda: False, 0.1, "rain")
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted, match="cancelled during rain"):
        wait_until(lambda: False, 5, "rain", cancelled=stop)


def test_deadline() -> None:
    deadline = Deadline(60, "rain")
    deadline.check()
    assert 59 < deadline.remaining <= 60
    assert Deadline(0, "rain").remaining == 0
    with pytest.raises(DeadlineExceeded):
        Deadline(0, "rain").check()


def test_require_success() -> None:
    good = Trigger.Response(success=True)
    assert require_success(good, "reset") is good
    with pytest.raises(CallFailed, match="reset failed: no such house"):
        require_success(Trigger.Response(success=False, message="no such house"), "reset")
    assert issubclass(CallFailed, InfrastructureError)
