"""The robot of a skill over ROS: the standard interfaces of a Fetch (DESIGN, section 6), with deadlines.

A reading is never older than the last command: it waits for messages stamped no earlier than the world state that was
asked for after that command. Deadlines are wall time and generous, as a simulation may be slower than real time; a dead
robot or bridge is noticed long before.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from geometry_msgs.msg import PoseStamped, Transform
from homie_msgs.srv import GetWorldState
from nav2_msgs.action import FollowPath, NavigateToPose
from nav_msgs.msg import Odometry, Path
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from homie_core.from_messages import planar_pose_from_msg, time_from_msg, world_state_from_msg, yaw_of_quaternion
from homie_core.world_state import WorldState
from homie_ros import qos
from homie_ros.conversions import MAP_FRAME, header, planar_pose_to_msg
from homie_ros.errors import GoalRejected, InfrastructureError, Interrupted
from homie_ros.homie_node import HomieNode
from homie_ros.waiting import ActionOutcome, call_service, require_success, send_goal, wait_until
from homie_skills.robot import (
    BaseBlocked,
    CommandCancelled,
    CommandRejected,
    CommandTimeout,
    FloatArray,
    GripperOutcome,
    NavigationFailed,
    RobotError,
    ToleranceViolated,
)

STATE_SECONDS = 10.0
"""Deadline of a reading."""

COMMAND_SECONDS = 60.0
"""Deadline of a command, to which comes the motion itself ..."""

SLOWEST = 20.0
"""... at this many wall seconds a simulated second."""

DRIVE_SECONDS = 600.0
"""Deadline of a drive, whose duration is not known beforehand."""

FRESH_NANOSECONDS = 500_000_000
"""How much newer than the asked stamp a message can be. One that is newer still is from before a reset of the clock."""

POLL = 0.002
"""Seconds between two looks for a message; most are there at the first one."""

HEAD_SPEED = 1.0
"""Radians per second of a turn of the head; the real one can do 1.57."""

HEAD_SECONDS = 0.5
"""Shortest duration of a turn of the head."""

HEAD_JOINTS = ("head_pan_joint", "head_tilt_joint")

_REFUSALS = {
    FollowJointTrajectory.Result.INVALID_GOAL,
    FollowJointTrajectory.Result.INVALID_JOINTS,
    FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP,
}


class RobotConnection:
    """A node's clients and subscriptions for one robot; made once, used by the robots of all goals."""

    def __init__(self, node: HomieNode) -> None:
        self.context = node.context
        self.arm = ActionClient(node, FollowJointTrajectory, "arm_with_torso_controller/follow_joint_trajectory")
        self.head = ActionClient(node, FollowJointTrajectory, "head_controller/follow_joint_trajectory")
        self.gripper = ActionClient(node, GripperCommand, "gripper_controller/gripper_action")
        self.navigator = ActionClient(node, NavigateToPose, "navigate_to_pose")
        self.path_follower = ActionClient(node, FollowPath, "follow_path")
        self.world_state = node.create_client(GetWorldState, "get_world_state")
        self.joints: JointState | None = None
        self.positions: dict[str, float] = {}
        self.odometry: Odometry | None = None
        self.map_to_odom: Transform | None = None
        node.create_subscription(JointState, "joint_states", self._on_joints, qos.stream())
        node.create_subscription(Odometry, "odom", self._on_odometry, qos.stream())
        node.create_subscription(TFMessage, "tf", self._on_transforms, qos.stream(100))
        node.create_subscription(TFMessage, "tf_static", self._on_transforms, qos.events())

    def _on_joints(self, message: JointState) -> None:
        self.positions.update(zip(message.name, message.position, strict=True))  # a robot may send them in parts
        self.joints = message

    def _on_odometry(self, message: Odometry) -> None:
        self.odometry = message

    def _on_transforms(self, message: TFMessage) -> None:
        for transform in message.transforms:
            if (transform.header.frame_id, transform.child_frame_id) == (MAP_FRAME, "odom"):
                self.map_to_odom = transform.transform


