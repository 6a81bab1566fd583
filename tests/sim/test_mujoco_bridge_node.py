"""The bridge over ROS: real physics, real messages, small peers."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from geometry_msgs.msg import PoseStamped, Twist
from homie_msgs.msg import Observation
from homie_msgs.msg import WorldState as WorldStateMessage
from homie_msgs.srv import GetObservation, GetWorldState, ResetEpisode
from nav2_msgs.action import FollowPath, NavigateToPose
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from rclpy.action import ActionClient
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from homie_core import fetch
from homie_core.from_messages import planar_pose_from_msg, time_from_msg, world_state_from_msg
from homie_core.world_state import WorldState
from homie_ros import qos
from homie_ros.conversions import header, planar_pose_to_msg
from homie_ros.errors import InfrastructureError
from homie_ros.homie_node import HomieNode
from homie_ros.images import image_from_msg, jpeg_from_msg, views_from_msg
from homie_ros.node_host import NodeFailed, NodeHost
from homie_ros.parameters import ParameterError
from homie_ros.waiting import ActionOutcome, call_service, require_success, send_goal, wait_until
from homie_sim.mujoco_bridge_node import MujocoBridgeNode
from homie_sim.rendering import RenderError
from support.graph import fresh_host

ARM = "arm_with_torso_controller/follow_joint_trajectory"
HEAD = "head_controller/follow_joint_trajectory"

TOPICS = {
    "/world_state": "homie_msgs/msg/WorldState",
    "/world_description": "std_msgs/msg/String",
    "/clock": "rosgraph_msgs/msg/Clock",
    "/joint_states": "sensor_msgs/msg/JointState",
    "/odom": "nav_msgs/msg/Odometry",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/tf_static": "tf2_msgs/msg/TFMessage",
    "/map": "nav_msgs/msg/OccupancyGrid",
    "/plan": "nav_msgs/msg/Path",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    "/head_camera/rgb/image_raw/compressed": "sensor_msgs/msg/CompressedImage",
    "/head_camera/rgb/camera_info": "sensor_msgs/msg/CameraInfo",
    "/third_person/image_raw/compressed": "sensor_msgs/msg/CompressedImage",
    "/top_down/image_raw/compressed": "sensor_msgs/msg/CompressedImage",
    "/cmd_vel": "geometry_msgs/msg/Twist",
}


class Client(HomieNode):
    """Asks the bridge for things and keeps what it hears."""

    def __init__(self, **options: Any) -> None:
        super().__init__("client", **options)
        self.heard: dict[str, list[Any]] = {}
        self.actions = {
            ARM: ActionClient(self, FollowJointTrajectory, ARM),
            HEAD: ActionClient(self, FollowJointTrajectory, HEAD),
            "gripper": ActionClient(self, GripperCommand, "gripper_controller/gripper_action"),
            "navigate": ActionClient(self, NavigateToPose, "navigate_to_pose"),
            "path": ActionClient(self, FollowPath, "follow_path"),
        }
        self._reset = self.create_client(ResetEpisode, "reset_episode")
        self._observe = self.create_client(GetObservation, "get_observation")
        self._state = self.create_client(GetWorldState, "get_world_state")
        self.twist = self.create_publisher(Twist, "cmd_vel", qos.stream())

    def listen(self, topic: str, kind: Any, latched: bool = False) -> list[Any]:
        """What is heard on ``topic`` from now on; of a latched topic, also the latest message."""
        if topic in self.heard:
            self.heard[topic][:] = self.heard[topic][-1:] if latched else []
            return self.heard[topic]
        heard = self.heard.setdefault(topic, [])
        self.create_subscription(kind, topic, heard.append, qos.state() if latched else qos.stream(1000))
        wait_until(lambda: self.count_publishers(topic) > 0, 10, topic)
        time.sleep(0.2)
        return heard

    def reset(self, **fields: Any) -> ResetEpisode.Response:
        return call_service(self._reset, ResetEpisode.Request(**fields), 60)

    def observe(self) -> GetObservation.Response:
        return call_service(self._observe, GetObservation.Request(), 60)

    def state(self) -> WorldState:
        response = require_success(call_service(self._state, GetWorldState.Request(), 60), "get_world_state")
        return world_state_from_msg(response.state)

    def send(self, name: str, goal: Any, **keywords: Any) -> ActionOutcome[Any]:
        return send_goal(self.actions[name], goal, 120, name, **keywords)

    def torso(self, height: float, seconds: float, **keywords: Any) -> ActionOutcome[Any]:
        return self.send(ARM, trajectory(["torso_lift_joint"], [[height]], [seconds]), **keywords)

    def drive(self, x: float, y: float, yaw: float, **keywords: Any) -> ActionOutcome[Any]:
        goal = NavigateToPose.Goal()
        goal.pose.header = header(0, "map")
        goal.pose.pose = planar_pose_to_msg((x, y, yaw))
        return self.send("navigate", goal, **keywords)


def trajectory(joints: list[str], positions: list[list[float]], times: list[float]) -> FollowJointTrajectory.Goal:
    points = [
        JointTrajectoryPoint(positions=row, time_from_start=Duration(sec=int(when), nanosec=round((when % 1) * 1e9)))
        for row, when in zip(positions, times, strict=True)
    ]
    return FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=joints, points=points))


@pytest.fixture(scope="module")
def graph() -> Iterator[tuple[MujocoBridgeNode, Client, NodeHost]]:
    """One bridge for all tests that leave it alive; each begins with a reset."""
    with fresh_host() as host:
        bridge = host.add(MujocoBridgeNode, parameters={"video_fps": 0.0, "render": _can_render()})
        yield bridge, host.add(Client), host
        host.check()


@pytest.fixture
def client(graph: tuple[MujocoBridgeNode, Client, NodeHost]) -> Client:
    require_success(graph[1].reset(seed=5), "reset")
    return graph[1]


def _can_render() -> bool:
    try:
        with fresh_host() as host:
            host.add(MujocoBridgeNode, parameters={"video_fps": 0.0})
    except RenderError:
        return False
    return True


needs_pictures = pytest.mark.skipif(not _can_render(), reason="no OpenGL on this machine")


def test_every_topic_is_there_with_its_type(client: Client) -> None:
    wait_until(lambda: set(TOPICS) <= {name for name, _ in client.get_topic_names_and_types()}, 10, "the topics")
    found = dict(client.get_topic_names_and_types())
    assert {topic: found[topic] for topic in TOPICS} == {topic: [kind] for topic, kind in TOPICS.items()}


def test_a_reset_gives_the_same_state_for_the_same_seed(client: Client) -> None:
    first = client.state()
    client.torso(0.2, 3.0)
    assert client.state().stamp > 0
    assert time_from_msg(client.reset(seed=5).stamp) == 0
    assert repr(client.state()) == repr(first)  # a state holds NaN, which equals nothing
    client.reset(seed=6)
    assert repr(client.state()) != repr(first)


def test_placements(client: Client) -> None:
    response = client.reset(seed=1, placements_json='[{"object": "apple_1", "on": "brown_table"}]')
    assert response.success, response.message
    assert client.state()["apple_1"].parent == "brown_table"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scene": "castle"}, "scene: 'castle'; allowed: house_1"),
        ({"placements_json": "{"}, "placements_json: Expecting property name"),
        ({"placements_json": "{}"}, "placements_json: must be a list, not dict"),
        ({"placements_json": '[{"object": "dragon_1", "on": "sofa"}]'}, "dragon_1"),
    ],
)
def test_resets_that_are_not_possible(client: Client, fields: dict[str, Any], message: str) -> None:
    response = client.reset(**fields)
    assert not response.success
    assert message in response.message
    assert "\n" not in response.message
    assert client.reset().success


def test_everything_is_stamped_with_the_new_time_after_a_command(client: Client) -> None:
    joints, odometry = client.listen("joint_states", JointState), client.listen("odom", Odometry)
    states = client.listen("world_state", WorldStateMessage, latched=True)
    assert client.torso(0.1, 1.0).succeeded
    end = client.state().stamp
    wait_until(
        lambda: all(time_from_msg(messages[-1].header.stamp) == end for messages in (joints, odometry, states)),
        5,
        "the end's stamp",
    )
    assert dict(zip(joints[-1].name, joints[-1].position, strict=True))["torso_lift_joint"] == pytest.approx(
        0.1, abs=0.006
    )
    assert tuple(joints[-1].name) == fetch.JOINTS


def test_time_stands_still_while_nothing_runs(client: Client) -> None:
    joints = client.listen("joint_states", JointState)
    before = len(joints)
    time.sleep(1.0)
    assert 5 <= len(joints) - before <= 15
    assert {time_from_msg(message.header.stamp) for message in joints[before:]} == {0}


def test_feedback_comes_ten_times_a_simulated_second(client: Client) -> None:
    heard: list[Any] = []
    client.torso(0.2, 3.0, feedback=heard.append)
    # The simulation may be much faster than this client: then it gets the latest ones.
    wait_until(lambda: len(heard) >= 5, 5, "feedback")
    assert heard[0].joint_names == ["torso_lift_joint"]
    assert all(time_from_msg(message.header.stamp) % 100_000_000 == 0 for message in heard)
    heights = [message.actual.positions[0] for message in heard]
    assert heights == sorted(heights)


def test_a_cancelled_command_stops_where_it_is(client: Client) -> None:
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    start = time.monotonic()
    outcome = client.torso(0.38, 600.0, cancelled=cancelled)
    assert outcome.canceled
    assert time.monotonic() - start < 2
    stamp = client.state().stamp
    time.sleep(0.2)
    assert client.state().stamp == stamp
    assert client.torso(0.1, 1.0).succeeded


def test_a_newer_goal_replaces_the_running_one(client: Client) -> None:
    ends: list[ActionOutcome[Any]] = []
    older = threading.Thread(target=lambda: ends.append(client.torso(0.38, 600.0)))
    older.start()
    wait_until(lambda: client.state().stamp > 0, 10, "the first goal to move")
    assert client.torso(0.1, 2.0).succeeded
    older.join(10)
    assert ends[0].aborted


def test_a_path_replaces_a_drive(client: Client) -> None:
    ends: list[ActionOutcome[Any]] = []
    older = threading.Thread(target=lambda: ends.append(client.drive(5.6, 0.8, 0.0)))
    older.start()
    wait_until(lambda: client.state().stamp > 0, 10, "the drive to begin")
    path = FollowPath.Goal(path=Path(header=header(0, "map")))
    outcome = client.send("path", path)
    older.join(10)
    assert ends[0].aborted or ends[0].succeeded
    assert (outcome.aborted, outcome.result.error_code) == (True, FollowPath.Result.INVALID_PATH)


def test_paths_without_poses_are_refused_while_something_else_moves(client: Client) -> None:
    arm = threading.Thread(target=client.torso, args=(0.38, 120.0))
    arm.start()
    wait_until(lambda: client.state().stamp > 0, 10, "the arm to move")
    while arm.is_alive():
        outcome = client.send("path", FollowPath.Goal(path=Path(header=header(0, "map"))))
        assert (outcome.aborted, outcome.result.error_code) == (True, FollowPath.Result.INVALID_PATH)


def test_arm_head_and_base_move_at_the_same_time(client: Client) -> None:
    head = trajectory(["head_pan_joint", "head_tilt_joint"], [[0.5, 0.3]], [2.0])
    ends: list[ActionOutcome[Any]] = []
    jobs: list[Callable[[], Any]] = [
        lambda: ends.append(client.torso(0.15, 2.0)),
        lambda: ends.append(client.send(HEAD, head)),
        lambda: ends.append(client.drive(3.9, 1.6, 0.0)),
    ]
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [end.succeeded for end in ends] == [True] * 3
    assert client.state().stamp < 8_000_000_000


def test_a_drive_and_its_plan(client: Client) -> None:
    plans = client.listen("plan", Path)
    heard: list[Any] = []
    outcome = client.drive(5.6, 0.8, 1.0, feedback=heard.append)
    assert outcome.succeeded
    assert outcome.result.error_code == NavigateToPose.Result.NONE
    assert client.state().robot_pose == pytest.approx((5.6, 0.8, 1.0), abs=0.02)
    wait_until(lambda: bool(plans), 5, "the plan")
    first, last = plans[-1].poses[0], plans[-1].poses[-1]
    assert planar_pose_from_msg(first.pose)[:2] == pytest.approx((3.4, 1.6), abs=0.02)
    assert planar_pose_from_msg(last.pose)[:2] == pytest.approx((5.6, 0.8), abs=0.02)
    remaining = [message.distance_remaining for message in heard]
    assert remaining[0] > 2
    assert remaining[-1] < 0.5


def test_a_path_forwards_and_backwards(client: Client) -> None:
    _, y, yaw = client.state().robot_pose
    for distance in (0.3, -0.3):
        start = client.state().robot_pose[0]
        steps = [start + distance * share for share in (0.0, 0.5, 1.0)]
        poses = [planar_pose_to_msg((step, y, yaw)) for step in steps]
        goal = FollowPath.Goal(path=Path(header=header(0, "map")))
        goal.path.poses = [PoseStamped(pose=pose) for pose in poses]
        assert client.send("path", goal).succeeded
        assert client.state().robot_pose[0] == pytest.approx(start + distance, abs=0.02)


def test_the_gripper(client: Client) -> None:
    goal = GripperCommand.Goal()
    goal.command.position = 0.08
    opened = client.send("gripper", goal)
    assert opened.succeeded
    assert (opened.result.reached_goal, opened.result.stalled) == (True, False)
    assert opened.result.position == pytest.approx(0.08, abs=0.004)
    goal.command.position = 0.5
    assert client.send("gripper", goal).aborted


@pytest.mark.parametrize(
    ("joints", "positions", "times", "code", "text"),
    [
        (
            ["elbow"],
            [[0.0]],
            [1.0],
            FollowJointTrajectory.Result.INVALID_JOINTS,
            "joint_names: 'elbow'; allowed: torso",
        ),
        (["head_pan_joint"], [[0.0]], [1.0], FollowJointTrajectory.Result.INVALID_JOINTS, "head_pan_joint"),
        (
            ["elbow_flex_joint"],
            [[9.0]],
            [1.0],
            FollowJointTrajectory.Result.INVALID_GOAL,
            "elbow_flex_joint: position 9",
        ),
        (["elbow_flex_joint"], [[0.0]], [0.1], FollowJointTrajectory.Result.INVALID_GOAL, "elbow_flex_joint: speed"),
        (["elbow_flex_joint"], [[2.0], [2.0, 1.0]], [1.0, 2.0], FollowJointTrajectory.Result.INVALID_GOAL, "points:"),
        (["elbow_flex_joint"], [], [], FollowJointTrajectory.Result.INVALID_GOAL, "shape"),
        (["elbow_flex_joint"], [[math.nan]], [1.0], FollowJointTrajectory.Result.INVALID_GOAL, "finite"),
    ],
)
def test_trajectories_that_are_refused(
    client: Client, joints: list[str], positions: list[list[float]], times: list[float], code: int, text: str
) -> None:
    outcome = client.send(ARM, trajectory(joints, positions, times))
    assert outcome.aborted
    assert outcome.result.error_code == code
    assert text in outcome.result.error_string
    assert client.state().stamp == 0


def test_drives_that_are_refused(client: Client) -> None:
    outside = client.drive(100.0, 0.0, 0.0)
    assert (outside.aborted, outside.result.error_code) == (True, 208)
    assert "no way from (3.40, 1.60) to (100.00, 0.00)" in outside.result.error_msg
    goal = NavigateToPose.Goal()
    goal.pose.header.frame_id = "base_link"
    frame = client.send("navigate", goal)
    assert (frame.aborted, frame.result.error_msg) == (True, "pose.header.frame_id: 'base_link'; allowed: map")
    assert client.state().stamp == 0


def test_cmd_vel(client: Client) -> None:
    x = client.state().robot_pose[0]
    twist = Twist()
    twist.linear.x = 0.5
    wait_until(lambda: client.twist.get_subscription_count() > 0, 10, "the bridge")
    for _ in range(10):
        client.twist.publish(twist)
        time.sleep(0.05)
    time.sleep(0.3)
    assert client.state().robot_pose[0] > x + 0.02
    stamp = client.state().stamp
    time.sleep(0.2)
    assert client.state().stamp == stamp


def test_the_map(client: Client) -> None:
    maps = client.listen("map", OccupancyGrid, latched=True)
    wait_until(lambda: bool(maps), 5, "the map")
    grid = maps[-1]
    cells = np.array(grid.data, dtype=np.int8).reshape(grid.info.height, grid.info.width)
    assert set(np.unique(cells)) == {0, 100}
    column = int((3.4 - grid.info.origin.position.x) / grid.info.resolution)
    row = int((1.6 - grid.info.origin.position.y) / grid.info.resolution)
    assert cells[row, column] == 0


@needs_pictures
def test_an_observation_disturbs_nothing(client: Client) -> None:
    published = client.listen("observation", Observation)
    before = client.state()
    response = client.observe()
    assert response.success, response.message
    views = views_from_msg(response.observation)
    assert list(views) == ["front", "left", "back", "right"]
    for view in views.values():
        assert view.shape == (256, 256, 3)
        assert view.std() > 5
    assert repr(client.state()) == repr(before)
    again = views_from_msg(client.observe().observation)
    for name, view in views.items():
        np.testing.assert_array_equal(again[name], view)
    wait_until(lambda: len(published) == 2, 5, "the published observations")


@needs_pictures
def test_the_house_from_above_at_each_reset_and_observation(client: Client) -> None:
    above = client.listen("top_down/image_raw/compressed", CompressedImage, latched=True)
    wait_until(lambda: bool(above), 5, "the picture of the last reset, which is kept")
    del above[:]
    client.reset()
    client.torso(0.1, 0.5)
    client.observe()
    wait_until(lambda: len(above) == 2, 5, "two pictures")
    assert [time_from_msg(message.header.stamp) for message in above] == [0, client.state().stamp]
    assert jpeg_from_msg(above[-1]).shape == (480, 640, 3)


@needs_pictures
def test_an_observation_may_be_a_text_instead_of_pictures() -> None:
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters={"video_fps": 0.0, "views": False, "describe": True})
        client = host.add(Client)
        published = client.listen("observation", Observation)
        observation = require_success(client.observe(), "get_observation").observation
        assert not observation.views
        assert [line.split(":")[0] for line in observation.text.splitlines()] == [
            "room", "front", "left", "back", "right"
        ]  # fmt: skip
        wait_until(lambda: bool(published), 5, "the observation on its topic")
        assert published[-1].text == observation.text


def test_without_pictures_the_rest_works() -> None:
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters={"render": False})
        client = host.add(Client)
        assert client.torso(0.1, 1.0).succeeded
        response = client.observe()
        assert not response.success
        assert "render" in response.message


@needs_pictures
def test_video_runs_in_simulated_time() -> None:
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters={"video_fps": 4.0})
        client = host.add(Client)
        head = client.listen("head_camera/rgb/image_raw/compressed", CompressedImage)
        third = client.listen("third_person/image_raw/compressed", CompressedImage)
        info = client.listen("head_camera/rgb/camera_info", CameraInfo)
        depth = client.listen("head_camera/depth_registered/image_raw", Image)
        client.reset()
        client.torso(0.15, 2.0)
        wait_until(lambda: min(map(len, (head, third, info, depth))) >= 9, 10, "nine pictures")
        stamps = [time_from_msg(message.header.stamp) for message in head]
        assert stamps[:9] == [250_000_000 * number for number in range(9)]
        assert [time_from_msg(message.header.stamp) for message in third] == stamps
        assert jpeg_from_msg(head[-1]).shape == (480, 640, 3)
        assert jpeg_from_msg(third[-1]).shape == (360, 640, 3)
        assert (info[-1].width, info[-1].height) == (640, 480)
        distances = image_from_msg(depth[-1])
        assert distances.shape == (480, 640)
        assert 0.2 < float(np.median(distances.astype(float))) < 12


def test_the_camera_s_frame_follows_the_head(client: Client) -> None:
    transforms = client.listen("tf", TFMessage)

    def camera() -> Any:
        wait_until(lambda: bool(transforms), 5, "tf")
        return next(item for item in transforms[-1].transforms if "optical" in item.child_frame_id).transform

    level = camera()
    assert 1.0 < level.translation.z < 1.3
    assert (level.rotation.x, level.rotation.y, level.rotation.z, level.rotation.w) == pytest.approx(
        (-0.5, 0.5, -0.5, 0.5), abs=0.02
    ) or (level.rotation.x, level.rotation.y, level.rotation.z, level.rotation.w) == pytest.approx(
        (0.5, -0.5, 0.5, -0.5), abs=0.02
    )


def test_the_same_commands_give_the_same_motion(client: Client) -> None:
    def play() -> str:
        client.reset(seed=9)
        client.drive(4.2, 1.2, 0.7)
        client.torso(0.2, 2.0)
        return repr(client.state())

    assert play() == play()


def test_physics_that_fails_ends_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    with fresh_host() as host:
        bridge = host.add(MujocoBridgeNode, parameters={"video_fps": 0.0, "render": False})
        client = host.add(Client)
        client.torso(0.1, 1.0)

        def explode(*_: Any) -> None:
            raise ArithmeticError("nan in qacc")

        monkeypatch.setattr(type(bridge._loop._world), "tick", explode)
        outcome = client.torso(0.2, 2.0)
        assert outcome.aborted
        assert "nan in qacc" in outcome.result.error_string
        with pytest.raises(NodeFailed, match=r"node mujoco_bridge failed: LoopError: .*nan in qacc"):
            host.wait(10)


def test_leaving_in_the_middle_of_a_command() -> None:
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters={"video_fps": 0.0, "render": False})
        client = host.add(Client)
        moving = threading.Thread(target=_ignore, args=(lambda: client.torso(0.38, 600.0),))
        moving.start()
        wait_until(lambda: client.state().stamp > 0, 10, "the command to move")
        start = time.monotonic()
    assert time.monotonic() - start < 8
    moving.join(5)
    assert not moving.is_alive()


def _ignore(job: Callable[[], Any]) -> None:
    with contextlib.suppress(InfrastructureError):
        job()


def test_an_unknown_house_is_a_wrong_parameter() -> None:
    with (
        fresh_host() as host,
        pytest.raises(ParameterError, match=r"parameter house of node mujoco_bridge.*castle") as caught,
    ):
        host.add(MujocoBridgeNode, parameters={"house": "castle"})
    assert "\n" not in str(caught.value)
