from __future__ import annotations

import math

import numpy as np
import pytest

from homie_core import fetch
from homie_core.world_state import Kind
from homie_sim.world import MujocoWorld
from homie_skills.geometry import planar_pose, translation
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.planning_scene import HAND, ROBOT, PlanningScene
from homie_skills.postures import CARRYING, FORWARD, READY, STOWED
from homie_skills.robot import UnknownTarget


def test_scene_mirrors_the_world(scene: PlanningScene, world: MujocoWorld) -> None:
    assert scene.base == pytest.approx(world.base_pose())
    assert dict(zip(fetch.ARM_WITH_TORSO_JOINTS, scene.arm, strict=True)) == pytest.approx(
        {name: world.joint_positions()[name] for name in fetch.ARM_WITH_TORSO_JOINTS}
    )
    for thing in world.world_state().objects:
        if thing.kind is not Kind.PLACE:
            np.testing.assert_allclose(scene.pose(thing.id)[:3, 3], thing.position, atol=1e-9)


def test_hand_agrees_with_the_kinematics(scene: PlanningScene, arm: ArmKinematics) -> None:
    scene.place_arm(READY)
    np.testing.assert_allclose(scene.hand_pose, planar_pose(*scene.base) @ arm.hand_pose(READY), atol=1e-9)


@pytest.mark.parametrize("posture", [STOWED, READY, FORWARD, *CARRYING])
def test_known_postures_are_free_in_the_open(scene: PlanningScene, posture: np.ndarray) -> None:
    assert not scene.in_collision(posture)


def test_arm_through_the_table_is_a_collision_with_the_table(scene: PlanningScene) -> None:
    scene.place_base((6.5, 0.95, math.pi / 2))
    assert scene.in_collision(FORWARD)
    assert {contact.first for contact in scene.contacts()} | {contact.second for contact in scene.contacts()} >= {
        "brown_table"
    }
    with scene.allowing((ROBOT, "brown_table")):
        assert not any("brown_table" in (contact.first, contact.second) for contact in scene.contacts())
    assert scene.in_collision()


def test_start_is_tolerated_but_not_worse(scene: PlanningScene) -> None:
    scene.place_arm(FORWARD)
    touching = next(y for y in np.arange(0.3, 1.2, 0.002) if _hits(scene, y))
    assert _hits(scene, touching)
    with scene.tolerating_start():
        assert not scene.in_collision()
        assert not _hits(scene, touching + 0.001)
        assert _hits(scene, touching + 0.02)


def _hits(scene: PlanningScene, y: float) -> bool:
    scene.place_base((6.5, y, math.pi / 2))
    return scene.in_collision()


def test_held_object_moves_with_the_hand(scene: PlanningScene) -> None:
    scene.place_arm(FORWARD)
    scene.attach("mug_1")
    grasp = scene.grasp
    scene.place_arm(READY)
    np.testing.assert_allclose(scene.pose("mug_1"), scene.hand_pose @ grasp, atol=1e-9)
    scene.detach()
    left = scene.pose("mug_1")
    scene.place_arm(FORWARD)
    np.testing.assert_allclose(scene.pose("mug_1"), left)


def test_held_object_collides_with_the_house(scene: PlanningScene) -> None:
    scene.place_base((6.5, 0.3, math.pi / 2))
    scene.place_arm(READY)
    scene._set_free_pose("cracker_box_1", translation(*(scene.hand_pose[:3, 3] - [0, 0, 0.1])))
    scene.place_arm(READY)
    scene.attach("cracker_box_1")
    assert not scene.in_collision()
    assert scene.held_fits(translation(6.5, 1.75, 1.2))
    assert not scene.held_fits(translation(6.5, 1.75, 0.7))


def test_trying_puts_everything_back(scene: PlanningScene) -> None:
    before = scene.data.qpos.copy()
    with scene.trying():
        scene.place_base((1.0, 1.0, 1.0))
        scene.place_arm(READY)
        scene.place_container("fridge", 1.0)
    np.testing.assert_array_equal(scene.data.qpos, before)


def test_door_swings_its_handle_about_the_hinge(scene: PlanningScene) -> None:
    closed = scene.handle("fridge")
    assert closed.is_hinge
    scene.place_container("fridge", math.pi / 2)
    opened = scene.handle("fridge")
    radius = np.linalg.norm((closed.pose[:3, 3] - closed.anchor)[:2])
    assert np.linalg.norm((opened.pose[:3, 3] - closed.anchor)[:2]) == pytest.approx(radius)
    assert closed.pose[:3, 0] @ opened.pose[:3, 0] == pytest.approx(0, abs=1e-9)


def test_contents_of_a_drawer_move_along(scene: PlanningScene) -> None:
    drawer = "kitchen_counter/drawer_1"
    before = scene.pose("tuna_fish_can_1")[:3, 3]
    scene.place_container(drawer, 0.3)
    assert np.linalg.norm(scene.pose("tuna_fish_can_1")[:3, 3] - before) == pytest.approx(0.3)
    assert scene.container_position(drawer) == pytest.approx(0.3)


def test_hand_alone_tells_whether_another_posture_could_help(scene: PlanningScene) -> None:
    scene.place_arm(READY)
    assert not scene.hand_in_collision()
    scene._set_free_pose("apple_1", translation(*scene.hand_pose[:3, 3]))
    scene.place_arm(READY)
    assert scene.hand_in_collision()
    with scene.allowing((HAND, "apple_1")):
        assert not scene.hand_in_collision()


@pytest.mark.parametrize("call", ["pose", "handle", "attach"])
def test_unknown_names_are_refused(scene: PlanningScene, call: str) -> None:
    with pytest.raises(UnknownTarget, match="unicorn"):
        getattr(scene, call)("unicorn")
