"""The catalogue of movable things: shape, size, mass, colour and printed label by canonical category.

Sizes follow the YCB set where a gripper that opens 0.10 m can take them; a storage box is too wide for it from every
side. A body's frame is the middle of its bounding
box, z up when it stands. Lengths in metres, masses in kilograms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import mujoco

from homie_sim.furniture.parts import Box, add_region, make_decoration
from homie_sim.palette import Finish, Palette
from homie_sim.textures import Color

_Shape = mujoco.mjtGeom
_FRICTION = (1.0, 0.01, 0.001)

WHITE = (0.95, 0.95, 0.93)
TIN = (0.75, 0.76, 0.78)

Part = Callable[[mujoco.MjsBody, Palette], None]


@dataclass(frozen=True, slots=True)
class ObjectModel:
    """One category. ``size`` are full extents of its bounding box in the body's frame."""

    category: str
    size: tuple[float, float, float]
    mass: float
    build: Part
    rolls: bool = False
    inside: Box | None = None
    """Where other things can be put, in the body's frame."""

    @property
    def radius(self) -> float:
        """Radius of the circle on the table that holds it, whatever its yaw."""
        return math.hypot(self.size[0], self.size[1]) / 2 if not self.rolls else max(self.size[:2]) / 2


def _geom(
    body: mujoco.MjsBody,
    shape: mujoco.mjtGeom,
    size: tuple[float, ...],
    finish: Finish,
    pos: tuple[float, float, float] = (0, 0, 0),
    quat: tuple[float, float, float, float] = (1, 0, 0, 0),
) -> mujoco.MjsGeom:
    geom = body.add_geom(type=shape, size=(*size, 0, 0)[:3], pos=pos, quat=quat)
    finish.apply(geom)
    return geom


def _can(
    category: str, radius: float, height: float, mass: float, text: str, paper: Color, ink: Color, band: Color
) -> ObjectModel:
    """A tin with a printed label and bare metal ends."""

    def build(body: mujoco.MjsBody, palette: Palette) -> None:
        _geom(body, _Shape.mjGEOM_CYLINDER, (radius, height / 2), palette.label(text, paper, ink, band))
        tin = palette.plain(TIN, gloss=0.9)
        for sign in (-1, 1):
            end = (0, 0, sign * (height / 2 - 0.0018))
            make_decoration(_geom(body, _Shape.mjGEOM_CYLINDER, (radius + 0.0008, 0.002), tin, end))

    return ObjectModel(category, (2 * radius, 2 * radius, height), mass, build)


def _carton(
    category: str, size: tuple[float, float, float], mass: float, text: str, paper: Color, ink: Color, band: Color
) -> ObjectModel:
    """A printed cardboard box."""

    def build(body: mujoco.MjsBody, palette: Palette) -> None:
        half = (size[0] / 2, size[1] / 2, size[2] / 2)
        lies = half[2] < min(half[:2])
        _geom(body, _Shape.mjGEOM_BOX, half, palette.label(text, paper, ink, band, on_top=lies))

    return ObjectModel(category, size, mass, build)


def _round_fruit(
    category: str,
    half: tuple[float, float, float],
    mass: float,
    color: Color,
    *,
    stem: bool = False,
    tips: bool = False,
    navel: bool = False,
) -> ObjectModel:
    """A fruit that is a ball or an ellipsoid: with stem and leaf, with pointed ends, or with a navel on top."""

    def build(body: mujoco.MjsBody, palette: Palette) -> None:
        shape = _Shape.mjGEOM_SPHERE if len(set(half)) == 1 else _Shape.mjGEOM_ELLIPSOID
        fruit = _geom(body, shape, half, palette.plain(color, gloss=0.35))
        fruit.condim = 6
        if stem:
            brown = palette.plain((0.30, 0.20, 0.10))
            make_decoration(_geom(body, _Shape.mjGEOM_CAPSULE, (0.0025, 0.008), brown, (0, 0, half[2] + 0.002)))
            leaf = palette.plain((0.25, 0.50, 0.15))
            tilt = (0.92, 0, 0.38, 0)
            make_decoration(
                _geom(body, _Shape.mjGEOM_ELLIPSOID, (0.012, 0.006, 0.0015), leaf, (0.010, 0, half[2] + 0.006), tilt)
            )

        if tips:
            for sign in (-1, 1):
                tip = (sign * (half[0] - 0.002), 0, 0)
                skin = palette.plain(color, gloss=0.35)
                make_decoration(_geom(body, _Shape.mjGEOM_ELLIPSOID, (0.008, 0.007, 0.007), skin, tip))
        if navel:
            dot = palette.plain((0.35, 0.40, 0.12), gloss=0)
            make_decoration(_geom(body, _Shape.mjGEOM_ELLIPSOID, (0.005, 0.005, 0.0015), dot, (0, 0, half[2])))

    return ObjectModel(category, (2 * half[0], 2 * half[1], 2 * half[2]), mass, build, rolls=True)