class RosRobot:
    """Implements :class:`homie_skills.robot.Robot`. May be used by one thread at a time, not the executor's.

    ``cancelled`` stops the running command; what then follows raises CommandCancelled. ``lost`` is empty, or says what
    did not answer during this goal.
    """

    def __init__(self, connection: RobotConnection, cancelled: threading.Event | None = None) -> None:
        self.lost = ""
        self._connection = connection
        self._cancelled = cancelled
        self._now: int | None = None
        """Stamp of the world state that was read after the last command, nanoseconds; None: not read yet."""

    def start_goal(self, cancelled: threading.Event) -> None:
        """Begin anew: ``cancelled`` stops this goal's commands, and nothing that was read before counts."""
        self.lost = ""
        self._cancelled = cancelled
        self._now = None

    def joint_positions(self) -> dict[str, float]:
        """Position of every joint by name, metres or radians."""
        self._fresh("joint_states", lambda: self._connection.joints)
        return dict(self._connection.positions)

    def base_pose(self) -> tuple[float, float, float]:
        """(x, y, yaw) in the map frame, from odometry and the transform from map to odom."""
        odometry = self._fresh("odom", lambda: self._connection.odometry)
        origin = self._arrival(lambda: self._connection.map_to_odom, "the transform from map to odom")
        return _compose(origin, planar_pose_from_msg(odometry.pose.pose))

    def world_state(self) -> WorldState:
        """Privileged state of the world now."""
        what = "get_world_state"
        self._check(what)
        try:
            response = call_service(
                self._connection.world_state, GetWorldState.Request(), STATE_SECONDS, what, cancelled=self._cancelled
            )
            state = world_state_from_msg(require_success(response, what).state)
        except InfrastructureError as error:
            raise self._robot_error(error) from error
        self._now = state.stamp
        return state

    def follow_joint_trajectory(self, joints: Sequence[str], positions: FloatArray, times: FloatArray) -> None:
        """Move torso and arm; see the protocol."""
        self._follow(self._connection.arm, "the arm's trajectory", joints, positions, times)

    def point_head(self, pan: float, tilt: float) -> None:
        """Turn the head."""
        present, target = self.joint_positions(), dict(zip(HEAD_JOINTS, (pan, tilt), strict=True))
        farthest = max(abs(target[joint] - present[joint]) for joint in HEAD_JOINTS)
        duration = max(HEAD_SECONDS, farthest / HEAD_SPEED)
        self._follow(self._connection.head, "the turn of the head", HEAD_JOINTS, [[pan, tilt]], [duration])

    def gripper(self, opening: float, max_effort: float) -> GripperOutcome:
        """Move the fingers; a stall against an object is an outcome."""
        goal = GripperCommand.Goal()
        goal.command.position = float(opening)
        goal.command.max_effort = float(max_effort)
        outcome = self._command(self._connection.gripper, goal, COMMAND_SECONDS, "the gripper command")
        result = outcome.result
        if not outcome.succeeded and not result.stalled:
            raise CommandRejected(f"the gripper stopped at {result.position:.3f} m, wanted {opening:.3f} m")
        return GripperOutcome(opening=result.position, stalled=result.stalled)

    def navigate_to(self, x: float, y: float, yaw: float) -> None:
        """Plan a base path and drive it."""
        goal = NavigateToPose.Goal(pose=_pose_in_map((x, y, yaw)))
        self._drive(self._connection.navigator, goal, f"the drive to ({x:.2f}, {y:.2f})")

    def follow_path(self, poses: FloatArray) -> None:
        """Drive through ``poses`` (n, 3)."""
        path = Path(header=header(0, MAP_FRAME), poses=[_pose_in_map((p[0], p[1], p[2])) for p in poses.tolist()])
        self._drive(self._connection.path_follower, FollowPath.Goal(path=path), f"a path of {len(poses)} poses")

    def _follow(
        self,
        client: ActionClient,
        what: str,
        joints: Sequence[str],
        positions: FloatArray | list[list[float]],
        times: FloatArray | list[float],
    ) -> None:
        points = [
            JointTrajectoryPoint(positions=list(map(float, row)), time_from_start=_duration(float(seconds)))
            for row, seconds in zip(positions, times, strict=True)
        ]
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=list(joints), points=points))
        seconds = float(times[-1]) if len(times) else 0.0
        outcome = self._command(client, goal, COMMAND_SECONDS + SLOWEST * seconds, what)
        result = outcome.result
        if outcome.succeeded and result.error_code == FollowJointTrajectory.Result.SUCCESSFUL:
            return
        refused = result.error_code in _REFUSALS
        raise (CommandRejected if refused else ToleranceViolated)(f"{what}: {_reason(outcome, result.error_string)}")

    def _drive(self, client: ActionClient, goal: Any, what: str) -> None:
        outcome = self._command(client, goal, DRIVE_SECONDS, what)
        if not outcome.succeeded or outcome.result.error_code:
            blocked = outcome.result.error_code == FollowPath.Result.FAILED_TO_MAKE_PROGRESS
            raise (BaseBlocked if blocked else NavigationFailed)(
                f"{what}: {_reason(outcome, outcome.result.error_msg)}"
            )

    def _command(self, client: ActionClient, goal: Any, timeout: float, what: str) -> ActionOutcome[Any]:
        """Send a goal; afterwards nothing that was read before counts as the state of now."""
        self._check(what)
        self._now = None
        try:
            outcome = send_goal(client, goal, timeout, what, cancelled=self._cancelled)
        except InfrastructureError as error:
            raise self._robot_error(error) from error
        self._check(what)
        if outcome.canceled:
            raise CommandCancelled(f"{what} was cancelled by someone else")
        return outcome

    def _check(self, what: str) -> None:
        if self._cancelled is not None and self._cancelled.is_set():
            raise CommandCancelled(f"{what} was cancelled")

    def _fresh(self, topic: str, latest: Callable[[], Any]) -> Any:
        """The message ``latest()``, once it is one of now."""
        now = self._now if self._now is not None else self.world_state().stamp

        def fresh() -> Any:
            message = latest()
            if message is None or not now <= time_from_msg(message.header.stamp) <= now + FRESH_NANOSECONDS:
                return None
            return message

        return self._arrival(fresh, f"{topic} stamped {now * 1e-9:.3f} s")

    def _arrival(self, get: Callable[[], Any], what: str) -> Any:
        """What ``get()`` returns, once that is not None."""
        found: list[Any] = []

        def arrived() -> bool:
            found[:] = [get()]
            return found[0] is not None

        try:
            wait_until(
                arrived, STATE_SECONDS, what, context=self._connection.context, cancelled=self._cancelled, poll=POLL
            )
        except InfrastructureError as error:
            raise self._robot_error(error) from error
        return found[0]

    def _robot_error(self, error: InfrastructureError) -> RobotError:
        if isinstance(error, Interrupted):
            return CommandCancelled(str(error))
        if isinstance(error, GoalRejected):
            return CommandRejected(str(error))
        self.lost = str(error)
        return CommandTimeout(str(error))


def _reason(outcome: ActionOutcome[Any], text: str) -> str:
    if text:
        return text
    return (
        "aborted without a reason"
        if outcome.status == GoalStatus.STATUS_ABORTED
        else f"ended in state {outcome.status}"
    )


def _pose_in_map(pose: tuple[float, float, float]) -> PoseStamped:
    return PoseStamped(header=header(0, MAP_FRAME), pose=planar_pose_to_msg(pose))


def _duration(seconds: float) -> Duration:
    whole = math.floor(seconds)
    return Duration(sec=whole, nanosec=min(round((seconds - whole) * 1e9), 999_999_999))


def _compose(origin: Transform, pose: tuple[float, float, float]) -> tuple[float, float, float]:
    """``pose`` in the frame of which ``origin`` is the transform, in the outer frame."""
    turn = yaw_of_quaternion(origin.rotation)
    x, y, yaw = pose
    return (
        origin.translation.x + x * math.cos(turn) - y * math.sin(turn),
        origin.translation.y + x * math.sin(turn) + y * math.cos(turn),
        math.remainder(yaw + turn, 2 * math.pi),
    )
