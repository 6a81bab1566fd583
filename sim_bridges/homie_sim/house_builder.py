"""From a house's description to a MuJoCo model with the Fetch in it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from homie_core import fetch
from homie_sim.fetch_model import fetch_spec
from homie_sim.furniture.base import Furniture
from homie_sim.furniture.parts import REGION_GROUP, Box, add_box, add_panel
from homie_sim.house import House, Ramp, Room
from homie_sim.objects import add_object
from homie_sim.palette import Palette

TIMESTEP = 0.0025
"""Seconds of one physics step: four make a control tick."""

CUTAWAY_GROUP = 4
"""Geom group of walls that the third-person picture looks through."""

RAISED_FLOORS = "raised_floors"
"""Body of all floor above the ground."""

FLOOR_SUFFIX = "/floor"
"""How the names of geoms end that one drives on."""

_ROOM_HEIGHT = 2.5
_PICTURE = (640, 480)
_PARK_HEIGHT = -1.0


def build_spec(house: House, *, textured: bool = True) -> mujoco.MjSpec:
    """The whole world as a spec, meshes included by bare file name.

    Untextured, it needs no pictures, so its XML stands alone: that is what planning models are compiled from.

    Raises:
        FileNotFoundError: the Fetch's meshes are not installed.
    """
    spec, palette = _shell(house, textured=textured)
    for index, entry in enumerate(house.objects):
        # Parked apart from each other; a reset puts them where they belong.
        add_object(spec.worldbody, entry.object, (0.5 * index, -5, _PARK_HEIGHT), palette)
    spec.attach(fetch_spec(level=house.footing.is_level), prefix=fetch.MJCF_PREFIX, frame=spec.worldbody.add_frame())
    if not house.footing.is_level:
        # The base rolls on these; its hull would rub on them.
        spec.add_exclude(bodyname1=RAISED_FLOORS, bodyname2=fetch.BASE_BODY)
    _add_assists(spec, house)
    return spec


def build_shell(house: House) -> mujoco.MjSpec:
    """Rooms, walls and furniture only: no robot, no objects, no pictures."""
    return _shell(house, textured=False)[0]


def compile_house(house: House, *, textured: bool = True) -> mujoco.MjModel:
    """Build and compile.

    Raises:
        FileNotFoundError: the Fetch's meshes are not installed.
    """
    spec = build_spec(house, textured=textured)
    spec.assets = fetch.mesh_assets()
    return spec.compile()


def describe(house: House) -> str:
    """The world as MJCF text that compiles with ``homie_core.fetch.mesh_assets()`` and nothing else.

    Raises:
        FileNotFoundError: the Fetch's meshes are not installed.
    """
    spec = build_spec(house, textured=False)
    # Sleeping is for speed over time; who plans sets poses by hand and wants nothing asleep.
    spec.option.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    spec.assets = fetch.mesh_assets()
    spec.compile()
    return str(spec.to_xml())


def weld_name(object_id: str) -> str:
    """The equality that assists the grip on an object."""
    return f"{object_id}/assist"


def connect_name(container_id: str) -> str:
    """The equality that assists the grip on a container's handle."""
    return f"{container_id}/handle/assist"


def _shell(house: House, *, textured: bool) -> tuple[mujoco.MjSpec, Palette]:
    spec = mujoco.MjSpec()
    spec.modelname = house.name
    _set_options(spec)
    palette = Palette(spec, textured)
    _add_light(spec, palette)
    _add_rooms(spec, house, palette)
    for piece in house.furniture:
        place = (*piece.at, house.footing.height(*piece.at))
        body = spec.worldbody.add_body(name=piece.id, pos=place, quat=_about_z(piece.yaw))
        piece.build(body, palette)
        _add_contact_shadow(body, piece, palette)
    return spec, palette


def _set_options(spec: mujoco.MjSpec) -> None:
    spec.compiler.degree = False
    option = spec.option
    option.timestep = TIMESTEP
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10
    option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)


def _add_light(spec: mujoco.MjSpec, palette: Palette) -> None:
    """Light without shadow maps: drawing those in software costs four times the rest of the picture.

    A head light and two weak suns from opposite sides give every face of a box its own brightness.
    """
    palette.sky((0.62, 0.74, 0.86), (0.90, 0.94, 0.97))
    visual = spec.visual
    visual.global_.offwidth, visual.global_.offheight = _PICTURE
    # Multisampling halves the picture rate.
    visual.quality.offsamples = 0
    visual.headlight.ambient = (0.45, 0.45, 0.45)
    visual.headlight.diffuse = (0.22, 0.22, 0.22)
    visual.headlight.specular = (0.05, 0.05, 0.05)
    for direction, brightness in (((0.35, 0.55, -0.9), 0.36), ((-0.5, -0.6, -0.35), 0.16)):
        sun = spec.worldbody.add_light(pos=(4, 2, 6), dir=direction)
        sun.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
        sun.diffuse = (brightness, 0.98 * brightness, 0.93 * brightness)
        sun.specular = (0.15, 0.15, 0.15)
        sun.castshadow = False


