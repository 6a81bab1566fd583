"""The robot over ROS, against a bridge that speaks the same interfaces and moves at once."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from control_msgs.action import FollowJointTrajectory, GripperCommand
from geometry_msgs.msg import Transform, TransformStamped, Vector3
from homie_msgs.srv import GetWorldState
from nav2_msgs.action import FollowPath, NavigateToPose
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from homie_core.from_messages import planar_pose_from_msg
from homie_core.world_state import WorldState
from homie_ros import qos
from homie_ros.action_server import GoalEnd, RunningGoal, WhenBusy, WorkerActionServer
from homie_ros.conversions import header, planar_pose_to_msg, quaternion_of_yaw, world_state_to_msg
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeHost
from homie_ros.worker_service import WorkerService
from homie_skills.robot import (
    BaseBlocked,
    CommandCancelled,
    CommandRejected,
    CommandTimeout,
    NavigationFailed,
    Robot,
    ToleranceViolated,
)
from homie_skills.ros_robot import RobotConnection, RosRobot
from support.graph import fresh_host


class InstantBridge(HomieNode):
    """Jumps to every target, one simulated second a command; odometry is shifted and turned against the map."""

    def __init__(self, **options: Any) -> None:
        super().__init__("instant_bridge", **options)
        self.now = 0
        self.joints = {"shoulder_pan_joint": 0.0, "head_pan_joint": 0.0, "head_tilt_joint": 0.0}
        self.pose = (0.0, 0.0, 0.0)
        self.answer_state = True
        self.publish_late = 0.0
        self.trajectories: list[Any] = []
        self.paths: list[list[tuple[float, float, float]]] = []
        self._joint_states = self.create_publisher(JointState, "joint_states", qos.stream())
        self._odom = self.create_publisher(Odometry, "odom", qos.stream())
        self._tf = self.create_publisher(TFMessage, "tf_static", qos.events())
        WorkerService(self, GetWorldState, "get_world_state", self._world_state)
        for name in ("arm_with_torso_controller", "head_controller"):
            self._serve(FollowJointTrajectory, f"{name}/follow_joint_trajectory", self._arm)
        self._serve(GripperCommand, "gripper_controller/gripper_action", self._gripper)
        self._serve(NavigateToPose, "navigate_to_pose", self._navigate)
        self._serve(FollowPath, "follow_path", self._follow)
        self._publish_transform()
        self.create_timer(0.1, self._republish)

    def _serve(self, kind: Any, name: str, work: Any) -> None:
        WorkerActionServer(self, kind, name, work, when_busy=WhenBusy.PREEMPT)

    def _publish_transform(self) -> None:
        transform = Transform(translation=Vector3(x=1.0, y=2.0), rotation=quaternion_of_yaw(math.pi / 2))
        stamped = TransformStamped(header=header(0, "map"), child_frame_id="odom", transform=transform)
        self._tf.publish(TFMessage(transforms=[stamped]))

    def _republish(self) -> None:
        if not self.publish_late:
            self.publish_state()

    def publish_state(self) -> None:
        names, positions = list(self.joints), list(self.joints.values())
        self._joint_states.publish(JointState(header=header(self.now), name=names, position=positions))
        odometry = Odometry(header=header(self.now, "odom"))
        odometry.pose.pose = planar_pose_to_msg(self.pose)
        self._odom.publish(odometry)

    def _advance(self) -> None:
        self.now += 1_000_000_000
        if self.publish_late:
            threading.Timer(self.publish_late, self.publish_state).start()
        else:
            self.publish_state()

    def _world_state(self, _: GetWorldState.Request) -> GetWorldState.Response:
        state = WorldState("test", self.now, (), self.pose)
        if not self.answer_state:
            return GetWorldState.Response(message="the world is on fire")
        return GetWorldState.Response(success=True, state=world_state_to_msg(state))

    def _arm(self, goal: RunningGoal) -> GoalEnd:
        trajectory = goal.request.trajectory
        self.trajectories.append(trajectory)
        target = trajectory.points[-1].positions[0]
        Result = FollowJointTrajectory.Result  # noqa: N806 - a class
        if "no_joint" in trajectory.joint_names:
            return goal.abort(Result(error_code=Result.INVALID_JOINTS, error_string="no_joint is no joint"))
        if target == 13.0:
            return goal.abort(Result(error_code=Result.GOAL_TOLERANCE_VIOLATED, error_string="0.3 rad off"))
        if target == 99.0:
            goal.cancelled.wait(20)
            return goal.canceled(Result())
        if target == 42.0:
            raise RuntimeError("servo burnt")
        self.joints.update(zip(trajectory.joint_names, trajectory.points[-1].positions, strict=True))
        self._advance()
        return goal.succeed(Result())

    def _gripper(self, goal: RunningGoal) -> GoalEnd:
        wanted = goal.request.command.position
        self._advance()
        stalled = wanted < 0.05
        return goal.succeed(
            GripperCommand.Result(position=max(wanted, 0.05), stalled=stalled, reached_goal=not stalled)
        )

    def _navigate(self, goal: RunningGoal) -> GoalEnd:
        pose = planar_pose_from_msg(goal.request.pose.pose)
        if pose[0] > 100:
            return goal.abort(NavigateToPose.Result(error_code=208, error_msg="outside of the map"))
        if pose[0] > 50:
            return goal.abort(NavigateToPose.Result(error_code=105, error_msg="blocked"))
        self.pose = pose
        self._advance()
        return goal.succeed(NavigateToPose.Result())

    def _follow(self, goal: RunningGoal) -> GoalEnd:
        self.paths.append([planar_pose_from_msg(pose.pose) for pose in goal.request.path.poses])
        self._advance()
        return goal.succeed(FollowPath.Result())


class Setup:
    """A bridge, a robot on it, and how to stop the robot."""

    def __init__(self, host: NodeHost) -> None:
        self.bridge = host.add(InstantBridge)
        self.node = host.add(lambda **options: HomieNode("skill", **options))
        self.cancelled = threading.Event()
        self.robot: Robot = RosRobot(RobotConnection(self.node), self.cancelled)


@pytest.fixture
def setup() -> Iterator[Setup]:
    with fresh_host() as host:
        yield Setup(host)
        host.check()


def test_readings_are_those_after_the_last_command(setup: Setup) -> None:
    for angle in (0.1, 0.2, 0.3, 0.4):
        setup.robot.follow_joint_trajectory(["shoulder_pan_joint"], np.array([[angle]]), np.array([1.0]))
        assert setup.robot.joint_positions()["shoulder_pan_joint"] == angle


def test_a_reading_waits_for_a_message_that_is_late(setup: Setup) -> None:
    setup.robot.joint_positions()
    setup.bridge.publish_late = 0.4
    setup.robot.follow_joint_trajectory(["shoulder_pan_joint"], np.array([[0.7]]), np.array([1.0]))
    assert setup.robot.joint_positions()["shoulder_pan_joint"] == 0.7


def test_readings_after_the_clock_was_set_back(setup: Setup) -> None:
    for angle in (0.1, 0.2):
        setup.robot.follow_joint_trajectory(["shoulder_pan_joint"], np.array([[angle]]), np.array([1.0]))
    setup.bridge.now = 0
    setup.bridge.joints["shoulder_pan_joint"] = -1.0
    robot = RosRobot(RobotConnection(setup.node))
    assert robot.joint_positions()["shoulder_pan_joint"] == -1.0


def test_the_base_s_pose_is_in_the_map(setup: Setup) -> None:
    setup.robot.navigate_to(3.0, 1.0, 0.5)
    assert setup.robot.base_pose() == pytest.approx((1.0 - 1.0, 2.0 + 3.0, 0.5 + math.pi / 2))


def test_the_trajectory_is_sent_as_it_is(setup: Setup) -> None:
    setup.robot.follow_joint_trajectory(
        ["shoulder_pan_joint", "head_pan_joint"], np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([0.5, 1.25])
    )
    sent = setup.bridge.trajectories[-1]
    assert sent.joint_names == ["shoulder_pan_joint", "head_pan_joint"]
    assert [list(point.positions) for point in sent.points] == [[0.1, 0.2], [0.3, 0.4]]
    assert [(p.time_from_start.sec, p.time_from_start.nanosec) for p in sent.points] == [
        (0, 500_000_000),
        (1, 250_000_000),
    ]


def test_the_head(setup: Setup) -> None:
    setup.robot.point_head(0.3, 0.6)
    positions = setup.robot.joint_positions()
    assert (positions["head_pan_joint"], positions["head_tilt_joint"]) == (0.3, 0.6)


def test_the_gripper(setup: Setup) -> None:
    opened = setup.robot.gripper(0.1, 60)
    assert (opened.opening, opened.stalled) == (0.1, False)
    closed = setup.robot.gripper(0.0, 60)
    assert (closed.opening, closed.stalled) == (0.05, True)


def test_a_path(setup: Setup) -> None:
    poses = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.2]])
    setup.robot.follow_path(poses)
    np.testing.assert_allclose(np.array(setup.bridge.paths[-1]), poses)


def test_failures_say_what_the_robot_said(setup: Setup) -> None:
    one = np.array([1.0])
    with pytest.raises(CommandRejected, match="no_joint is no joint"):
        setup.robot.follow_joint_trajectory(["no_joint"], np.array([[0.0]]), one)
    with pytest.raises(ToleranceViolated, match=r"the arm's trajectory: 0\.3 rad off"):
        setup.robot.follow_joint_trajectory(["shoulder_pan_joint"], np.array([[13.0]]), one)
    with pytest.raises(NavigationFailed, match="outside of the map"):
        setup.robot.navigate_to(200.0, 0.0, 0.0)
    with pytest.raises(BaseBlocked, match="blocked"):
        setup.robot.navigate_to(60.0, 0.0, 0.0)


def test_a_command_that_is_cancelled(setup: Setup) -> None:
    threading.Timer(0.4, setup.cancelled.set).start()
    start = time.monotonic()
    with pytest.raises(CommandCancelled, match="the arm's trajectory was cancelled"):
        setup.robot.follow_joint_trajectory(["shoulder_pan_joint"], np.array([[99.0]]), np.array([1.0]))
    assert time.monotonic() - start < 2
    with pytest.raises(CommandCancelled):
        setup.robot.world_state()


def test_a_world_that_does_not_answer(setup: Setup) -> None:
    setup.bridge.answer_state = False
    with pytest.raises(CommandTimeout, match="get_world_state failed: the world is on fire"):
        setup.robot.joint_positions()


def test_a_bridge_that_dies_in_the_middle() -> None:
    with fresh_host() as host, NodeHost(domain_id=host.context.get_domain_id()) as bridge_host:
        bridge_host.add(InstantBridge)
        robot = RosRobot(RobotConnection(host.add(lambda **options: HomieNode("skill", **options))))
        robot.joint_positions()
        threading.Timer(0.4, bridge_host.close).start()
        start = time.monotonic()
        with pytest.raises((CommandTimeout, CommandRejected, CommandCancelled, ToleranceViolated)):
            robot.follow_joint_trajectory(["shoulder_pan_joint"], np.array([[99.0]]), np.array([1.0]))
        assert time.monotonic() - start < 10
