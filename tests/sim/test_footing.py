"""The robot on the ramp: it follows the floor, leans with it, and drives nowhere else between the levels."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from homie_core import fetch
from homie_sim.commands import NavigateCommand, run
from homie_sim.house import load_house
from homie_sim.occupancy import OCCUPIED
from homie_sim.robot_messages import moving_transforms, odometry
from homie_sim.world import MujocoWorld


@pytest.fixture(scope="module")
def split_level() -> MujocoWorld:
    return MujocoWorld(load_house("house_3"))


def test_it_drives_up_and_down(split_level: MujocoWorld) -> None:
    world = split_level
    world.reset(0)
    (up,) = run(world, NavigateCommand(10.5, 2.5, math.pi / 2))
    assert up.ok, up.message
    assert world.base_stance() == pytest.approx((0.32, 0, 0), abs=1e-3)
    assert world.data.body(fetch.BASE_BODY).xpos[2] == pytest.approx(0.33, abs=1e-3)
    (down,) = run(world, NavigateCommand(3.6, 2.9, 0.0))
    assert down.ok, down.message
    assert world.base_stance() == pytest.approx((0, 0, 0), abs=1e-3)


def test_it_stays_on_the_floor_all_the_way(split_level: MujocoWorld) -> None:
    world = split_level
    world.reset(0)
    command = NavigateCommand(10.5, 1.0, 0.0)
    assert command.start(world) is None
    worst = 0.0
    while command.update(world) is None:
        world.tick()
        wanted = world.house.footing.stance(*world.base_position())
        worst = max(worst, float(np.abs(np.subtract(wanted, world.base_stance())).max()))
    assert worst < 0.005
    assert world.base_stance()[0] == pytest.approx(0.32, abs=1e-3)


def test_it_leans_on_the_ramp_and_its_messages_say_so(split_level: MujocoWorld) -> None:
    world = split_level
    world.reset(0)
    world.set_joint_positions({"base_x": 7.7, "base_y": 0.8, "base_yaw": 0.0})
    z, pitch, roll = world.base_stance()
    assert (z, pitch, roll) == pytest.approx((0.16, -math.atan(0.32 / 2.6), 0), abs=1e-6)
    pose = odometry(world).pose.pose
    assert pose.position.z == pytest.approx(0.16)
    assert pose.orientation.y == pytest.approx(math.sin(pitch / 2), abs=1e-6)
    assert moving_transforms(world).transforms[0].transform.translation.z == pytest.approx(0.16)


def test_edges_are_obstacles_and_the_ramp_is_not(split_level: MujocoWorld) -> None:
    world = split_level
    world.reset(0)
    grid = world.occupancy()
    for x in np.arange(6.0, 11.0, 0.1):
        assert grid.data[grid.cell(float(x), 0.8)] != OCCUPIED, x
    for edge in ((9.0, 4.0), (8.98, 1.9), (8.0, 1.52)):
        assert grid.clearance_at(*edge) < fetch.BASE_RADIUS


def test_level_houses_have_no_joints_for_it() -> None:
    model = MujocoWorld(load_house("house_1")).model
    for joint in fetch.FOOTING_JOINTS:
        assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, fetch.mjcf_name(joint)) < 0


def test_things_upstairs_stand_upstairs(split_level: MujocoWorld) -> None:
    world = split_level
    world.reset(0)
    state = world.world_state()
    assert state["white_desk"].position[2] == pytest.approx(0.32)
    assert state["second_floor"].position[2] == pytest.approx(0.32)
    peach = state["peach_1"]
    assert peach.box_center[2] - peach.box_size[2] / 2 == pytest.approx(0.32 + 0.74, abs=0.003)
