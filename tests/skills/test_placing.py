from __future__ import annotations

import math

import numpy as np
import pytest

from homie_skills.geometry import inverse, make_pose, rotation_x, rotation_y, rotation_z, translation
from homie_skills.placing import DROP, edge_distance, resting_rotation, spots, turned
from homie_skills.planning_scene import PlanningScene
from homie_skills.postures import FORWARD


@pytest.fixture
def holding(scene: PlanningScene) -> PlanningScene:
    """The can in a level hand, the robot in the middle of the kitchen."""
    scene.place_arm(FORWARD)
    scene._set_free_pose("potted_meat_can_1", translation(*scene.hand_pose[:3, 3]))
    scene.place_arm(FORWARD)
    scene.attach("potted_meat_can_1")
    return scene


@pytest.mark.parametrize("tilt", [0.0, 0.2, -0.4])
def test_resting_rotation_is_upright_and_near(tilt: float) -> None:
    rotation = resting_rotation(rotation_z(0.8) @ rotation_y(tilt) @ rotation_x(tilt / 2))
    np.testing.assert_allclose(rotation[:, 2], [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)
    assert math.atan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(0.8, abs=0.15)


def test_lying_object_stays_lying() -> None:
    rotation = resting_rotation(rotation_x(math.pi / 2 + 0.1))
    assert abs(rotation[2, 1]) == pytest.approx(1.0)


def test_spots_are_on_the_table_and_free(holding: PlanningScene) -> None:
    found = spots(holding, "brown_table", "potted_meat_can_1")
    assert len(found) > 20
    (region,) = holding.regions("brown_table")
    for spot in found:
        local = np.linalg.inv(region.pose) @ spot.pose
        assert np.all(np.abs(local[:2, 3]) < region.half_size[:2] - 0.033)
        assert local[2, 3] + region.half_size[2] == pytest.approx(0.05 + DROP)
    mug = holding.pose("mug_1")[:2, 3]
    assert min(float(np.linalg.norm(spot.pose[:2, 3] - mug)) for spot in found) > 0.07


def test_edge_distance_is_that_of_the_nearest_edge(holding: PlanningScene) -> None:
    found = spots(holding, "brown_table", "potted_meat_can_1")
    distances = [edge_distance(spot) for spot in found]
    half = found[0].region.half_size
    assert 0.03 < min(distances) < 0.12
    assert max(distances) <= min(half[:2])
    middle = min(found, key=lambda spot: float(np.linalg.norm((spot.pose - spot.region.pose)[:2, 3])))
    assert edge_distance(middle) == max(distances)


def test_every_shelf_offers_spots(holding: PlanningScene) -> None:
    names = {spot.region.name for spot in spots(holding, "fridge", "potted_meat_can_1")}
    assert names == {"shelf_1", "shelf_2"}


def test_hand_comes_from_the_robots_side() -> None:
    spot = make_pose(rotation_z(2.0), (3.0, 1.0, 0.7))
    first = next(turned(spot, np.eye(4), np.array([2.0, 1.0])))
    np.testing.assert_allclose(first[:3, 0], [1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(first[:3, 3], spot[:3, 3])


def test_hand_from_above_may_come_in_any_turn() -> None:
    grasp = inverse(make_pose(rotation_y(math.pi / 2), (0, 0, 0)))
    assert len(list(turned(np.eye(4), grasp, np.zeros(2)))) == 8
