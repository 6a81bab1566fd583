"""The world's robot in messages."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from homie_core import fetch
from homie_core.from_messages import planar_pose_from_msg, time_from_msg, yaw_of_quaternion
from homie_sim import robot_messages
from homie_sim.occupancy import OccupancyGrid
from homie_sim.rendering import head_camera
from homie_sim.world import MujocoWorld


def test_joint_states_are_those_of_the_world(world: MujocoWorld) -> None:
    world.tick(3)
    message = robot_messages.joint_state(world)
    assert dict(zip(message.name, message.position, strict=True)) == world.joint_positions()
    assert len(message.velocity) == len(message.effort) == len(fetch.JOINTS)
    assert time_from_msg(message.header.stamp) == 30_000_000


def test_odometry_and_base_transform_agree(world: MujocoWorld) -> None:
    world.set_joint_positions({"base_x": 2.0, "base_y": 1.0, "base_yaw": 0.7})
    odometry = robot_messages.odometry(world)
    base = robot_messages.moving_transforms(world).transforms[0].transform
    assert planar_pose_from_msg(odometry.pose.pose) == pytest.approx((2.0, 1.0, 0.7))
    assert (base.translation.x, base.translation.y, yaw_of_quaternion(base.rotation)) == pytest.approx((2.0, 1.0, 0.7))


@pytest.mark.parametrize(
    ("pan", "tilt", "yaw"), [(0.0, 0.0, 0.0), (1.2, 0.5, 0.7), (-1.5, 1.2, 3.0), (0.3, -0.7, -2.0)]
)
def test_the_camera_s_transform_is_where_the_picture_is_taken(
    world: MujocoWorld, pan: float, tilt: float, yaw: float
) -> None:
    world.set_joint_positions({"head_pan_joint": pan, "head_tilt_joint": tilt, "base_yaw": yaw})
    transform = robot_messages.moving_transforms(world).transforms[1].transform
    rotation = np.empty(9)
    q = transform.rotation
    mujoco.mju_quat2Mat(rotation, np.array([q.w, q.x, q.y, q.z]))
    base = world.data.body(fetch.BASE_BODY)
    to_map = base.xmat.reshape(3, 3)
    t = transform.translation
    camera = head_camera(world.data)
    np.testing.assert_allclose(base.xpos + to_map @ [t.x, t.y, t.z], camera.position, atol=1e-9)
    np.testing.assert_allclose(to_map @ rotation.reshape(3, 3)[:, 2], camera.forward, atol=1e-9)
    np.testing.assert_allclose(to_map @ rotation.reshape(3, 3)[:, 1], -camera.up, atol=1e-9)


def test_camera_info_projects_the_middle_of_the_picture() -> None:
    info = robot_messages.camera_info(0)
    matrix = np.array(info.k).reshape(3, 3)
    assert tuple(matrix @ [0, 0, 1]) == (319.5, 239.5, 1.0)
    edge = matrix @ [0, math.tan(math.radians(25)), 1]
    assert edge[1] == pytest.approx(479.5)


def test_a_path_looks_ahead() -> None:
    message = robot_messages.path_message([(0.0, 0.0), (1.0, 1.0), (1.0, 3.0)], stamp=5)
    yaws = [planar_pose_from_msg(pose.pose)[2] for pose in message.poses]
    assert yaws == pytest.approx([math.pi / 4, math.pi / 2, math.pi / 2])
    assert robot_messages.path_message([], 0).poses == []


def test_the_map_is_row_by_row() -> None:
    grid = OccupancyGrid(np.array([[0, 100, 0], [0, 0, 100]], dtype=np.int8), (-1.0, 2.0), 0.05)
    message = robot_messages.occupancy_message(grid, 0)
    assert (message.info.width, message.info.height) == (3, 2)
    assert list(message.data) == [0, 100, 0, 0, 0, 100]
    assert (message.info.origin.position.x, message.info.origin.position.y) == (-1.0, 2.0)


def test_diagnostics_say_where_the_time_went(world: MujocoWorld) -> None:
    world.tick(10)
    (status,) = robot_messages.diagnostics(world, "/mujoco_bridge").status
    values = {item.key: float(item.value) for item in status.values}
    assert set(values) == {"mj_step_wall_seconds", "render_wall_seconds", "simulation_seconds"}
    assert values["simulation_seconds"] == pytest.approx(0.1)
    assert values["mj_step_wall_seconds"] > 0
