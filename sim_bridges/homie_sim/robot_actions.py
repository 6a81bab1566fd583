"""The robot's action servers: each goal becomes a command of the simulation, and the command's outcome a result.

A client that cancels, or a newer goal for the same part, stops the command before the next control tick; arm and base
stop by themselves when the held object is lost or the robot runs hard into something (`commands.guard`). The state of
the world after a command is published before its result is sent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.action import GripperCommand as GripperAction
from nav2_msgs.action import FollowPath, NavigateToPose
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from homie_core import fetch
from homie_core.from_messages import planar_pose_from_msg, time_from_msg
from homie_ros.action_server import GoalEnd, RunningGoal, WhenBusy, WorkerActionServer
from homie_ros.conversions import MAP_FRAME, header, planar_pose_to_msg, time_to_msg
from homie_ros.homie_node import HomieNode
from homie_sim.commands import (
    Code,
    Command,
    FollowPathCommand,
    GripperCommand,
    Guarded,
    JointTrajectoryCommand,
    NavigateCommand,
    Outcome,
)
from homie_sim.commands import GripperOutcome as GripperEnd
from homie_sim.lockstep import Handle, LockstepLoop, LoopDeadlineError, LoopError
from homie_sim.path_planner import Point
from homie_sim.world import MujocoWorld

COMMAND_SECONDS = 3600.0
"""Wall seconds after which a command is given up. All commands end by themselves in simulation time, long before."""

CANCEL_POLL_SECONDS = 0.02

Feedback = Callable[[MujocoWorld], Any]


class AnnouncedDrive(NavigateCommand):
    """Tells the way that was planned, before the first move."""

    def __init__(self, pose: tuple[float, float, float], announce: Callable[[MujocoWorld, list[Point]], None]) -> None:
        super().__init__(*pose)
        self._announce = announce

    def start(self, world: MujocoWorld) -> Outcome | None:
        """Plan, and tell."""
        outcome = super().start(world)
        self._announce(world, self.path)
        return outcome


class RobotActions:
    """The five action servers of one robot.

    ``on_loop_error`` is told when the simulation has stopped; ``announce_plan`` gets each planned way in the simulation
    thread.
    """

    def __init__(
        self,
        node: HomieNode,
        loop: LockstepLoop,
        on_loop_error: Callable[[LoopError], None],
        announce_plan: Callable[[MujocoWorld, list[Point]], None],
    ) -> None:
        self._node = node
        self._loop = loop
        self._on_loop_error = on_loop_error
        self._announce_plan = announce_plan
        self._lock = threading.Lock()
        self._running: dict[int, tuple[RunningGoal, Feedback]] = {}
        arm = "arm_with_torso_controller/follow_joint_trajectory"
        head = "head_controller/follow_joint_trajectory"
        self._serve(FollowJointTrajectory, arm, self._arm, _trajectory_failure)
        self._serve(FollowJointTrajectory, head, self._head, _trajectory_failure)
        self._serve(GripperAction, "gripper_controller/gripper_action", self._gripper, _gripper_failure)
        self._serve(NavigateToPose, "navigate_to_pose", self._navigate, _navigation_failure)
        self._serve(FollowPath, "follow_path", self._follow_path, _path_failure)

    def publish_feedback(self, world: MujocoWorld) -> None:
        """Tell the clients of all running goals how far they are; in the simulation thread."""
        with self._lock:
            running = list(self._running.values())
        for goal, feedback in running:
            goal.feedback(feedback(world))

    def _serve(
        self, kind: Any, name: str, work: Callable[[RunningGoal], GoalEnd], failure: Callable[[Exception], Any]
    ) -> None:
        WorkerActionServer(self._node, kind, name, work, when_busy=WhenBusy.PREEMPT, failure_result=failure)

    def _arm(self, goal: RunningGoal) -> GoalEnd:
        return self._trajectory(goal, fetch.ARM_WITH_TORSO_JOINTS)

    def _head(self, goal: RunningGoal) -> GoalEnd:
        return self._trajectory(goal, fetch.HEAD_JOINTS)

    def _trajectory(self, goal: RunningGoal, allowed: Sequence[str]) -> GoalEnd:
        trajectory = goal.request.trajectory
        joints = list(trajectory.joint_names)
        strange = [joint for joint in joints if joint not in allowed]
        if strange:
            text = f"joint_names: {strange[0]!r}; allowed: {', '.join(allowed)}"
            return goal.abort(FollowJointTrajectory.Result(error_code=Code.INVALID_JOINTS, error_string=text))
        try:
            command = _trajectory_command(trajectory)
        except ValueError as error:
            text = f"points: {error}"
            return goal.abort(FollowJointTrajectory.Result(error_code=Code.INVALID_GOAL, error_string=text))

        def feedback(world: MujocoWorld) -> Any:
            positions = world.joint_positions()
            actual = JointTrajectoryPoint(positions=[positions[joint] for joint in joints])
            return FollowJointTrajectory.Feedback(header=header(world.stamp), joint_names=joints, actual=actual)

        outcome = self._run(goal, Guarded(command), feedback)
        code = Code.SUCCESSFUL if outcome.code is Code.CANCELLED else outcome.code
        return _end(goal, outcome, FollowJointTrajectory.Result(error_code=code, error_string=outcome.message))

    def _gripper(self, goal: RunningGoal) -> GoalEnd:
        wanted = goal.request.command

        def feedback(world: MujocoWorld) -> Any:
            return GripperAction.Feedback(position=world.opening())

        outcome = self._run(goal, GripperCommand(wanted.position, wanted.max_effort), feedback)
        if not isinstance(outcome, GripperEnd):
            return _end(goal, outcome, GripperAction.Result())
        if not outcome.ok:
            self._node.get_logger().warning(f"gripper: {outcome.message}")  # the result type has no field for it
        result = GripperAction.Result(
            position=outcome.opening, effort=outcome.effort, stalled=outcome.stalled, reached_goal=outcome.reached_goal
        )
        return _end(goal, outcome, result)

    def _navigate(self, goal: RunningGoal) -> GoalEnd:
        target = goal.request.pose
        if text := _wrong_frame(target, "pose"):
            return goal.abort(NavigateToPose.Result(error_code=Code.NO_VALID_PATH, error_msg=text))
        x, y, yaw = planar_pose_from_msg(target.pose)
        begin: list[int] = []

        def feedback(world: MujocoWorld) -> Any:
            begin.append(world.stamp)
            pose = world.base_pose()
            message = NavigateToPose.Feedback(distance_remaining=float(np.hypot(pose[0] - x, pose[1] - y)))
            message.current_pose.header = header(world.stamp, MAP_FRAME)
            message.current_pose.pose = planar_pose_to_msg(pose)
            passed = time_to_msg(world.stamp - begin[0])
            message.navigation_time.sec, message.navigation_time.nanosec = passed.sec, passed.nanosec
            return message

        outcome = self._run(goal, Guarded(AnnouncedDrive((x, y, yaw), self._announce_plan)), feedback)
        return _end(goal, outcome, NavigateToPose.Result(error_code=_nav2(outcome), error_msg=outcome.message))

    def _follow_path(self, goal: RunningGoal) -> GoalEnd:
        path = goal.request.path
        if text := _wrong_frame(path, "path"):
            return goal.abort(FollowPath.Result(error_code=Code.INVALID_PATH, error_msg=text))
        poses = np.array([planar_pose_from_msg(stamped.pose) for stamped in path.poses]).reshape(-1, 3)

        def feedback(world: MujocoWorld) -> Any:
            x, y, _ = world.base_pose()
            end_x, end_y, _ = poses[-1] if len(poses) else world.base_pose()  # an empty path is refused in a moment
            away = float(np.hypot(end_x - x, end_y - y))
            return FollowPath.Feedback(distance_to_goal=away, speed=abs(world.base_velocity()[0]))

        outcome = self._run(goal, Guarded(FollowPathCommand(poses)), feedback)
        return _end(goal, outcome, FollowPath.Result(error_code=_nav2(outcome), error_msg=outcome.message))

    def _run(self, goal: RunningGoal, command: Command, feedback: Feedback) -> Outcome:
        """Carry out ``command``, stopping it when the goal is cancelled; in the goal's worker thread."""
        try:
            handle = self._loop.submit(command)
            with self._lock:
                self._running[id(goal)] = (goal, feedback)
            return self._wait(goal, handle)
        except LoopError as error:
            self._on_loop_error(error)
            raise
        finally:
            with self._lock:
                self._running.pop(id(goal), None)

    def _wait(self, goal: RunningGoal, handle: Handle) -> Outcome:
        stopping = False
        for _ in range(round(COMMAND_SECONDS / CANCEL_POLL_SECONDS)):
            try:
                return handle.wait(CANCEL_POLL_SECONDS)
            except LoopDeadlineError:
                if goal.cancelled.is_set() and not stopping:
                    stopping = True
                    handle.cancel()
        handle.cancel()
        raise LoopDeadlineError(f"waited {COMMAND_SECONDS:.0f} s for the end of {type(handle.command).__name__}")


