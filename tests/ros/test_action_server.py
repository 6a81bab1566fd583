"""Goals in worker threads: results, cancels, failures, storms."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from homie_msgs.action import ExecuteSkill
from rclpy.action import ActionClient
from std_srvs.srv import Trigger

from homie_ros.action_server import GoalEnd, RunningGoal, WhenBusy, Work, WorkerActionServer
from homie_ros.errors import GoalRejected, InfrastructureError
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.waiting import call_service, send_goal
from homie_ros.worker_service import WorkerService
from support.graph import fresh_host


class SkillServer(HomieNode):
    def __init__(self, work: Work, server_options: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__("skill_server", **options)
        self.server = WorkerActionServer(self, ExecuteSkill, "skill", work, **(server_options or {}))


class SkillClient(HomieNode):
    def __init__(self, **options: Any) -> None:
        super().__init__("skill_client", **options)
        self.skill = ActionClient(self, ExecuteSkill, "skill")


def pair(host: NodeHost, work: Work, **server_options: Any) -> tuple[SkillServer, SkillClient]:
    return host.add(SkillServer, work=work, server_options=server_options), host.add(SkillClient)


def echo(goal: RunningGoal) -> GoalEnd:
    return goal.succeed(ExecuteSkill.Result(success=True, error_msg=goal.request.skill))


def until_cancelled(goal: RunningGoal) -> GoalEnd:
    if goal.cancelled.wait(20):
        return goal.canceled(ExecuteSkill.Result(error_msg="stopped"))
    return goal.succeed(ExecuteSkill.Result(success=True))


def goal(skill: str = "go_to") -> ExecuteSkill.Goal:
    return ExecuteSkill.Goal(skill=skill)


def resident_kilobytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def test_result_and_feedback_arrive() -> None:
    def work(running: RunningGoal) -> GoalEnd:
        for part in range(5):
            running.feedback(ExecuteSkill.Feedback(phase="move", progress=part / 4))
            time.sleep(0.02)  # feedback and result travel apart: a result may overtake
        return echo(running)

    heard: list[float] = []
    with fresh_host() as host:
        _, client = pair(host, work)
        outcome = send_goal(client.skill, goal("pick"), 10, feedback=lambda message: heard.append(message.progress))
    assert outcome.succeeded
    assert outcome.result.error_msg == "pick"
    assert heard == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_an_aborted_goal_carries_its_result() -> None:
    def work(running: RunningGoal) -> GoalEnd:
        return running.abort(ExecuteSkill.Result(error_code=ExecuteSkill.Goal.NO_PATH, error_msg="no way"))

    with fresh_host() as host:
        _, client = pair(host, work)
        outcome = send_goal(client.skill, goal(), 10)
    assert outcome.aborted
    assert outcome.result.error_code == ExecuteSkill.Goal.NO_PATH


def test_an_exception_in_the_work_aborts_the_goal_and_the_server_lives_on() -> None:
    def work(running: RunningGoal) -> GoalEnd:
        if running.request.skill == "bad":
            raise ZeroDivisionError("seven by nothing")
        return echo(running)

    with fresh_host() as host:
        _, client = pair(host, work, failure_result=lambda error: ExecuteSkill.Result(error_msg=str(error)))
        first = send_goal(client.skill, goal("bad"), 10)
        second = send_goal(client.skill, goal("good"), 10)
        host.check()
    assert first.aborted
    assert first.result.error_msg == "seven by nothing"
    assert second.succeeded


def test_cancel_reaches_the_work_at_once() -> None:
    cancelled = threading.Event()
    with fresh_host() as host:
        _, client = pair(host, until_cancelled)
        send_goal(client.skill, goal(), 10, cancelled=_set_after(0.3, cancelled))
        start = time.monotonic()
        outcome = send_goal(client.skill, goal(), 10, cancelled=_set_after(0.3, threading.Event()))
        latency = time.monotonic() - start - 0.3
    assert outcome.canceled
    assert outcome.result.error_msg == "stopped"
    assert latency < 0.3


def test_other_callbacks_are_served_while_a_goal_runs() -> None:
    with fresh_host() as host:
        server, client = pair(host, until_cancelled)
        WorkerService(server, Trigger, "ping", lambda _: Trigger.Response(success=True))
        ping = client.create_client(Trigger, "ping")
        cancelled = threading.Event()
        running = threading.Thread(target=send_goal, args=(client.skill, goal(), 20), kwargs={"cancelled": cancelled})
        running.start()
        for _ in range(5):
            assert call_service(ping, Trigger.Request(), 5).success
        cancelled.set()
        running.join(10)
        assert not running.is_alive()


def test_a_busy_server_rejects() -> None:
    with fresh_host() as host:
        server, client = pair(host, until_cancelled)
        cancelled = threading.Event()
        running = threading.Thread(target=send_goal, args=(client.skill, goal(), 20), kwargs={"cancelled": cancelled})
        running.start()
        _wait(lambda: server.server.busy)
        with pytest.raises(GoalRejected, match="rejected action skill"):
            send_goal(client.skill, goal(), 10)
        cancelled.set()
        running.join(10)


def test_a_goal_that_is_not_accepted_is_rejected() -> None:
    with fresh_host() as host:
        _, client = pair(host, echo, accept=lambda request: "" if request.skill == "pick" else "unknown skill")
        assert send_goal(client.skill, goal("pick"), 10).succeeded
        with pytest.raises(GoalRejected):
            send_goal(client.skill, goal("dance"), 10)


def test_a_newer_goal_preempts() -> None:
    ends: list[Any] = []

    def work(running: RunningGoal) -> GoalEnd:
        return until_cancelled(running) if running.request.skill == "long" else echo(running)

    with fresh_host() as host:
        server, client = pair(host, work, when_busy=WhenBusy.PREEMPT)
        older = threading.Thread(target=lambda: ends.append(send_goal(client.skill, goal("long"), 20)))
        older.start()
        _wait(lambda: server.server.busy)
        assert send_goal(client.skill, goal("short"), 10).succeeded
        older.join(10)
    assert ends[0].aborted
    assert ends[0].result.error_msg == "stopped"


def test_goal_storm_loses_nothing_and_memory_stays_flat() -> None:
    with fresh_host() as host:
        _, client = pair(host, echo, result_timeout=1)
        for number in range(200):
            assert send_goal(client.skill, goal(f"warm {number}"), 10).result.error_msg == f"warm {number}"
        time.sleep(1.5)
        before = resident_kilobytes()
        for number in range(400):
            assert send_goal(client.skill, goal(f"{number}"), 10).result.error_msg == str(number)
        assert resident_kilobytes() - before < 6000


def test_goals_from_many_threads_at_once() -> None:
    echoed: list[str] = []

    def ask(client: ActionClient, name: str) -> None:
        echoed.extend(send_goal(client, goal(f"{name} {number}"), 20).result.error_msg for number in range(20))

    with fresh_host() as host:
        _, client = pair(host, echo, when_busy=WhenBusy.PREEMPT)
        threads = [threading.Thread(target=ask, args=(client.skill, str(number))) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(echoed) == sorted(f"{name} {number}" for name in range(4) for number in range(20))


def test_closing_ends_a_running_goal() -> None:
    stopped = threading.Event()

    def work(running: RunningGoal) -> GoalEnd:
        running.cancelled.wait(20)
        stopped.set()
        return running.canceled(ExecuteSkill.Result())

    with fresh_host() as host:
        server, client = pair(host, work)
        threading.Thread(target=_ignore_failure, args=(client.skill,), daemon=True).start()
        _wait(lambda: server.server.busy)
        start = time.monotonic()
    assert stopped.is_set()
    assert time.monotonic() - start < 5


def _ignore_failure(client: ActionClient) -> None:
    with contextlib.suppress(InfrastructureError):
        send_goal(client, goal(), 20)


def _set_after(seconds: float, event: threading.Event) -> threading.Event:
    threading.Timer(seconds, event.set).start()
    return event


def _wait(condition: Any) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
