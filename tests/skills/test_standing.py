from __future__ import annotations

import math

import numpy as np
import pytest

from homie_core import fetch
from homie_skills.floor_map import COMFORTABLE_GAP, FloorMap
from homie_skills.planning_scene import PlanningScene
from homie_skills.standing import REACH_DISTANCES, around, can_stand


def test_poses_face_the_target_from_reach_distance(scene: PlanningScene) -> None:
    floor = FloorMap(scene)
    target = scene.pose("potted_meat_can_1")[:3, 3]
    poses = around(floor, target, scene.base)
    assert poses
    for x, y, yaw in poses:
        distance = math.hypot(target[0] - x, target[1] - y)
        assert min(REACH_DISTANCES) - 1e-6 <= distance <= max(REACH_DISTANCES) + 1e-6
        assert math.cos(yaw - math.atan2(target[1] - y, target[0] - x)) == pytest.approx(1.0)
        assert can_stand(floor, np.array([x, y]))


def test_comfortable_poses_come_first(scene: PlanningScene) -> None:
    floor = FloorMap(scene)
    x, y, _yaw = around(floor, scene.pose("potted_meat_can_1")[:3, 3], scene.base)[0]
    assert floor.clearance(np.array([[x, y]]))[0] - fetch.BASE_RADIUS >= COMFORTABLE_GAP


def test_front_is_preferred(scene: PlanningScene) -> None:
    target = np.array([3.4, 2.0])
    (x, y, _yaw), *_others = around(FloorMap(scene), target, scene.base, distances=(0.7,), front=-math.pi / 2)
    assert y < 1.5 and abs(x - 3.4) < 0.3


def test_nowhere_to_stand_gives_nothing(scene: PlanningScene) -> None:
    assert around(FloorMap(scene), np.array([-5.0, -5.0]), scene.base) == []
