"""What all furniture is made of: boxes, regions, handles, doors and drawers on an MjSpec body. Lengths in metres.

A furniture body has its origin on the floor, z up, and +x towards the person who stands in front of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco

from homie_sim.palette import Finish

MAX_REGION_HEIGHT = 0.4
"""Free height above an open surface that a region claims."""

REGION_GROUP = 5
"""Site group of regions and rooms; pictures leave it out."""

DECORATION_GROUP = 2
"""Geom group of parts that are looked at but never touched."""

HANDLE_RADIUS = 0.011
HANDLE_CLEARANCE = 0.055
"""Free space between a handle's bar and the front it is on."""

_HANDLE_COLOR = (0.55, 0.56, 0.58, 1.0)

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """An axis-aligned box given by its lower and upper corner."""

    low: Vector
    high: Vector

    @property
    def center(self) -> Vector:
        return _vector((a + b) / 2 for a, b in zip(self.low, self.high, strict=True))

    @property
    def half(self) -> Vector:
        return _vector((b - a) / 2 for a, b in zip(self.low, self.high, strict=True))


def _vector(values: Iterable[float]) -> Vector:
    x, y, z = values
    return x, y, z


def add_box(
    body: mujoco.MjsBody, box: Box, finish: Finish, *, mass: float | None = None, name: str = ""
) -> mujoco.MjsGeom:
    """A solid box. ``mass`` matters for moving bodies only."""
    geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=box.center, size=box.half, name=name)
    if mass is not None:
        geom.mass = mass
    finish.apply(geom)
    return geom


def add_panel(body: mujoco.MjsBody, box: Box, finish: Finish) -> mujoco.MjsGeom:
    """A box that is only looked at: no collision, no mass."""
    geom = add_box(body, box, finish, mass=0)
    make_decoration(geom)
    return geom


def make_decoration(geom: mujoco.MjsGeom) -> None:
    """Take ``geom`` out of collisions."""
    geom.contype = 0
    geom.conaffinity = 0
    geom.mass = 0
    geom.group = DECORATION_GROUP


def add_cylinder(body: mujoco.MjsBody, center: Vector, radius: float, length: float, finish: Finish) -> mujoco.MjsGeom:
    """A solid upright cylinder."""
    geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=center, size=(radius, length / 2, 0))
    finish.apply(geom)
    return geom


def add_region(body: mujoco.MjsBody, owner: str, name: str, box: Box) -> None:
    """Declare ``box`` as a place of ``owner`` where things can be put: its lower face supports them."""
    body.add_site(
        name=f"{owner}/region/{name}",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=box.center,
        size=box.half,
        group=REGION_GROUP,
        rgba=(0.2, 0.8, 0.2, 0.2),
    )


def add_handle(panel: mujoco.MjsBody, container: str, base: Vector, length: float, *, upright: bool) -> None:
    """A bar on the front of ``panel``, held by two posts.

    ``base`` is the point of the front, in the panel's frame, behind the bar's middle. The site's x axis points outward
    and its z axis along the bar.
    """
    handle = panel.add_body(name=f"{container}/handle")
    standoff = HANDLE_CLEARANCE + HANDLE_RADIUS
    handle.pos = (base[0] + standoff, base[1], base[2])
    if not upright:
        handle.quat = (math.cos(math.pi / 4), -math.sin(math.pi / 4), 0, 0)
    capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
    bar = handle.add_geom(name=f"{container}/handle", type=capsule, size=(HANDLE_RADIUS, length / 2, 0), mass=0.1)
    bar.friction = (1.0, 0.01, 0.001)
    bar.condim = 4
    bar.rgba = _HANDLE_COLOR
    for end in (-length / 2, length / 2):
        post = handle.add_geom(
            type=capsule, fromto=(0, 0, end, -standoff, 0, end), size=(0.7 * HANDLE_RADIUS, 0, 0), mass=0.02
        )
        post.rgba = _HANDLE_COLOR
    handle.add_site(name=f"{container}/handle", group=REGION_GROUP, size=(0.01, 0.01, 0.01))


def add_boxes(body: mujoco.MjsBody, boxes: Sequence[Box], finish: Finish) -> None:
    """Several boxes of one finish."""
    for box in boxes:
        add_box(body, box, finish)
