"""The Fetch mobile manipulator: names, limits and meshes. Constants of the real robot (URDF of ``fetch_description``).

Lengths in metres, angles in radians, speeds per second. Joint names are those of the robot's ROS driver; in MJCF every
element of the robot carries ``MJCF_PREFIX`` (see :func:`mjcf_name`). No MuJoCo here.
"""

from __future__ import annotations

import importlib.util
import math
from functools import cache
from pathlib import Path
from types import MappingProxyType

TORSO_JOINT = "torso_lift_joint"

ARM_JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "upperarm_roll_joint",
    "elbow_flex_joint",
    "forearm_roll_joint",
    "wrist_flex_joint",
    "wrist_roll_joint",
)

ARM_WITH_TORSO_JOINTS = (TORSO_JOINT, *ARM_JOINTS)

HEAD_JOINTS = ("head_pan_joint", "head_tilt_joint")

GRIPPER_JOINTS = ("l_gripper_finger_joint", "r_gripper_finger_joint")

JOINTS = (*ARM_WITH_TORSO_JOINTS, *HEAD_JOINTS, *GRIPPER_JOINTS)
"""Every joint that ``joint_states`` reports."""

FINGER_TRAVEL = 0.05
"""How far each finger moves from the middle."""

MAX_OPENING = 2 * FINGER_TRAVEL
"""Distance between the finger pads when the gripper is open."""

MAX_GRIP_EFFORT = 60.0
"""Newtons that the gripper closes with at most."""

JOINT_LIMITS = MappingProxyType(
    {
        "torso_lift_joint": (0.0, 0.38615),
        "shoulder_pan_joint": (-1.6056, 1.6056),
        "shoulder_lift_joint": (-1.221, 1.518),
        "upperarm_roll_joint": (-math.inf, math.inf),
        "elbow_flex_joint": (-2.251, 2.251),
        "forearm_roll_joint": (-math.inf, math.inf),
        "wrist_flex_joint": (-2.16, 2.16),
        "wrist_roll_joint": (-math.inf, math.inf),
        "head_pan_joint": (-1.57, 1.57),
        "head_tilt_joint": (-0.76, 1.45),
        "l_gripper_finger_joint": (0.0, FINGER_TRAVEL),
        "r_gripper_finger_joint": (0.0, FINGER_TRAVEL),
    }
)
"""Lower and upper limit of each joint; continuous joints have infinite ones."""

VELOCITY_LIMITS = MappingProxyType(
    {
        "torso_lift_joint": 0.1,
        "shoulder_pan_joint": 1.256,
        "shoulder_lift_joint": 1.454,
        "upperarm_roll_joint": 1.571,
        "elbow_flex_joint": 1.521,
        "forearm_roll_joint": 1.571,
        "wrist_flex_joint": 2.268,
        "wrist_roll_joint": 2.268,
        "head_pan_joint": 1.57,
        "head_tilt_joint": 1.57,
        "l_gripper_finger_joint": 0.05,
        "r_gripper_finger_joint": 0.05,
    }
)

STOWED_ARM = MappingProxyType(
    dict(zip(ARM_WITH_TORSO_JOINTS, (0.05, 0.0, 1.45, -0.95, 2.2, -0.45, 1.1, 1.75), strict=True))
)
"""Folded in front of the chest within 0.34 m of the base's middle, clear of the robot's own collision hulls.

The tuck of the real robot's documentation, (0.05, 1.32, 1.40, -0.2, 1.72, 0, 1.66, 0), touches these hulls.
"""

LEVEL_ARMS = tuple(
    MappingProxyType(dict(zip(ARM_WITH_TORSO_JOINTS, posture, strict=True)))
    for posture in (
        (0.15, 0.20, 1.50, -0.81, 2.23, -0.04, -2.14, 1.80),
        (0.15, -0.42, 1.50, 0.77, 2.23, -3.10, 2.14, -2.34),
    )
)
"""Folded beside the chest, the gripper pointing down: what it holds by the rim stays level."""

READY_ARM = MappingProxyType(dict(zip(ARM_WITH_TORSO_JOINTS, (0.30, 0.0, -0.9, 0.0, 1.5, 0.0, 0.95, 0.0), strict=True)))
"""Gripper in front of the chest, pointing down."""

BASE_JOINTS = ("base_x", "base_y", "base_yaw")
"""Joints of the simulated base in the MJCF (planar: two slides in map axes and a hinge)."""

FOOTING_JOINTS = ("base_z", "base_pitch", "base_roll")
"""Joints that follow them where the house's floor is not level: height of the floor and how the base leans on it."""

BASE_RADIUS = 0.28
MAX_BASE_SPEED = 1.0
MAX_BASE_TURN_SPEED = 1.8

HEAD_PAN_X = -0.0338
"""The axis of head_pan_joint lies this far in front of the base's middle."""
HEAD_TILT_REACH = 0.1425
"""From that axis to the axis of head_tilt_joint, forwards."""
HEAD_TILT_HEIGHT = 1.0384
"""Height of head_tilt_joint above the base frame with the torso down."""

MJCF_PREFIX = "fetch/"
BASE_BODY = MJCF_PREFIX + "base_link"
GRIPPER_BODY = MJCF_PREFIX + "gripper_link"
GRIP_SITE = MJCF_PREFIX + "grip"
"""Between the fingers: x axis is the approach direction, y axis the closing direction."""


def mjcf_name(name: str) -> str:
    """The name in the MJCF of the robot's joint, body or actuator ``name``."""
    return MJCF_PREFIX + name


def assets_directory() -> Path:
    """The asset folder of gymnasium-robotics, which carries the Fetch's meshes; the package itself is not imported.

    Raises:
        FileNotFoundError: gymnasium-robotics is not installed.
    """
    package = importlib.util.find_spec("gymnasium_robotics")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError("the Fetch's meshes come with gymnasium-robotics: pip install gymnasium-robotics")
    return Path(package.submodule_search_locations[0]) / "envs" / "assets"


@cache
def mesh_assets() -> dict[str, bytes]:
    """The Fetch's meshes by bare file name, to be passed as ``assets`` when an MJCF with the robot is compiled.

    Raises:
        FileNotFoundError: gymnasium-robotics is not installed.
    """
    folder = assets_directory() / "stls" / "fetch"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.stl"))}
