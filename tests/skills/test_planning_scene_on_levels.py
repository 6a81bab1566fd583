"""The planning scene on a floor of several levels stands as the simulated robot does."""

from __future__ import annotations

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.house import load_house
from homie_sim.world import MujocoWorld
from homie_skills.floor_map import FloorMap
from homie_skills.planning_scene import PlanningScene


@pytest.fixture(scope="module")
def world() -> MujocoWorld:
    return MujocoWorld(load_house("house_3"))


@pytest.fixture(scope="module")
def scene(world: MujocoWorld) -> PlanningScene:
    return PlanningScene(world.world_description(), fetch.mesh_assets())


@pytest.mark.parametrize(
    "pose", [(3.6, 2.9, 0.5), (7.7, 0.8, 0.3), (10.5, 2.5, 1.0)], ids=["ground", "ramp", "upstairs"]
)
def test_the_hand_is_where_the_robots_hand_is(
    world: MujocoWorld, scene: PlanningScene, pose: tuple[float, float, float]
) -> None:
    world.reset(0)
    world.set_joint_positions(dict(zip(fetch.BASE_JOINTS, pose, strict=True)))
    scene.update(world.world_state(), world.joint_positions(), world.base_pose())
    np.testing.assert_allclose(scene.hand_pose[:3, 3], world.data.site(fetch.GRIP_SITE).xpos, atol=1e-6)
    assert scene.base_matrix[2, 3] == pytest.approx(world.house.footing.stance(*pose)[0])
    assert not scene.in_collision()


def test_ramp_and_second_floor_can_be_driven_on(world: MujocoWorld, scene: PlanningScene) -> None:
    world.reset(0)
    scene.update(world.world_state(), world.joint_positions(), world.base_pose())
    floor = FloorMap(scene)
    points = np.array([[7.7, 0.8], [10.5, 2.5], [9.0, 4.0], [8.5, 2.06]])
    assert floor.drivable(points).tolist() == [True, True, False, False]
