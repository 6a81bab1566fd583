"""Which skill server carries out what: stand-ins for the models of the paper, and a user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from homie_msgs.action import ExecuteSkill

from homie_core.errors import ErrorCode
from homie_eval.bag import read_bag
from homie_eval.trajectory import Trajectory
from homie_ros.action_server import GoalEnd, RunningGoal, WorkerActionServer
from homie_ros.domains import DomainReservation
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from support.system_support import Finished, run_demo

BLIND = ("--skills", "oracle", "--setting", "no_background_information", "--video-fps", "0", "--views", "needed")


class Refusing(HomieNode):
    """A user's skill server that never grasps anything."""

    def __init__(self, **options: Any) -> None:
        super().__init__("refusing", **options)
        self.asked: list[tuple[str, str]] = []
        self._server = WorkerActionServer(self, ExecuteSkill, "skills/my_arm/execute", self._execute)

    def _execute(self, goal: RunningGoal) -> GoalEnd:
        self.asked.append((goal.request.skill, goal.request.object))
        return goal.abort(ExecuteSkill.Result(error_code=ExecuteSkill.Goal.NO_GRASP, error_msg="out of reach"))


def trajectory_of(run: Finished) -> Trajectory:
    assert run.code == 0, run.output
    (trajectory,) = read_bag(run.folder / "bag").trajectories
    return trajectory


def test_without_background_information_the_instant_skills_stand_in(tmp_path: Path) -> None:
    run = run_demo(tmp_path, *BLIND)
    trajectory = trajectory_of(run)
    assert json.loads((run.folder / "run.json").read_text())["score"]["TP"] == 1.0
    assert {step.subtask.model for step in trajectory.steps} == {"NoMaD", "octo", "PixNav", "RT-1-X", ""}
    configuration = json.loads(trajectory.info.configuration_json)
    assert configuration["servers"] == dict.fromkeys(("NoMaD", "PixNav", "octo", "RT-1-X", "M3"), "oracle")


def test_a_users_server_is_asked_for_its_model_alone(tmp_path: Path) -> None:
    with DomainReservation() as reservation, NodeHost(domain_id=reservation.id) as host:
        mine = host.add(Refusing, use_global_arguments=False)
        options = ("--server", "RT-1-X=my_arm", "--max-steps", "4")
        trajectory = trajectory_of(run_demo(tmp_path, *BLIND, *options, domain=reservation.id))
    assert [step.error_code for step in trajectory.steps] == [None, None, None, ErrorCode.TOO_DIFFICULT]
    assert mine.asked == [("reset_arm", ""), ("pick", "potted_meat_can")] * 3
    assert json.loads(trajectory.info.configuration_json)["servers"]["RT-1-X"] == "my_arm"
