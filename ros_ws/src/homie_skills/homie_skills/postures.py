"""Postures of torso and arm that are safe to drive with.

All stay within about 0.4 m of the base's middle and below the head camera's view. They were found by a random search
for the smallest circle, with a cylinder of radius 5 cm and height 18 cm in the hand for the carrying ones.
"""

from __future__ import annotations

import numpy as np

from homie_core import fetch
from homie_skills.robot import FloatArray

STOWED = np.array([fetch.STOWED_ARM[name] for name in fetch.ARM_WITH_TORSO_JOINTS])
"""Nothing in the hand."""

READY = np.array([0.2, 0.0, -0.9, 0.0, 1.5, 0.0, 0.95, 0.0])
"""Hand in front of the chest, pointing down: a good place between a safe posture and a reach."""

FORWARD = np.array([0.2, 0.0, 0.4, 0.0, 1.2, 0.0, -1.6, 0.0])
"""Hand in front of the chest, pointing forward."""

CARRYING: tuple[FloatArray, ...] = tuple(
    np.array(joints)
    for joints in (
        (0.15, 1.53, 1.21, 1.75, -2.23, -1.94, 1.49, 1.01),
        (0.15, -1.20, 1.39, -1.69, -2.23, 2.04, 1.85, -0.92),
        (0.15, -0.04, 1.29, -1.84, -2.23, -1.52, -1.25, 2.20),
        (0.15, -1.33, 1.29, 0.73, 2.03, -1.90, 1.64, -1.35),
        (0.15, 1.54, 1.35, 1.92, -2.23, -1.26, 1.69, 0.98),
        (0.15, 0.92, 1.50, 2.03, -2.23, -0.58, 1.94, 0.97),
        (0.15, 0.10, 1.24, -1.75, -2.23, -2.16, -1.95, 2.06),
        *(tuple(posture[name] for name in fetch.ARM_WITH_TORSO_JOINTS) for posture in fetch.LEVEL_ARMS),
    )
)
"""Something in the hand: pointing level, 30, 60 and 90 degrees down."""
