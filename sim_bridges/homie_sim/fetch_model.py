"""The Fetch as an MjSpec that can be driven like the robot.

gymnasium-robotics carries the kinematics, inertias and meshes of the real Fetch, but joint dynamics that serve a
gripper dragged by a mocap weld. Here the mocap goes, the joints get the dynamics of servos, and position actuators
drive them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mujoco

from homie_core import fetch

ROBOT_GROUP = 1
"""Geom group of the robot."""

TRUNK_GROUP = 3
"""Geom group of head and torso, left out of the four views, which are taken from inside the head."""

_SOURCE_PREFIX = "robot0:"
_GROUND_CLEARANCE = 0.01
_TRUNK_BODIES = ("head_pan_link", "head_tilt_link", "torso_lift_link", "torso_fixed_link", "shoulder_pan_link")
_UNUSED_ASSETS = ("bellows_link", "l_wheel_link", "r_wheel_link", "floor_mat", "table_mat", "block_mat", "puck_mat")


@dataclass(frozen=True, slots=True)
class Servo:
    """A position servo: stiffness, damping and greatest force, in N or N m per unit of the joint."""

    stiffness: float
    damping: float
    force: float
    armature: float = 0.1

    @property
    def lead(self) -> float:
        """Seconds by which a moving target must lead so that the joint follows it without lag."""
        return self.damping / self.stiffness


ARM_SERVO = Servo(2000, 200, 200)
FINGER_SERVO = Servo(1500, 60, fetch.MAX_GRIP_EFFORT, armature=0.01)

SERVOS = {
    **{joint: Servo(20000, 4000, 600) for joint in fetch.BASE_JOINTS},
    fetch.TORSO_JOINT: Servo(30000, 3000, 2000),
    **dict.fromkeys(fetch.ARM_JOINTS, ARM_SERVO),
    **{joint: Servo(500, 50, 50) for joint in fetch.HEAD_JOINTS},
    **dict.fromkeys(fetch.GRIPPER_JOINTS, FINGER_SERVO),
}
"""By joint, without prefix. The base's ones stand for the wheels: they keep it from being pushed about."""


FOOTING_SERVOS = dict.fromkeys(fetch.FOOTING_JOINTS, Servo(40000, 4000, 4000))
"""Of a base on a floor that is not level: they stand for the ground that carries the wheels."""


def fetch_spec(*, level: bool = True) -> mujoco.MjSpec:
    """The robot alone, without prefix, base at the origin; to be attached to a house with the prefix ``fetch/``.

    Where the floor is not ``level`` the base has joints to follow it.

    Raises:
        FileNotFoundError: gymnasium-robotics is not installed.
    """
    spec = mujoco.MjSpec.from_string(_source_xml())
    spec.modelname = "fetch"
    _set_base(spec)
    servos = SERVOS if level else SERVOS | FOOTING_SERVOS
    if not level:
        _add_footing(spec)
    _set_joints(spec)
    _set_bodies(spec)
    _set_gripper(spec)
    # In most arm poses these hulls overlap where the real shapes do not.
    spec.add_exclude(bodyname1="torso_lift_link", bodyname2="shoulder_lift_link")
    for joint, servo in servos.items():
        _add_servo(spec, joint, servo)
    return spec


def _source_xml() -> str:
    """Robot and shared assets of the package as one document, without mocap, weld, sample textures and prefix."""
    folder = fetch.assets_directory() / "fetch"
    root = ET.Element("mujoco")
    ET.SubElement(root, "compiler", angle="radian")
    shared = _parse(folder / "shared.xml")
    for section in shared:
        if section.tag != "equality":
            root.append(section)
    for asset in root.findall("asset"):
        _remove(asset, lambda item: item.tag == "texture" or item.get("name", "").endswith(_UNUSED_ASSETS))
    world = ET.SubElement(root, "worldbody")
    world.extend(_parse(folder / "robot.xml"))
    _remove(world, lambda body: body.get("mocap") == "true")
    return ET.tostring(root, encoding="unicode").replace(_SOURCE_PREFIX, "")


def _parse(path: Path) -> ET.Element:
    return ET.parse(path).getroot()  # noqa: S314 - a file of an installed package


def _remove(parent: ET.Element, unwanted: Callable[[ET.Element], bool]) -> None:
    for child in list(parent):
        if unwanted(child):
            parent.remove(child)


def _set_base(spec: mujoco.MjSpec) -> None:
    base = spec.body("base_link")
    # The base's mesh would rub on the floor; the real one rolls on wheels.
    base.pos = (0, 0, _GROUND_CLEARANCE)
    for old, new in zip(("slide0", "slide1", "slide2"), fetch.BASE_JOINTS, strict=True):
        spec.joint(old).name = new
    spec.joint("base_yaw").type = mujoco.mjtJoint.mjJNT_HINGE


def _add_footing(spec: mujoco.MjSpec) -> None:
    """Height, then pitch, then roll, after the base's heading."""
    base = spec.body("base_link")
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    kinds = ((slide, (0, 0, 1)), (hinge, (0, 1, 0)), (hinge, (1, 0, 0)))
    for name, (kind, axis) in zip(fetch.FOOTING_JOINTS, kinds, strict=True):
        base.add_joint(name=name, type=kind, axis=axis)


def _set_joints(spec: mujoco.MjSpec) -> None:
    for joint in spec.joints:
        joint.armature = (SERVOS | FOOTING_SERVOS)[joint.name].armature
        joint.damping = (0, 0, 0)
        joint.stiffness = (0, 0, 0)
        joint.frictionloss = 0
        joint.ref = 0
        low, high = fetch.JOINT_LIMITS.get(joint.name, (-float("inf"), float("inf")))
        joint.limited = low > -float("inf")
        joint.range = (low, high) if joint.limited else (0, 0)


def _set_bodies(spec: mujoco.MjSpec) -> None:
    for body in spec.bodies[1:]:
        # The real controllers compensate gravity.
        body.gravcomp = 1
        for geom in body.geoms:
            geom.margin = 0
            geom.group = TRUNK_GROUP if body.name in _TRUNK_BODIES else ROBOT_GROUP
    spec.camera("head_camera_rgb").name = "head_camera"
    spec.delete(spec.body("external_camera_body_0"))
    spec.delete(spec.camera("lidar"))
    spec.delete(spec.camera("gripper_camera_rgb"))


def _set_gripper(spec: mujoco.MjSpec) -> None:
    for joint in fetch.GRIPPER_JOINTS:
        finger = spec.body(joint.removesuffix("_joint") + "_link")
        finger.mass = 0.1
        finger.inertia = (1e-4, 1e-4, 1e-4)
    # One motor drives both fingers of the real gripper.
    left, right = fetch.GRIPPER_JOINTS
    spec.add_equality(
        name="finger_coupling",
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1=left,
        name2=right,
        data=[0, 1] + [0] * 10,
        solref=(0.01, 1),
    )


def _add_servo(spec: mujoco.MjSpec, joint: str, servo: Servo) -> None:
    actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=servo.stiffness, kv=servo.damping)
    actuator.forcelimited = True
    actuator.forcerange = (-servo.force, servo.force)
