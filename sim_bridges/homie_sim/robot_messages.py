"""What the world's robot looks like in ROS messages. Reads the world; call it in the thread that owns it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Transform, TransformStamped, Vector3
from nav_msgs.msg import MapMetaData, OccupancyGrid, Odometry, Path
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, JointState
from tf2_msgs.msg import TFMessage

from homie_core import fetch
from homie_ros.conversions import MAP_FRAME, header, planar_pose_to_msg, quaternion_of_yaw, time_to_msg
from homie_sim.occupancy import OccupancyGrid as Grid
from homie_sim.path_planner import Point as FloorPoint
from homie_sim.rendering import HEAD_FOV, HEAD_HEIGHT, HEAD_WIDTH, head_camera
from homie_sim.world import MujocoWorld

ODOM_FRAME = "odom"
BASE_FRAME = "base_link"
CAMERA_FRAME = "head_camera_rgb_optical_frame"
"""x right, y down, z into the picture."""


@dataclass(frozen=True, slots=True)
class RobotMessages:
    """The robot at one moment."""

    joints: JointState
    odometry: Odometry
    transforms: TFMessage
    clock: Clock


def robot_messages(world: MujocoWorld) -> RobotMessages:
    """The robot now, all stamped with the world's time."""
    stamp = world.stamp
    return RobotMessages(joint_state(world), odometry(world), moving_transforms(world), Clock(clock=time_to_msg(stamp)))


def joint_state(world: MujocoWorld) -> JointState:
    """Position, velocity and effort of every joint of the Fetch."""
    positions, velocities, efforts = world.joint_positions(), world.joint_velocities(), world.joint_efforts()
    return JointState(
        header=header(world.stamp),
        name=list(positions),
        position=list(positions.values()),
        velocity=[velocities[joint] for joint in positions],
        effort=[efforts[joint] for joint in positions],
    )


def odometry(world: MujocoWorld) -> Odometry:
    """The base's pose and speeds; the simulated wheels never slip, so odom is map."""
    speed, turn = world.base_velocity()
    message = Odometry(header=header(world.stamp, ODOM_FRAME), child_frame_id=BASE_FRAME)
    message.pose.pose = planar_pose_to_msg(world.base_pose())
    message.pose.pose.position.z = world.base_stance()[0]
    message.pose.pose.orientation = _base_rotation(world)
    message.twist.twist.linear.x = speed
    message.twist.twist.angular.z = turn
    return message


def static_transforms() -> TFMessage:
    """Map to odom: the identity."""
    return TFMessage(transforms=[TransformStamped(header=header(0, MAP_FRAME), child_frame_id=ODOM_FRAME)])


def moving_transforms(world: MujocoWorld) -> TFMessage:
    """Odom to the base, and the base to the head camera's optical frame."""
    x, y, _ = world.base_pose()
    base = Transform(translation=Vector3(x=x, y=y, z=world.base_stance()[0]), rotation=_base_rotation(world))
    return TFMessage(
        transforms=[
            TransformStamped(header=header(world.stamp, ODOM_FRAME), child_frame_id=BASE_FRAME, transform=base),
            TransformStamped(
                header=header(world.stamp, BASE_FRAME), child_frame_id=CAMERA_FRAME, transform=_camera_on_base(world)
            ),
        ]
    )


def camera_info(stamp: int) -> CameraInfo:
    """Of the head camera: a pinhole with square pixels and no distortion."""
    focal = 0.5 * HEAD_HEIGHT / math.tan(math.radians(HEAD_FOV) / 2)
    cx, cy = 0.5 * (HEAD_WIDTH - 1), 0.5 * (HEAD_HEIGHT - 1)
    return CameraInfo(
        header=header(stamp, CAMERA_FRAME),
        width=HEAD_WIDTH,
        height=HEAD_HEIGHT,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[focal, 0.0, cx, 0.0, focal, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[focal, 0.0, cx, 0.0, 0.0, focal, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def occupancy_message(grid: Grid, stamp: int) -> OccupancyGrid:
    """The floor, row by row from the south-west corner."""
    rows, columns = grid.data.shape
    x, y = grid.origin
    info = MapMetaData(
        map_load_time=Time(),
        resolution=grid.resolution,
        width=columns,
        height=rows,
        origin=Pose(position=Point(x=x, y=y)),
    )
    return OccupancyGrid(header=header(stamp, MAP_FRAME), info=info, data=grid.data.ravel().tolist())


def path_message(corners: Sequence[FloorPoint], stamp: int) -> Path:
    """A planned way; each pose looks to the next corner."""
    poses = []
    heading = 0.0
    for index, (x, y) in enumerate(corners):
        if index + 1 < len(corners):
            heading = math.atan2(corners[index + 1][1] - y, corners[index + 1][0] - x)
        poses.append(PoseStamped(header=header(stamp, MAP_FRAME), pose=planar_pose_to_msg((x, y, heading))))
    return Path(header=header(stamp, MAP_FRAME), poses=poses)


def diagnostics(world: MujocoWorld, name: str) -> DiagnosticArray:
    """Where the wall time has gone since the world was made."""
    values = {
        "mj_step_wall_seconds": f"{world.physics_wall_seconds:.6f}",
        "render_wall_seconds": f"{world.render_wall_seconds:.6f}",
        "simulation_seconds": f"{world.time:.6f}",
    }
    status = DiagnosticStatus(
        level=DiagnosticStatus.OK,
        name=name,
        hardware_id="mujoco",
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    return DiagnosticArray(header=header(world.stamp), status=[status])


def _base_rotation(world: MujocoWorld) -> Quaternion:
    """Heading of the base, and its lean on a ramp."""
    if world.house.footing.is_level:
        return quaternion_of_yaw(world.base_pose()[2])
    return _quaternion(world.data.body(fetch.BASE_BODY).xmat.reshape(3, 3))


def _camera_on_base(world: MujocoWorld) -> Transform:
    """The optical frame of the head camera in the base's frame."""
    camera = head_camera(world.data)
    base = world.data.body(fetch.BASE_BODY)
    to_base = base.xmat.reshape(3, 3).T
    right = np.cross(camera.forward, camera.up)
    x, y, z = (to_base @ (camera.position - base.xpos)).tolist()
    rotation = to_base @ np.column_stack([right, -camera.up, camera.forward])
    return Transform(translation=Vector3(x=x, y=y, z=z), rotation=_quaternion(rotation))


def _quaternion(rotation: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Quaternion:
    """Of a rotation matrix (3, 3)."""
    x, y, z = rotation.T
    # The largest of the four, so that nothing is divided by something small.
    squares = np.array(
        [
            1 + x[0] + y[1] + z[2],
            1 + x[0] - y[1] - z[2],
            1 - x[0] + y[1] - z[2],
            1 - x[0] - y[1] + z[2],
        ]
    )
    rows = np.array(
        [
            [squares[0], y[2] - z[1], z[0] - x[2], x[1] - y[0]],
            [y[2] - z[1], squares[1], x[1] + y[0], z[0] + x[2]],
            [z[0] - x[2], x[1] + y[0], squares[2], y[2] + z[1]],
            [x[1] - y[0], z[0] + x[2], y[2] + z[1], squares[3]],
        ]
    )
    w, qx, qy, qz = (rows[int(squares.argmax())] / np.linalg.norm(rows[int(squares.argmax())])).tolist()
    return Quaternion(x=qx, y=qy, z=qz, w=w)
