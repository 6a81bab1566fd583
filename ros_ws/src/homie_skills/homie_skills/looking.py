"""Where the head turns to look at a point."""

from __future__ import annotations

import math

from homie_core import fetch
from homie_skills.robot import FloatArray

AHEAD = (0.0, 0.3)
"""Pan and tilt to drive with: the floor in front and the furniture beyond it are in the picture."""


def head_angles(point: FloatArray, torso: float) -> tuple[float, float]:
    """Pan and tilt (radians) with which the head camera looks at ``point`` (3,), within the joints' limits.

    ``point`` is in the base frame, metres; ``torso`` is the position of torso_lift_joint.
    """
    x, y, z = (float(value) for value in point)
    pan = math.atan2(y, x - fetch.HEAD_PAN_X)
    distance = math.hypot(x - fetch.HEAD_PAN_X, y) - fetch.HEAD_TILT_REACH
    tilt = math.atan2(fetch.HEAD_TILT_HEIGHT + torso - z, distance)
    return _limited("head_pan_joint", pan), _limited("head_tilt_joint", tilt)


def _limited(joint: str, angle: float) -> float:
    lower, upper = fetch.JOINT_LIMITS[joint]
    return min(max(angle, lower), upper)