def _build_pear(body: mujoco.MjsBody, palette: Palette) -> None:
    skin = palette.plain((0.72, 0.76, 0.25), gloss=0.3)
    for radius, height in ((0.034, -0.016), (0.025, 0.013), (0.018, 0.030)):
        _geom(body, _Shape.mjGEOM_SPHERE, (radius,), skin, (0, 0, height)).condim = 6
    # Between the three spheres that are touched, more that only round off what is seen.
    for radius, height in ((0.0325, -0.009), (0.030, -0.001), (0.0275, 0.006), (0.0225, 0.019), (0.020, 0.025)):
        make_decoration(_geom(body, _Shape.mjGEOM_SPHERE, (radius,), skin, (0, 0, height)))
    brown = palette.plain((0.30, 0.20, 0.10))
    make_decoration(_geom(body, _Shape.mjGEOM_CAPSULE, (0.003, 0.007), brown, (0, 0, 0.052)))


def _build_strawberry(body: mujoco.MjsBody, palette: Palette) -> None:
    """It lies on its side, along y: a wide end with a green cap, a narrow end, and seeds."""
    red = palette.plain((0.88, 0.08, 0.14), gloss=0.4)
    _geom(body, _Shape.mjGEOM_ELLIPSOID, (0.022, 0.026, 0.022), red, (0, 0.004, 0)).condim = 6
    _geom(body, _Shape.mjGEOM_SPHERE, (0.013,), red, (0, -0.017, 0)).condim = 6
    seed = palette.plain((0.98, 0.85, 0.35))
    for y, radius, shift in ((-0.014, 0.0175, 0.0), (-0.002, 0.0214, 0.5), (0.010, 0.0213, 0.0)):
        for index in range(6):
            angle = (index + shift) * math.pi / 3
            spot = (radius * math.cos(angle), y, radius * math.sin(angle))
            make_decoration(_geom(body, _Shape.mjGEOM_SPHERE, (0.0018,), seed, spot))
    green = palette.plain((0.20, 0.55, 0.16))
    for index in range(5):
        angle = index * 2 * math.pi / 5
        spot = (0.009 * math.cos(angle), 0.026, 0.009 * math.sin(angle))
        # The leaf's long axis points away from the stem.
        turn = (math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0)
        make_decoration(_geom(body, _Shape.mjGEOM_ELLIPSOID, (0.009, 0.003, 0.004), green, spot, turn))
    stem = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)
    make_decoration(_geom(body, _Shape.mjGEOM_CAPSULE, (0.002, 0.006), green, (0, 0.033, 0), stem))


def _build_peach(body: mujoco.MjsBody, palette: Palette) -> None:
    """Orange-pink, with the furrow that only a peach has."""
    radius = 0.035
    _geom(body, _Shape.mjGEOM_SPHERE, (radius,), palette.plain((0.97, 0.58, 0.42), gloss=0.05)).condim = 6
    furrow = palette.plain((0.72, 0.30, 0.24), gloss=0)
    count, out = 9, radius + 0.0002
    angles = [math.pi * (0.02 + 0.96 * index / count) for index in range(count + 1)]
    for first, second in pairwise(angles):
        ends = (math.sin(first) * out, 0, math.cos(first) * out, math.sin(second) * out, 0, math.cos(second) * out)
        line = body.add_geom(type=_Shape.mjGEOM_CAPSULE, fromto=ends, size=(0.0013, 0, 0))
        furrow.apply(line)
        make_decoration(line)
    leaf = palette.plain((0.30, 0.52, 0.18))
    tilt = (0.99, 0, -0.14, 0)
    make_decoration(
        _geom(body, _Shape.mjGEOM_ELLIPSOID, (0.018, 0.008, 0.0015), leaf, (-0.012, 0, radius - 0.0005), tilt)
    )


