"""The M3-like skills: mobile manipulation that knows the state of the world (paper, section 3.3: M3 with background).

One object per robot; it carries out one skill at a time and judges it by the state of the world afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from homie_core import names
from homie_core.skill import SkillErrorCode, SkillOutcome
from homie_skills.containers import close, open_
from homie_skills.go_to import go_to
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.manipulator import Manipulator, Watch
from homie_skills.pick import pick
from homie_skills.planning_scene import PlanningScene
from homie_skills.put import put
from homie_skills.reset_arm import reset_arm
from homie_skills.robot import Robot, RobotError, SkillError, UnknownSkill, fingers_shut

SKILLS: Mapping[str, Callable[[Manipulator, str, str], None]] = {
    "go_to": lambda manipulator, target, _receptacle: go_to(manipulator, target),
    "pick": lambda manipulator, target, _receptacle: pick(manipulator, target),
    "put": put,
    "open": lambda manipulator, target, _receptacle: open_(manipulator, target),
    "close": lambda manipulator, target, _receptacle: close(manipulator, target),
    "reset_arm": lambda manipulator, _target, _receptacle: reset_arm(manipulator),
}


class M3:
    """The skills of one robot."""

    def __init__(self, robot: Robot, mjcf: str, assets: Mapping[str, bytes], rng: np.random.Generator) -> None:
        """Build the planning models.

        Args:
            robot: the robot.
            mjcf: the world as the bridge describes it.
            assets: content of the mesh files that ``mjcf`` names.
            rng: source of randomness of all planning.
        """
        self._robot = robot
        self._scene = PlanningScene(mjcf, assets)
        self._arm = ArmKinematics(mjcf, assets)
        self._rng = rng

    def execute(
        self,
        skill: str,
        target: str = "",
        receptacle: str = "",
        timeout: float = 120.0,
        progress: Callable[[str, float], None] = lambda _phase, _share: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> SkillOutcome:
        """One try of ``skill``. Never raises for a failure of the skill or of the robot: the outcome says it.

        Args:
            skill: a key of ``SKILLS``.
            target: id or name of what it is about; a name means the nearest such thing (paper, section 4.1).
            receptacle: id or name of where to put it; ``put`` only.
            timeout: seconds of simulation time.
            progress: told the phase and the share done, 0 to 1.
            cancelled: asked between motions whether to stop.
        """
        try:
            action = SKILLS.get(skill)
            if action is None:
                raise UnknownSkill(f"no skill {skill!r}; there are {', '.join(SKILLS)}")
            state = self._robot.world_state()
            target, receptacle = names.resolve_goal(skill, target, receptacle, state)
            deadline = state.stamp + round(timeout * 1e9)
            watch = Watch(progress, cancelled, deadline)
            action(Manipulator(self._robot, self._scene, self._arm, self._rng, watch), target, receptacle)
        except SkillError as error:
            return SkillOutcome(False, error.code, f"{type(error).__name__}: {error}", self._fingers_shut(error))
        progress("done", 1.0)
        return SkillOutcome(True, SkillErrorCode.NONE, "", self._fingers_shut())

    def _fingers_shut(self, error: SkillError | None = None) -> bool:
        """What the gripper's joints tell of the hand; a robot that has failed is not asked."""
        if error is not None and error.code is SkillErrorCode.ROBOT_FAILURE:
            return False
        try:
            return fingers_shut(self._robot.joint_positions())
        except RobotError:
            return False
