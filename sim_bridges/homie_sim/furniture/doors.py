"""Hinged doors: the leaf's body and joint, alike on every container that swings open."""

from __future__ import annotations

from typing import Literal

import mujoco

from homie_sim.furniture.parts import HANDLE_RADIUS, Box, add_box, add_handle, add_panel
from homie_sim.palette import Finish

DOOR_RANGE = 1.75
"""Radians that a door swings."""

DOOR_GAP = 0.004
"""Between a closed door and the case behind it."""

HANDLE_FROM_EDGE = 0.06

Hinge = Literal["left", "right"]
"""Side of the hinge as seen by the person in front."""


def hinge_sign(hinge: Hinge) -> float:
    """-1 for a hinge on the left, 1 on the right: the side in the furniture's y axis."""
    return -1.0 if hinge == "left" else 1.0


def hang_door(body: mujoco.MjsBody, container: str, hinge: Hinge, front: float, edge: float) -> mujoco.MjsBody:
    """The leaf's body, closed, its frame at the hinge with the furniture's axes; x = 0 is the back of the leaf.

    Args:
        body: the furniture.
        container: id of what it closes; the joint is ``<container>/joint``.
        hinge: side of the hinge.
        front: x of the case's front.
        edge: y of the hinge.
    """
    door = body.add_body(name=f"{container}/door", pos=(front + DOOR_GAP, edge, 0))
    joint = door.add_joint(name=f"{container}/joint", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, hinge_sign(hinge)))
    joint.range, joint.limited = (0, DOOR_RANGE), True
    joint.damping, joint.frictionloss, joint.armature = (2, 0, 0), 1.0, 0.05
    return door


def add_door_handle(
    door: mujoco.MjsBody, container: str, hinge: Hinge, width: float, thickness: float, height: float, length: float
) -> None:
    """An upright bar near the edge opposite to the hinge of a leaf ``width`` wide, its middle at ``height``."""
    sign = hinge_sign(hinge)
    handle_y = -sign * width + sign * (HANDLE_FROM_EDGE + HANDLE_RADIUS)
    add_handle(door, container, (thickness, handle_y, height), length, upright=True)


def add_frame(body: mujoco.MjsBody, area: Box, border: float, finish: Finish) -> None:
    """A raised border on a front, only looked at; ``area`` spans it, x from the front outwards."""
    (x0, y0, z0), (x1, y1, z1) = area.low, area.high
    for strip in (
        Box((x0, y0, z0), (x1, y1, z0 + border)),
        Box((x0, y0, z1 - border), (x1, y1, z1)),
        Box((x0, y0, z0 + border), (x1, y0 + border, z1 - border)),
        Box((x0, y1 - border, z0 + border), (x1, y1, z1 - border)),
    ):
        add_panel(body, strip, finish)


def leaf_span(hinge: Hinge, width: float) -> tuple[float, float]:
    """Least and greatest y of a leaf ``width`` wide, in its frame at the hinge."""
    far = -hinge_sign(hinge) * width
    return min(0.0, far), max(0.0, far)


def add_leaf(
    door: mujoco.MjsBody, hinge: Hinge, width: float, heights: tuple[float, float], thickness: float, finish: Finish
) -> None:
    """The solid leaf itself."""
    left, right = leaf_span(hinge, width)
    add_box(door, Box((0, left, heights[0]), (thickness, right, heights[1])), finish, mass=6.0 * width)
