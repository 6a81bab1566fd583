"""The head camera looks at what the hand is about to do."""

from __future__ import annotations

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.rendering import head_camera
from homie_sim.world import MujocoWorld
from homie_skills.looking import head_angles
from support.direct_robot import DirectRobot


@pytest.mark.parametrize("point", [(0.9, 0.0, 0.7), (0.7, 0.5, 1.0), (0.8, -0.4, 0.3), (2.0, 1.0, 1.4)])
def test_the_point_is_in_the_middle_of_the_picture(world: MujocoWorld, point: tuple[float, float, float]) -> None:
    torso = world.joint_positions()[fetch.TORSO_JOINT]
    DirectRobot(world).point_head(*head_angles(np.array(point), torso))
    base = world.data.body(fetch.BASE_BODY)
    camera = head_camera(world.data)
    direction = base.xpos + base.xmat.reshape(3, 3) @ point - camera.position
    cosine = direction @ camera.forward / np.linalg.norm(direction)
    assert np.degrees(np.arccos(cosine)) < 5.0


def test_the_limits_of_the_joints_are_kept() -> None:
    for point in ((-1.0, 0.1, 1.0), (0.12, 0.0, 0.0), (0.5, 0.0, 9.0)):
        for joint, angle in zip(fetch.HEAD_JOINTS, head_angles(np.array(point), 0.0), strict=True):
            lower, upper = fetch.JOINT_LIMITS[joint]
            assert lower <= angle <= upper
