"""The simulated house and its planning models, built once."""

from __future__ import annotations

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.house import load_house
from homie_sim.world import MujocoWorld
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.m3 import M3
from homie_skills.planning_scene import PlanningScene
from support.direct_robot import DirectRobot


@pytest.fixture(scope="session")
def _world() -> MujocoWorld:
    return MujocoWorld(load_house("house_1"))


@pytest.fixture
def world(_world: MujocoWorld) -> MujocoWorld:
    _world.reset(seed=0)
    return _world


@pytest.fixture(scope="session")
def mjcf(_world: MujocoWorld) -> str:
    return _world.world_description()


@pytest.fixture
def scene(world: MujocoWorld, mjcf: str) -> PlanningScene:
    scene = PlanningScene(mjcf, fetch.mesh_assets())
    scene.update(world.world_state(), world.joint_positions(), world.base_pose())
    return scene


@pytest.fixture(scope="session")
def arm(mjcf: str) -> ArmKinematics:
    return ArmKinematics(mjcf, fetch.mesh_assets())


@pytest.fixture
def m3(world: MujocoWorld, mjcf: str) -> M3:
    return M3(DirectRobot(world), mjcf, fetch.mesh_assets(), np.random.default_rng(0))
