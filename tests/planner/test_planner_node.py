"""The planner as a node: whole episodes over the real executor and monitor, a toy bridge and a toy skill server."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from homie_msgs import msg as messages
from homie_msgs.action import RunTask
from rclpy.action import ActionClient
from std_msgs.msg import String

from homie_eval.emmoe.tasks import load_task
from homie_monitor.monitor_node import MonitorNode
from homie_planner.planner_node import PlannerNode
from homie_ros import qos
from homie_ros.errors import GoalRejected
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.parameters import ParameterError
from homie_ros.waiting import ActionOutcome, send_goal, wait_until
from homie_skills.executor_node import ExecutorNode
from support.graph import fresh_host
from support.peers import Interference, Listener, ToyBridge, ToySkillServer, hang, once_it_runs
from support.planning_browser import Browser
from support.toy_house import ToyWorld, house

SECONDS = 60.0
TASK = load_task("100")
TOPICS = {
    "episode/info": messages.EpisodeInfo,
    "episode/step": messages.StepRecord,
    "episode/result": messages.EpisodeResult,
}
PLAN = Path(str(files("homie_eval"))) / "emmoe" / "plans" / "case_1.json"


class Caller(HomieNode):
    """Starts episodes."""

    def __init__(self, **options: Any) -> None:
        super().__init__("caller", **options)
        self.client = ActionClient(self, RunTask, "run_task")
        self.fed_back: list[int] = []

    def run(self, cancelled: threading.Event | None = None, **fields: Any) -> ActionOutcome[RunTask.Result]:
        goal = {
            "episode_id": "e1",
            "benchmark": "emmoe",
            "task_id": TASK.id,
            "instruction": TASK.instruction,
            "scene": "toy_house",
            "seed": 3,
            "trial": 1,
            "max_steps": 20,
            "task_json": TASK.to_json(),
            "configuration_json": "{}",
            **fields,
        }
        note = self.fed_back.append
        return send_goal(
            self.client, RunTask.Goal(**goal), SECONDS, feedback=lambda m: note(m.step.index), cancelled=cancelled
        )


class Notices(HomieNode):
    """Hears what the planner tells people, also if that was before it came."""

    def __init__(self, **options: Any) -> None:
        super().__init__("notices", **options)
        self._told: list[str] = []
        self.create_subscription(String, "planner/notice", self._hear, qos.state())

    def _hear(self, message: String) -> None:
        self._told.append(message.data)

    def wait(self) -> str:
        wait_until(lambda: bool(self._told), SECONDS, "a notice", context=self.context)
        return self._told[-1]


@dataclass
class Graph:
    host: NodeHost
    bridge: ToyBridge
    skills: ToySkillServer
    listener: Listener
    caller: Caller


@contextmanager
def graph(planner: str = "expert", interfere: Interference | None = None, **parameters: object) -> Iterator[Graph]:
    with fresh_host() as host:
        bridge = host.add(ToyBridge, world=ToyWorld(house({"potted_meat_can_1": "brown_table"})))
        skills = host.add(ToySkillServer, bridge=bridge, interfere=interfere)
        host.add(MonitorNode)
        host.add(ExecutorNode)
        host.add(PlannerNode, parameters={"planner": planner, **parameters})
        listener = host.add(Listener, topics=TOPICS)
        yield Graph(host, bridge, skills, listener, host.add(Caller))


def test_the_expert_does_case_1() -> None:
    with graph() as g:
        outcome = g.caller.run()
        result = outcome.result.result
        assert outcome.succeeded
        assert (result.episode_id, result.outcome, result.steps, result.cause) == ("e1", "ended", 7, "")
        assert result.sim_seconds == pytest.approx(6.0)
        steps = g.listener.wait_for("episode/step", 7)
        assert [step.index for step in steps] == [1, 2, 3, 4, 5, 6, 7]
        assert [step.subtask.action for step in steps] == ["Go to", "Open", "Go to", "Pick", "Go to", "Put", "End"]
        assert all(step.success for step in steps)
        assert [(step.target_id, step.destination_id) for step in steps[4:]] == [
            ("fridge", ""),
            ("potted_meat_can_1", "fridge"),
            ("", ""),
        ]
        assert g.skills.seeds == [(3, step, 1) for step in range(1, 7) for _ in ("reset_arm", "skill")]
        assert list(steps[4].inventory_after) == ["green_can"]
        assert steps[1].prompt.startswith("[system]\nYou are a powerful")
        assert "(1) Go to, fridge(success) " in steps[1].prompt
        assert [step.header.stamp.sec for step in steps] == [1, 2, 3, 4, 5, 6, 6]
        (info,) = g.listener.wait_for("episode/info")
        assert (info.episode_id, info.planner, info.seed, info.task_id) == ("e1", "expert", 3, TASK.id)
        assert info.setting == "background_information"
        assert json.loads(info.task_json)["id"] == TASK.id
        assert "python" in info.version_names
        (told,) = g.listener.wait_for("episode/result")
        assert told == result
        assert g.bridge.world.state["potted_meat_can_1"].parent == "fridge"


def test_the_papers_case_1_runs_into_the_closed_fridge_and_recovers() -> None:
    with graph(f"replay:{PLAN}") as g:
        result = g.caller.run().result.result
        assert (result.outcome, result.steps) == ("ended", 15)
        steps = g.listener.wait_for("episode/step", 15)
        failed = [(step.index, step.error_code, step.feedback) for step in steps if not step.success]
        assert failed == [
            (4, "L3", "Unable to put, the fridge is closed, you should open it first"),
            (5, "L1", "Unable to open, the hand is full"),
        ]
        assert g.caller.fed_back == list(range(1, 16))
        assert g.bridge.world.state["potted_meat_can_1"].parent == "fridge"


def test_episodes_follow_one_another() -> None:
    with graph() as g:
        first = g.caller.run().result.result
        second = g.caller.run(episode_id="e2").result.result
        assert (first.outcome, second.outcome, second.episode_id) == ("ended", "ended", "e2")
        steps = g.listener.wait_for("episode/step", 14)
        assert [step.raw_output for step in steps[:7]] == [step.raw_output for step in steps[7:]]


def test_the_step_limit() -> None:
    with graph() as g:
        result = g.caller.run(max_steps=3).result.result
        assert (result.outcome, result.steps) == ("step_limit", 3)


def test_a_recording_that_runs_out_is_a_planner_failure(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('["Subtask: [Go to, kitchen]"]')
    with graph(f"replay:{plan}") as g:
        outcome = g.caller.run()
        result = outcome.result.result
        assert outcome.succeeded
        assert (result.outcome, result.steps) == ("planner_failure", 1)
        assert result.cause == f"replay:{plan}: the recording has 1 steps and does not end the episode"


def test_cancelling_an_episode_in_the_middle_of_a_skill() -> None:
    with graph(interfere=hang) as g:
        cancelled = threading.Event()
        with once_it_runs(g.skills, cancelled.set):
            outcome = g.caller.run(cancelled)
        assert outcome.canceled
        (result,) = g.listener.wait_for("episode/result")
        assert (result.outcome, result.steps) == ("cancelled", 0)
        g.skills._interfere = None
        assert g.caller.run(episode_id="e2").result.result.outcome == "ended"


def test_closing_the_node_ends_its_episode_with_a_result() -> None:
    with graph(interfere=hang) as g:
        runner = threading.Thread(target=g.caller.run, daemon=True)
        runner.start()
        assert g.skills.started.wait(SECONDS)
        (planner,) = (node for node in g.host.nodes if isinstance(node, PlannerNode))
        planner.close()
        (result,) = g.listener.wait_for("episode/result")
        assert result.outcome == "cancelled"
        runner.join(SECONDS)
        assert not runner.is_alive()


def test_a_bridge_that_refuses_the_scene_is_an_infrastructure_failure() -> None:
    with graph() as g:
        g.bridge.refuse = "scene 'toy_house' is unknown"
        outcome = g.caller.run()
        assert outcome.aborted
        result = outcome.result.result
        assert result.outcome == "infrastructure_failure"
        assert result.cause == "reset_episode failed: scene 'toy_house' is unknown"
        assert len(g.listener.wait_for("episode/info")) == 1


def test_an_executor_that_is_not_there_is_an_infrastructure_failure() -> None:
    with fresh_host() as host:
        host.add(ToyBridge, world=ToyWorld())
        host.add(PlannerNode, parameters={"subtask_seconds": 1.0})
        listener = host.add(Listener, topics=TOPICS)
        result = host.add(Caller).run().result.result
        assert result.outcome == "infrastructure_failure"
        assert "execute_subtask" in result.cause
        assert listener.wait_for("episode/result")[0] == result


def test_a_clock_that_stands_still_ends_the_episode() -> None:
    with fresh_host() as host:
        bridge = host.add(ToyBridge, world=ToyWorld())
        bridge.frozen = 0
        host.add(ToySkillServer, bridge=bridge)
        host.add(MonitorNode, parameters={"world_state_seconds": 0.5})
        host.add(ExecutorNode)
        host.add(PlannerNode)
        result = host.add(Caller).run().result.result
        assert result.outcome == "infrastructure_failure"
        assert "the world's clock stands at 0.000 s" in result.cause


def test_on_a_robot_nothing_is_reset() -> None:
    with graph(reset=False) as g:
        g.bridge.refuse = "a robot cannot be reset"
        assert g.caller.run().result.result.outcome == "ended"


@pytest.mark.parametrize("planner", ["gpt", "replay:", "replay:/nowhere.json"])
def test_a_wrong_planner_is_one_clear_line(planner: str) -> None:
    with fresh_host() as host, pytest.raises(ParameterError) as error:
        host.add(PlannerNode, parameters={"planner": planner})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("fields", [{"max_steps": 0}, {"episode_id": ""}, {"instruction": ""}])
def test_goals_that_make_no_sense_are_rejected(fields: dict[str, Any]) -> None:
    with fresh_host() as host:
        host.add(PlannerNode)
        with pytest.raises(GoalRejected):
            host.add(Caller).run(**fields)


def test_a_person_plans_at_the_address_that_the_node_tells() -> None:
    with graph("human") as g:
        notices = g.host.add(Notices)
        outcomes: list[ActionOutcome[RunTask.Result]] = []
        running = threading.Thread(target=lambda: outcomes.append(g.caller.run()))
        running.start()
        browser = Browser(notices.wait().removeprefix("plan at "))
        page = browser.question()
        assert len(page.of("img")) == 4 and TASK.instruction in page.text
        browser.answer("Open", "fridge")
        browser.answer("End")
        running.join(SECONDS)
        assert outcomes[0].result.result.outcome == "ended"
        steps = g.listener.wait_for("episode/step", 2)
        assert [step.subtask.action for step in steps] == ["Open", "End"]
        (info,) = g.listener.wait_for("episode/info")
        assert info.planner == "human"