def _add_rooms(spec: mujoco.MjSpec, house: House, palette: Palette) -> None:
    world = spec.worldbody
    for room in house.rooms:
        _add_floor(world, room, palette)
    if not house.footing.is_level:
        _add_raised_floors(world.add_body(name=RAISED_FLOORS), house, palette)
    ground = world.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), pos=(0, 0, -0.001))
    palette.plain((0.75, 0.78, 0.80), gloss=0).apply(ground)
    for wall in house.walls:
        box = Box((wall.x[0], wall.y[0], 0), (wall.x[1], wall.y[1], wall.height))
        geom = add_box(world, box, palette.plaster(wall.color))
        if wall.cutaway:
            geom.group = CUTAWAY_GROUP


def _add_raised_floors(body: mujoco.MjsBody, house: House, palette: Palette) -> None:
    """A block under every room above the ground, and the ramps; each geom is called ``<id>/floor``."""
    for room in house.rooms:
        if room.level > 0:
            block = Box((room.x[0], room.y[0], 0), (room.x[1], room.y[1], room.level))
            add_box(body, block, palette.wood(room.color), name=f"{room.id}{FLOOR_SUFFIX}")
    for ramp in house.ramps:
        _add_ramp(body, ramp, palette)


def _add_ramp(body: mujoco.MjsBody, ramp: Ramp, palette: Palette) -> None:
    """A thick board whose top face is the slope; its lower part is in the ground."""
    angle = math.atan(ramp.slope)
    turn = {"east": 0.0, "north": math.pi / 2, "west": math.pi, "south": -math.pi / 2}[ramp.up]
    across = ramp.y if ramp.up in ("east", "west") else ramp.x
    thick = ramp.high + 0.05
    sink = thick / 2 * math.cos(angle)
    shift = thick / 2 * math.sin(angle)
    middle = (sum(ramp.x) / 2 + shift * math.cos(turn), sum(ramp.y) / 2 + shift * math.sin(turn))
    geom = body.add_geom(
        name=f"{ramp.id}{FLOOR_SUFFIX}",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(*middle, ramp.surface.height - sink),
        size=(ramp.length / 2 / math.cos(angle), (across[1] - across[0]) / 2, thick / 2),
        quat=_product(_about_z(turn), (math.cos(-angle / 2), 0.0, math.sin(-angle / 2), 0.0)),
    )
    palette.wood(ramp.color).apply(geom)


def _product(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float, float]:
    """The product of two quaternions (w, x, y, z)."""
    result = np.empty(4)
    mujoco.mju_mulQuat(result, np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    w, x, y, z = result.tolist()
    return w, x, y, z


def _add_floor(world: mujoco.MjsBody, room: Room, palette: Palette) -> None:
    middle = (sum(room.x) / 2, sum(room.y) / 2)
    half = ((room.x[1] - room.x[0]) / 2, (room.y[1] - room.y[0]) / 2)
    if room.level == 0:
        plane = mujoco.mjtGeom.mjGEOM_PLANE
        floor = world.add_geom(name=f"{room.id}{FLOOR_SUFFIX}", type=plane, pos=(*middle, 0), size=(*half, 1))
        (palette.tiles if room.floor == "tiles" else palette.boards)(room.color).apply(floor)
    world.add_site(
        name=f"{room.id}/room",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(*middle, room.level + _ROOM_HEIGHT / 2),
        size=(*half, _ROOM_HEIGHT / 2),
        group=REGION_GROUP,
        rgba=(0.2, 0.2, 0.8, 0.1),
    )


def _add_contact_shadow(body: mujoco.MjsBody, piece: Furniture, palette: Palette) -> None:
    """Darken the floor round a piece of furniture, so that it stands instead of floating."""
    for grow, height in ((0.04, 0.0010), (0.09, 0.0006)):
        x, y = piece.depth / 2 + grow, piece.width / 2 + grow
        add_panel(body, Box((-x, -y, 0), (x, y, height)), palette.plain((0, 0, 0), gloss=0, alpha=0.11))


def _add_assists(spec: mujoco.MjSpec, house: House) -> None:
    """Equalities that hold what both fingers hold already; inactive until the grasp switches one on."""
    for entry in house.objects:
        _add_assist(spec, weld_name(entry.object), mujoco.mjtEq.mjEQ_WELD, entry.object)
    for piece in house.furniture:
        for container in piece.container_ids():
            _add_assist(spec, connect_name(container), mujoco.mjtEq.mjEQ_CONNECT, f"{container}/handle")


def _add_assist(spec: mujoco.MjSpec, name: str, kind: mujoco.mjtEq, body: str) -> None:
    # A weld's data: anchor (3), relative pose (7), torque scale; a connect's: anchor (3). Set when switched on.
    data = [0.0] * 12
    data[10] = 1.0
    spec.add_equality(
        name=name,
        type=kind,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        name1=fetch.GRIPPER_BODY,
        name2=body,
        active=False,
        data=data,
        solref=(0.02, 1),
        solimp=(0.9, 0.95, 0.001, 0.5, 2),
    )


def _about_z(yaw: float) -> tuple[float, float, float, float]:
    return math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)
