"""The skill server of the M3-like skills: the action ``skills/m3/execute`` over the robot interface.

The same goal in the same state of the world gives the same motion: randomness is seeded by what the goal says of the
episode, the step and the try, never by what was asked for before.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
from homie_msgs.action import ExecuteSkill
from pydantic import BaseModel, Field, field_validator
from std_msgs.msg import String

from homie_core.fetch import mesh_assets
from homie_core.skill import SkillErrorCode, SkillOutcome
from homie_ros import qos
from homie_ros.action_server import GoalEnd, RunningGoal, WorkerActionServer
from homie_ros.conversions import time_to_msg
from homie_ros.homie_node import HomieNode
from homie_ros.node_main import run_node
from homie_ros.parameters import read_parameters
from homie_ros.waiting import wait_until
from homie_skills.m3 import M3, SKILLS
from homie_skills.robot import RobotError
from homie_skills.ros_robot import RobotConnection, RosRobot


class M3Settings(BaseModel):
    """Parameters of the node."""

    skills: list[str] = Field(list(SKILLS), description="Skills that may be asked for.")
    world_seconds: float = Field(60.0, gt=0, description="Wall seconds to wait for the description of the world.")

    @field_validator("skills")
    @classmethod
    def _known(cls, value: list[str]) -> list[str]:
        unknown = [skill for skill in value if skill not in SKILLS]
        if unknown:
            raise ValueError(f"unknown: {', '.join(unknown)}; allowed: {', '.join(SKILLS)}")
        return value


def seed_of(goal: ExecuteSkill.Goal) -> np.random.SeedSequence:
    """The source of every random choice of a try: episode's seed, step, number of the try, and skill."""
    return np.random.SeedSequence(goal.seed, spawn_key=(goal.step, goal.attempt, *goal.skill.encode()))


class M3Node(HomieNode):
    """See the head of this file."""

    def __init__(self, **options: Any) -> None:
        super().__init__("m3_skill_server", **options)
        self._settings = read_parameters(self, M3Settings)
        self._connection = RobotConnection(self)
        self._description = ""
        self._planned_for = ""
        self._m3: M3 | None = None
        self._robot = RosRobot(self._connection)
        self._rng = np.random.default_rng(0)  # each goal puts it into a state of its own
        self.create_subscription(String, "world_description", self._on_description, qos.state())
        WorkerActionServer(self, ExecuteSkill, "skills/m3/execute", self._execute, failure_result=_program_failure)

    def _on_description(self, message: String) -> None:
        self._description = message.data

    def _execute(self, goal: RunningGoal) -> GoalEnd:
        """One try; runs in a worker thread."""
        request = goal.request
        if request.skill not in self._settings.skills:
            message = f"skill {request.skill!r} is not allowed; allowed: {', '.join(self._settings.skills)}"
            return goal.abort(_result(SkillOutcome(False, SkillErrorCode.UNKNOWN_SKILL, message)))
        self._robot.start_goal(goal.cancelled)
        m3 = self._planner(goal.cancelled)
        self._rng.bit_generator.state = np.random.PCG64(seed_of(request)).state
        outcome = m3.execute(
            request.skill,
            request.object,
            request.receptacle,
            request.timeout,
            lambda phase, share: goal.feedback(ExecuteSkill.Feedback(phase=phase, progress=float(share))),
            goal.cancelled.is_set,
        )
        return self._end(goal, outcome)

    def _planner(self, cancelled: threading.Event) -> M3:
        """The skills, planning in the world as it was described last; made anew only when that changes."""
        wait_until(
            lambda: bool(self._description),
            self._settings.world_seconds,
            "world_description",
            context=self.context,
            cancelled=cancelled,
        )
        if self._m3 is None or self._planned_for != self._description:
            self._planned_for = self._description
            self._m3 = M3(self._robot, self._planned_for, mesh_assets(), self._rng)
        return self._m3

    def _end(self, goal: RunningGoal, outcome: SkillOutcome) -> GoalEnd:
        if self._robot.lost:
            return goal.abort(_result(SkillOutcome(False, SkillErrorCode.ROBOT_FAILURE, self._robot.lost)))
        if outcome.error_code is SkillErrorCode.ROBOT_FAILURE and not goal.cancelled.is_set():
            # It answered, and refused: the motion was not possible, but the robot is there.
            outcome = SkillOutcome(False, SkillErrorCode.NO_MOTION, outcome.error_msg)
        result = _result(outcome, self._stamp())
        if goal.cancelled.is_set():
            return goal.canceled(result)
        return goal.succeed(result) if outcome.success else goal.abort(result)

    def _stamp(self) -> int:
        """Simulation time now; 0 if the robot does not answer, which the next one to ask it will find out."""
        try:
            return RosRobot(self._connection).world_state().stamp
        except RobotError as error:
            self.get_logger().warning(str(error))
            return 0


def _result(outcome: SkillOutcome, stamp: int = 0) -> ExecuteSkill.Result:
    return ExecuteSkill.Result(
        success=outcome.success,
        error_code=int(outcome.error_code),
        error_msg=outcome.error_msg,
        stamp=time_to_msg(stamp),
        fingers_shut=outcome.fingers_shut,
    )


def _program_failure(error: Exception) -> ExecuteSkill.Result:
    """The result of a try that ended with an exception of the program itself."""
    return _result(SkillOutcome(False, SkillErrorCode.ROBOT_FAILURE, f"{type(error).__name__}: {error}"))


def main() -> None:
    """Run the skill server as a process."""
    sys.exit(run_node(M3Node))
