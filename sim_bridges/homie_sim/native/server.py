"""The native skills as an action server: ``skills/oracle/execute``, in the simulation thread of a bridge."""

from __future__ import annotations

from collections.abc import Callable

from homie_msgs.action import ExecuteSkill

from homie_core.skill import SkillErrorCode, SkillOutcome, SkillTry
from homie_ros.action_server import GoalEnd, RunningGoal, WorkerActionServer
from homie_ros.conversions import time_to_msg
from homie_ros.homie_node import HomieNode
from homie_sim.commands.base import Code, Outcome, Part
from homie_sim.lockstep import LockstepLoop, LoopDeadlineError, LoopError
from homie_sim.native.skills import NativeSkills
from homie_sim.native.success_rates import SuccessRates
from homie_sim.world import MujocoWorld

ACTION = "skills/oracle/execute"

SKILL_SECONDS = 60.0
"""Wall seconds for one try; it takes milliseconds."""


class SkillCommand:
    """A whole try, done before the next tick. Its ``outcome`` and ``stamp`` are known once it has ended."""

    part = Part.BASE

    def __init__(self, skills: NativeSkills, request: SkillTry) -> None:
        self._skills = skills
        self._request = request
        self.outcome = SkillOutcome(False, SkillErrorCode.ROBOT_FAILURE, "the skill was not started")
        self.stamp = 0

    def start(self, world: MujocoWorld) -> Outcome | None:
        self.outcome = self._skills.execute(self._request)
        self.stamp = world.stamp
        return Outcome(Code.SUCCESSFUL)

    def update(self, world: MujocoWorld) -> Outcome | None:
        """Never called while all goes well: the command ends as it starts."""
        return Outcome(Code.INVALID_GOAL, self.outcome.error_msg)

    def stop(self, world: MujocoWorld) -> None:
        """There is nothing to stop."""


class NativeSkillServer:
    """Offers the native skills on ``node``. ``on_loop_error`` is told when the simulation has stopped."""

    def __init__(
        self, node: HomieNode, loop: LockstepLoop, rates: SuccessRates, on_loop_error: Callable[[LoopError], None]
    ) -> None:
        self._loop = loop
        self._on_loop_error = on_loop_error
        self._skills = loop.call(lambda world: NativeSkills(world, rates), SKILL_SECONDS, "the native skills")
        WorkerActionServer(node, ExecuteSkill, ACTION, self._execute, failure_result=_program_failure)

    def _execute(self, goal: RunningGoal) -> GoalEnd:
        """One try; in a worker thread."""
        if goal.cancelled.is_set():
            return goal.canceled(ExecuteSkill.Result(error_msg="cancelled before it began"))
        command = SkillCommand(self._skills, _request(goal.request))
        try:
            self._loop.submit(command).wait(SKILL_SECONDS)
        except LoopError as error:
            self._on_loop_error(error)
            raise
        except LoopDeadlineError as error:
            return goal.abort(_program_failure(error))
        result = _result(command.outcome, command.stamp)
        return goal.succeed(result) if command.outcome.success else goal.abort(result)


def _request(message: ExecuteSkill.Goal) -> SkillTry:
    return SkillTry(
        skill=message.skill,
        target=message.object,
        receptacle=message.receptacle,
        timeout=message.timeout,
        seed=message.seed,
        step=message.step,
        attempt=message.attempt,
    )


def _result(outcome: SkillOutcome, stamp: int) -> ExecuteSkill.Result:
    return ExecuteSkill.Result(
        success=outcome.success,
        error_code=int(outcome.error_code),
        error_msg=outcome.error_msg,
        stamp=time_to_msg(stamp),
    )


def _program_failure(error: Exception) -> ExecuteSkill.Result:
    """The result of a try that ended with an exception of the program itself."""
    return _result(SkillOutcome(False, SkillErrorCode.ROBOT_FAILURE, f"{type(error).__name__}: {error}"), 0)