def _trajectory_command(trajectory: JointTrajectory) -> JointTrajectoryCommand:
    """Raises ValueError if the points have different lengths."""
    points = trajectory.points
    times = [time_from_msg(point.time_from_start) * 1e-9 for point in points]
    positions = np.array([list(point.positions) for point in points], dtype=float)
    with_velocities = bool(points) and all(len(point.velocities) for point in points)
    velocities = np.array([list(point.velocities) for point in points], dtype=float) if with_velocities else None
    return JointTrajectoryCommand(trajectory.joint_names, positions, times, velocities)


def _wrong_frame(message: Any, field: str) -> str:
    """Why a goal in this frame cannot be taken; empty if it can. ``message`` has a header."""
    frame = message.header.frame_id
    return "" if frame in ("", MAP_FRAME) else f"{field}.header.frame_id: {frame!r}; allowed: {MAP_FRAME}"


def _end(goal: RunningGoal, outcome: Outcome, result: Any) -> GoalEnd:
    if outcome.ok:
        return goal.succeed(result)
    return goal.canceled(result) if outcome.code is Code.CANCELLED else goal.abort(result)


def _nav2(outcome: Outcome) -> int:
    """Nav2's codes are unsigned; a goal that was cancelled has none."""
    return max(0, int(outcome.code))


def _trajectory_failure(error: Exception) -> Any:
    return FollowJointTrajectory.Result(error_code=Code.INVALID_GOAL, error_string=str(error))


def _gripper_failure(_: Exception) -> Any:
    return GripperAction.Result()


def _navigation_failure(error: Exception) -> Any:
    return NavigateToPose.Result(error_code=Code.FAILED_TO_MAKE_PROGRESS, error_msg=str(error))


def _path_failure(error: Exception) -> Any:
    return FollowPath.Result(error_code=FollowPath.Result.UNKNOWN, error_msg=str(error))
