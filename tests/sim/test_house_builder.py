"""The MJCF that planners read: everything in it by the agreed names."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from homie_core import fetch
from homie_core.world_state import VESSELS
from homie_sim.house import House
from homie_sim.world import MujocoWorld


@pytest.fixture(scope="module")
def described(shared_world: MujocoWorld) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(shared_world.world_description(), fetch.mesh_assets())


def test_the_description_is_the_same_world(described: mujoco.MjModel, shared_world: MujocoWorld) -> None:
    model = shared_world.model
    assert (described.nq, described.nv, described.ngeom) == (model.nq, model.nv, model.ngeom)
    np.testing.assert_allclose(described.geom_aabb, model.geom_aabb, atol=1e-6)
    np.testing.assert_allclose(described.body_pos, model.body_pos, atol=1e-6)
    np.testing.assert_allclose(described.jnt_range, model.jnt_range, atol=1e-6)


def test_the_description_needs_no_picture(described: mujoco.MjModel) -> None:
    assert described.ntex == 0


def test_robot_names_and_limits(described: mujoco.MjModel) -> None:
    for joint, (low, high) in fetch.JOINT_LIMITS.items():
        found = described.joint(fetch.mjcf_name(joint))
        if np.isfinite(low):
            np.testing.assert_allclose(found.range, (low, high), atol=1e-6)
    for name in fetch.BASE_JOINTS:
        described.joint(fetch.mjcf_name(name))
    described.body(fetch.BASE_BODY)
    described.site(fetch.GRIP_SITE)


def test_containers_have_joint_and_handle(described: mujoco.MjModel, house: House) -> None:
    data = mujoco.MjData(described)
    mujoco.mj_forward(described, data)
    for piece in house.furniture:
        front = np.array([np.cos(piece.yaw), np.sin(piece.yaw), 0])
        for name in piece.container_ids():
            joint = described.joint(f"{name}/joint")
            assert joint.range[0] == 0 and joint.range[1] >= 0.39
            geom = described.geom(f"{name}/handle")
            assert geom.type == mujoco.mjtGeom.mjGEOM_CAPSULE
            axes = data.site(f"{name}/handle").xmat.reshape(3, 3)
            np.testing.assert_allclose(axes[:, 0], front, atol=1e-6)
            bar = data.geom(f"{name}/handle").xmat.reshape(3, 3)[:, 2]
            np.testing.assert_allclose(axes[:, 2], bar, atol=1e-6)


def test_opening_moves_handles_outward(described: mujoco.MjModel, house: House) -> None:
    data = mujoco.MjData(described)
    for piece in house.furniture:
        front = np.array([np.cos(piece.yaw), np.sin(piece.yaw), 0])
        for name in piece.container_ids():
            mujoco.mj_resetData(described, data)
            mujoco.mj_forward(described, data)
            before = data.site(f"{name}/handle").xpos.copy()
            data.joint(f"{name}/joint").qpos[0] = 0.3
            mujoco.mj_forward(described, data)
            assert (data.site(f"{name}/handle").xpos - before) @ front > 0.1


def test_regions_have_owners_and_room(described: mujoco.MjModel, house: House, shared_world: MujocoWorld) -> None:
    regions = [described.site(index) for index in range(described.nsite) if "/region/" in described.site(index).name]
    vessels = {thing.id for thing in shared_world.world_state().objects if thing.category in VESSELS}
    owners = {site.name.partition("/region/")[0] for site in regions}
    assert owners == set(house.receptacles) | vessels
    assert all(2 * site.size[2] > 0.15 for site in regions if site.name.partition("/region/")[0] not in vessels)


def test_nothing_collides_at_the_start(described: mujoco.MjModel, shared_world: MujocoWorld) -> None:
    shared_world.reset(seed=0)
    data = mujoco.MjData(described)
    data.qpos[:] = shared_world.data.qpos
    mujoco.mj_forward(described, data)
    robot = described.body_treeid[described.body(fetch.BASE_BODY).id]
    for contact in data.contact[: data.ncon]:
        bodies = described.geom_bodyid[contact.geom]
        assert robot not in described.body_treeid[bodies], [described.body(int(body)).name for body in bodies]
