"""Worlds to test in, and an arm that goes where it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mink
import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.commands import JointTrajectoryCommand, Outcome, run
from homie_sim.house import House, load_house
from homie_sim.rendering import RenderError
from homie_sim.world import MujocoWorld

Array = NDArray[np.float64]
Reach = Callable[[MujocoWorld, Array, Array, float], Outcome]


@pytest.fixture(scope="session")
def house() -> House:
    return load_house("house_1")


@pytest.fixture(scope="session")
def shared_world(house: House) -> MujocoWorld:
    """One compiled world for all tests; take ``world``, which resets it."""
    return MujocoWorld(house)


@pytest.fixture
def world(shared_world: MujocoWorld) -> MujocoWorld:
    shared_world.reset(seed=1)
    return shared_world


@pytest.fixture(scope="session")
def reach(shared_world: MujocoWorld) -> Reach:
    """Moves the grip site to a position with a rotation (3, 3), in a straight line of joint space, in some seconds."""
    model = mujoco.MjModel.from_xml_string(shared_world.world_description(), fetch.mesh_assets())
    joints = [model.joint(fetch.mjcf_name(joint)) for joint in fetch.ARM_WITH_TORSO_JOINTS]
    moving = {int(joint.dofadr[0]) for joint in joints}
    frozen = mink.DofFreezingTask(model, [dof for dof in range(model.nv) if dof not in moving])
    limits = [mink.ConfigurationLimit(model)]
    low, high = model.jnt_range.T
    limited = model.jnt_limited.astype(bool)

    def solve(world: MujocoWorld, position: Array, rotation: Array) -> Array:
        start = world.data.qpos.copy()
        address = model.jnt_qposadr[limited]
        start[address] = np.clip(start[address], low[limited] + 1e-4, high[limited] - 1e-4)
        configuration = mink.Configuration(model, start)
        task = mink.FrameTask(fetch.GRIP_SITE, "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        pose = mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(rotation), position)
        task.set_target(pose)
        for _ in range(300):
            velocity = mink.solve_ik(
                configuration, [task], 0.05, "daqp", damping=1e-3, limits=limits, constraints=[frozen]
            )
            configuration.integrate_inplace(velocity, 0.05)
            error = task.compute_error(configuration)
            if np.linalg.norm(error[:3]) < 5e-4 and np.linalg.norm(error[3:]) < 5e-3:
                return np.array([configuration.q[joint.qposadr[0]] for joint in joints])
        raise AssertionError(f"no arm pose for {position}: {error}")

    def move(world: MujocoWorld, position: Array, rotation: Array, seconds: float) -> Outcome:
        goal = solve(world, position, rotation)
        (outcome,) = run(world, JointTrajectoryCommand(fetch.ARM_WITH_TORSO_JOINTS, [goal], [seconds]))
        return outcome

    return move


@pytest.fixture(scope="module")
def drawn(house: House) -> Iterator[MujocoWorld]:
    """A world that draws; skips where no library to draw with is there."""
    world = MujocoWorld(house, render=True)
    try:
        world.viewer  # noqa: B018 - opens it
    except RenderError as error:
        pytest.skip(str(error))
    yield world
    world.close()