def _build_banana(body: mujoco.MjsBody, palette: Palette) -> None:
    """Five capsules on an arc that lies flat, and dark tips."""
    yellow = palette.plain((0.95, 0.82, 0.22), gloss=0.3)
    brown = palette.plain((0.35, 0.25, 0.10))
    bend, count, radius = 0.12, 5, 0.017
    angles = [(index / count - 0.5) * 1.35 for index in range(count + 1)]
    points = [(bend * (math.cos(a) - 0.90), bend * math.sin(a)) for a in angles]
    for (x0, y0), (x1, y1) in pairwise(points):
        geom = body.add_geom(type=_Shape.mjGEOM_CAPSULE, fromto=(x0, y0, 0, x1, y1, 0), size=(radius, 0, 0))
        yellow.apply(geom)
    for x, y in (points[0], points[-1]):
        tip = _geom(body, _Shape.mjGEOM_SPHERE, (0.008,), brown, (x, y + math.copysign(0.015, y), 0))
        make_decoration(tip)


def _ring(
    body: mujoco.MjsBody, radius: float, low: float, high: float, flare: float, finish: Finish, count: int
) -> None:
    """A thin round wall of ``count`` flat boxes, wider by ``flare`` at the top."""
    height = high - low
    lean = math.atan2(flare, height)
    half_width = (radius + flare / 2) * math.tan(math.pi / count) + 0.002
    for index in range(count):
        angle = 2 * math.pi * index / count
        yaw = (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
        tilt = (math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0)
        middle = radius + flare / 2
        pos = (middle * math.cos(angle), middle * math.sin(angle), (low + high) / 2)
        half = (0.003, half_width, height / 2 / math.cos(lean))
        _geom(body, _Shape.mjGEOM_BOX, half, finish, pos, _multiply(yaw, tilt))


def _multiply(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float, float]:
    """The product of two quaternions (w, x, y, z)."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def _build_bowl(body: mujoco.MjsBody, palette: Palette) -> None:
    red = palette.plain((0.78, 0.16, 0.14), gloss=0.6)
    _geom(body, _Shape.mjGEOM_CYLINDER, (0.040, 0.004), red, (0, 0, -0.0235))
    _ring(body, 0.038, -0.024, 0.0275, 0.030, red, 16)


_BOWL_INSIDE = Box((-0.060, -0.060, -0.0195), (0.060, 0.060, 0.080))
"""From the bottom to above the rim, over which most fruit sticks out."""


def _build_mug(body: mujoco.MjsBody, palette: Palette) -> None:
    blue = palette.plain((0.16, 0.36, 0.66), gloss=0.6)
    _geom(body, _Shape.mjGEOM_CYLINDER, (0.038, 0.003), blue, (0, 0, -0.0395))
    _ring(body, 0.036, -0.0425, 0.0425, 0.0, blue, 12)
    loop = ((0.038, 0.026), (0.060, 0.018), (0.060, -0.018), (0.038, -0.026))
    for (y0, z0), (y1, z1) in pairwise(loop):
        geom = body.add_geom(type=_Shape.mjGEOM_CAPSULE, fromto=(0, y0, z0, 0, y1, z1), size=(0.006, 0, 0))
        blue.apply(geom)


def _build_sponge(body: mujoco.MjsBody, palette: Palette) -> None:
    _geom(body, _Shape.mjGEOM_BOX, (0.050, 0.033, 0.010), palette.plain((0.96, 0.85, 0.30), gloss=0), (0, 0, -0.004))
    _geom(body, _Shape.mjGEOM_BOX, (0.050, 0.033, 0.004), palette.plain((0.15, 0.45, 0.22), gloss=0), (0, 0, 0.010))


def _build_bleach(body: mujoco.MjsBody, palette: Palette) -> None:
    white = palette.plain(WHITE, gloss=0.5)
    label = palette.label("BLEACH", WHITE, WHITE, (0.10, 0.30, 0.65))
    _geom(body, _Shape.mjGEOM_BOX, (0.030, 0.045, 0.075), label, (0, 0, -0.030))
    _geom(body, _Shape.mjGEOM_CAPSULE, (0.022, 0.020), white, (0, 0, 0.045))
    cap = palette.plain((0.10, 0.30, 0.65), gloss=0.4)
    _geom(body, _Shape.mjGEOM_CYLINDER, (0.018, 0.015), cap, (0, 0, 0.090))


_MODELS = (
    _can(
        "potted_meat_can",
        0.033,
        0.100,
        0.35,
        "POTTED\nMEAT",
        (0.10, 0.52, 0.22),
        (0.10, 0.30, 0.12),
        (0.95, 0.90, 0.60),
    ),
    _can("master_chef_can", 0.044, 0.135, 0.41, "COFFEE", (0.12, 0.20, 0.55), WHITE, (0.70, 0.12, 0.12)),
    _can("tomato_soup_can", 0.033, 0.101, 0.35, "TOMATO\nSOUP", (0.82, 0.08, 0.08), (0.82, 0.08, 0.08), WHITE),
    _can("tuna_fish_can", 0.042, 0.034, 0.17, "TUNA", (0.15, 0.45, 0.75), WHITE, (0.10, 0.30, 0.60)),
    _carton(
        "cracker_box",
        (0.060, 0.150, 0.205),
        0.41,
        "CRACKERS",
        (0.78, 0.12, 0.12),
        (0.70, 0.10, 0.10),
        (0.96, 0.86, 0.55),
    ),
    _carton("sugar_box", (0.040, 0.089, 0.165), 0.51, "SUGAR", (0.96, 0.88, 0.35), WHITE, (0.15, 0.30, 0.65)),
    _carton(
        "pudding_box",
        (0.088, 0.105, 0.036),
        0.19,
        "PUDDING",
        (0.42, 0.24, 0.12),
        (0.42, 0.24, 0.12),
        (0.93, 0.84, 0.66),
    ),
    _carton("gelatin_box", (0.073, 0.085, 0.030), 0.10, "GELATIN", (0.85, 0.20, 0.35), (0.80, 0.15, 0.30), WHITE),
    ObjectModel("banana", (0.060, 0.180, 0.034), 0.12, _build_banana),
    _round_fruit("apple", (0.037, 0.037, 0.037), 0.16, (0.78, 0.10, 0.10), stem=True),
    _round_fruit("lemon", (0.034, 0.027, 0.027), 0.08, (0.96, 0.88, 0.18), tips=True),
    _round_fruit("orange", (0.037, 0.037, 0.037), 0.16, (0.96, 0.52, 0.08), navel=True),
    ObjectModel("strawberry", (0.044, 0.060, 0.044), 0.03, _build_strawberry, rolls=True),
    ObjectModel("peach", (0.070, 0.070, 0.070), 0.15, _build_peach, rolls=True),
    _round_fruit("plum", (0.028, 0.028, 0.028), 0.06, (0.36, 0.10, 0.36), stem=True),
    ObjectModel("pear", (0.068, 0.068, 0.100), 0.15, _build_pear, rolls=True),
    ObjectModel("bowl", (0.140, 0.140, 0.055), 0.18, _build_bowl, rolls=True, inside=_BOWL_INSIDE),
    ObjectModel("mug", (0.078, 0.105, 0.085), 0.15, _build_mug),
    ObjectModel("sponge", (0.100, 0.066, 0.028), 0.03, _build_sponge),
    _carton(
        "storage_box",
        (0.190, 0.240, 0.160),
        0.60,
        "STORAGE",
        (0.72, 0.56, 0.38),
        (0.30, 0.20, 0.12),
        (0.86, 0.74, 0.56),
    ),
    ObjectModel("bleach_cleanser", (0.060, 0.090, 0.210), 0.40, _build_bleach),
)

CATALOGUE: dict[str, ObjectModel] = {model.category: model for model in _MODELS}
"""Every category that a house may contain."""


def category_of(object_id: str) -> str:
    """The category in an object's id: ``potted_meat_can`` for ``potted_meat_can_1``."""
    return object_id.rpartition("_")[0]


def add_object(world: mujoco.MjsBody, object_id: str, position: tuple[float, float, float], palette: Palette) -> None:
    """Add a free body ``object_id`` at ``position``; its joint has the same name.

    Raises:
        KeyError: the id's category is not in the catalogue.
    """
    model = CATALOGUE[category_of(object_id)]
    body = world.add_body(name=object_id, pos=position)
    body.add_freejoint(name=object_id)
    model.build(body, palette)
    if model.inside is not None:
        add_region(body, object_id, "inside", model.inside)
    _set_physics(body, model)


def _set_physics(body: mujoco.MjsBody, model: ObjectModel) -> None:
    """Share the mass out over the solid parts and give all of them the same friction."""
    solid = [geom for geom in body.geoms if geom.contype]
    for geom in solid:
        geom.friction = _FRICTION
        geom.condim = max(geom.condim, 4)
        geom.mass = model.mass / len(solid)
