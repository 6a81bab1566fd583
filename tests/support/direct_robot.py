"""The robot interface of the skills, straight on a simulated world: no ROS, no threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homie_core import fetch
from homie_core.world_state import WorldState
from homie_sim.commands import (
    Code,
    Command,
    FollowPathCommand,
    GripperCommand,
    Guarded,
    JointTrajectoryCommand,
    NavigateCommand,
    Outcome,
    run,
)
from homie_sim.commands import GripperOutcome as SimGripperOutcome
from homie_sim.world import MujocoWorld
from homie_skills.robot import (
    BaseBlocked,
    CommandRejected,
    FloatArray,
    GripperOutcome,
    NavigationFailed,
    RobotError,
    ToleranceViolated,
)

HEAD_SECONDS = 1.5

_ERRORS: dict[Code, type[RobotError]] = {
    Code.INVALID_GOAL: CommandRejected,
    Code.INVALID_JOINTS: CommandRejected,
    Code.PATH_TOLERANCE_VIOLATED: ToleranceViolated,
    Code.GOAL_TOLERANCE_VIOLATED: ToleranceViolated,
    Code.INVALID_PATH: NavigationFailed,
    Code.FAILED_TO_MAKE_PROGRESS: BaseBlocked,
    Code.NO_VALID_PATH: NavigationFailed,
    Code.TIMEOUT: NavigationFailed,
}


class DirectRobot:
    """Implements ``homie_skills.robot.Robot``; every command runs the world until it has ended."""

    def __init__(self, world: MujocoWorld) -> None:
        self.world = world

    def joint_positions(self) -> dict[str, float]:
        return self.world.joint_positions()

    def base_pose(self) -> tuple[float, float, float]:
        return self.world.base_pose()

    def world_state(self) -> WorldState:
        return self.world.world_state()

    def follow_joint_trajectory(self, joints: Sequence[str], positions: FloatArray, times: FloatArray) -> None:
        self._run(JointTrajectoryCommand(joints, positions, times))

    def point_head(self, pan: float, tilt: float) -> None:
        goal = np.array([[pan, tilt]])
        present = self.world.joint_positions()
        changes = [abs(goal[0, index] - present[joint]) for index, joint in enumerate(fetch.HEAD_JOINTS)]
        slowest = max(
            change / fetch.VELOCITY_LIMITS[joint] for change, joint in zip(changes, fetch.HEAD_JOINTS, strict=True)
        )
        self._run(JointTrajectoryCommand(fetch.HEAD_JOINTS, goal, [max(HEAD_SECONDS, slowest)]))

    def gripper(self, opening: float, max_effort: float) -> GripperOutcome:
        (outcome,) = run(self.world, GripperCommand(opening, max_effort))
        assert isinstance(outcome, SimGripperOutcome)
        if not outcome.ok:
            raise CommandRejected(outcome.message)
        return GripperOutcome(outcome.opening, outcome.stalled)

    def navigate_to(self, x: float, y: float, yaw: float) -> None:
        self._run(NavigateCommand(x, y, yaw))

    def follow_path(self, poses: FloatArray) -> None:
        self._run(FollowPathCommand(poses))

    def _run(self, command: Command) -> Outcome:
        (outcome,) = run(self.world, Guarded(command))
        if not outcome.ok:
            raise _ERRORS[outcome.code](outcome.message)
        return outcome
