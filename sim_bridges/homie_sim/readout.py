"""What the world looks like from outside: the state of every thing in it, read from MuJoCo's data."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core.world_state import FLOOR, GRIPPER, RUNNING, Kind, ObjectState, WorldState, top_of
from homie_sim.house import House
from homie_sim.objects import category_of

HINGE_OPEN = 1.57
"""Radians at which a door counts as fully open."""

# As plain numbers: NumPy compares an array with MuJoCo's enumeration a hundred times slower.
_SPHERE, _ELLIPSOID = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_ELLIPSOID)
_CYLINDER, _CAPSULE = int(mujoco.mjtGeom.mjGEOM_CYLINDER), int(mujoco.mjtGeom.mjGEOM_CAPSULE)

_FLOOR_HEIGHT = 0.04
_REGION_SLACK = 0.02
_UPRIGHT = 0.5
"""Least cosine of the angle by which a vessel may lean and still hold what is in it."""

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]


@dataclass(frozen=True, slots=True)
class Region:
    """A place that can hold objects: a box site and whose place it is."""

    name: str
    owner: str
    site: int
    half: tuple[float, float, float]

    @property
    def volume(self) -> float:
        return 8 * math.prod(self.half)


@dataclass(frozen=True, slots=True)
class Container:
    """Something that opens: its joint's address in qpos, what counts as fully open, and the joint's upper limit."""

    id: str
    category: str
    parent: str
    body: int
    qpos: int
    fully_open: float
    limit: float
    is_hinge: bool


class _Boxes:
    """Axis-aligned boxes, map frame, around the geoms of several bodies, all at once."""

    def __init__(self, model: mujoco.MjModel, geoms: dict[int, NDArray[np.intp]]) -> None:
        self._bodies = tuple(geoms)
        self._geoms = np.concatenate(list(geoms.values()))
        self._starts = np.cumsum([0, *(len(members) for members in geoms.values())])[:-1]
        self._kinds = model.geom_type[self._geoms]
        self._center, self._half = np.split(model.geom_aabb[self._geoms], 2, axis=1)

    def read(self, data: mujoco.MjData) -> dict[int, Bounds]:
        """Least and greatest corner by body."""
        rotation = data.geom_xmat[self._geoms].reshape(-1, 3, 3)
        center = data.geom_xpos[self._geoms] + np.einsum("nij,nj->ni", rotation, self._center)
        half = half_extents(self._kinds, self._half, rotation)
        low = np.minimum.reduceat(center - half, self._starts)
        high = np.maximum.reduceat(center + half, self._starts)
        return dict(zip(self._bodies, zip(low, high, strict=True), strict=True))


class Readout:
    """Reads the state of the things of one house. Holds indices only, so it can be used at any time."""

    def __init__(self, model: mujoco.MjModel, house: House) -> None:
        self._model = model
        self._house = house
        self.objects = {entry.object: model.body(entry.object).id for entry in house.objects}
        self.regions = read_regions(model)
        self.containers = _containers(model, house)
        geoms = {body: _geoms_below(model, body) for body in self.objects.values()}
        geoms |= {container.body: _geoms_below(model, container.body) for container in self.containers.values()}
        # A fridge's box is that of its case: it must not grow when the door swings.
        self._bodies = {piece.id: model.body(piece.id).id for piece in house.furniture}
        geoms |= {body: _own_geoms(model, body) for body in self._bodies.values()}
        self._boxes = _Boxes(model, geoms)
        self._vessels = {
            index: region.owner for index, region in enumerate(self.regions) if region.owner in self.objects
        }
        self._roofs = {
            piece.id: house.footing.height(*piece.at) + piece.height
            for piece in house.furniture
            if piece.id in self.containers
        }
        self._region_half = np.array([region.half for region in self.regions])
        self._region_sites = np.array([region.site for region in self.regions])
        self._rooms = [self._room(room.id) for room in house.rooms]  # they stay as they are

    def open_fraction(self, data: mujoco.MjData, container_id: str) -> float:
        """How far a container is open: 0 closed, 1 fully open; a door pushed past its right angle has more.

        Raises:
            KeyError: there is no such container.
        """
        container = self.containers[container_id]
        return float(max(0.0, data.qpos[container.qpos] / container.fully_open))

    def read(
        self,
        data: mujoco.MjData,
        stamp: int,
        robot_pose: tuple[float, float, float],
        held: str,
        running: Collection[str] = (),
    ) -> WorldState:
        """The state at this moment; ``running`` are the ids of appliances that are on.

        ``data`` must have been brought up to date by ``mj_kinematics`` or a step.
        """
        boxes = self._boxes.read(data)
        things = self._objects(data, boxes, held)
        things += self._furniture(data, boxes, running)
        things += self._rooms
        return WorldState(self._house.name, stamp, tuple(things), robot_pose, held)

    def _objects(self, data: mujoco.MjData, boxes: dict[int, Bounds], held: str) -> list[ObjectState]:
        middles = np.array([(low + high) / 2 for low, high in (boxes[body] for body in self.objects.values())])
        things = []
        for (name, body), inside in zip(self.objects.items(), self._holding(data, middles.reshape(-1, 3)), strict=True):
            parent = GRIPPER if name == held else self._parent(data, inside, body, boxes)
            things.append(self._state(data, name, category_of(name), Kind.OBJECT, body, boxes[body], parent))
        return things

    def _parent(self, data: mujoco.MjData, inside: NDArray[np.bool_], body: int, boxes: dict[int, Bounds]) -> str:
        """What an object is in or on, as `ObjectState.parent` has it.

        ``inside`` says which regions its middle is in.
        """
        low, high = boxes[body]
        holding = [
            self.regions[index] for index in np.flatnonzero(inside).tolist() if self._may_hold(data, index, low, boxes)
        ]
        if holding:
            return min(holding, key=lambda region: region.volume).owner
        if low[2] > _FLOOR_HEIGHT:
            middle = (low + high) / 2
            for piece in self._house.furniture:
                x0, y0, x1, y1 = piece.footprint
                if x0 <= middle[0] <= x1 and y0 <= middle[1] <= y1:
                    above = low[2] > self._roofs.get(piece.id, math.inf) - _REGION_SLACK
                    return top_of(piece.id) if above else piece.id
        return FLOOR

    def _holding(self, data: mujoco.MjData, points: Array) -> NDArray[np.bool_]:
        """Which regions each of ``points`` (n, 3) is in; (n, regions)."""
        rotation = data.site_xmat[self._region_sites].reshape(-1, 3, 3)
        offsets = points[:, None, :] - data.site_xpos[self._region_sites]
        local = np.einsum("rji,nrj->nri", rotation, offsets)
        return np.all(np.abs(local) <= self._region_half + _REGION_SLACK, axis=2)

    def _may_hold(self, data: mujoco.MjData, index: int, low: Array, boxes: dict[int, Bounds]) -> bool:
        """Whether what has its lowest point at ``low`` can be in a region: upright vessels hold what is above them."""
        vessel = self._vessels.get(index)
        if vessel is None:
            return True
        upright = data.site_xmat[self.regions[index].site][8] > _UPRIGHT
        return bool(upright and low[2] > boxes[self.objects[vessel]][0][2])

    def _furniture(self, data: mujoco.MjData, boxes: dict[int, Bounds], running: Collection[str]) -> list[ObjectState]:
        things = []
        for piece in self._house.furniture:
            opens = piece.id in self.containers
            kind = Kind.CONTAINER if opens else Kind.FURNITURE
            fraction = self.open_fraction(data, piece.id) if opens else math.nan
            body = self._bodies[piece.id]
            states = (RUNNING,) if piece.id in running else ()
            things.append(self._state(data, piece.id, piece.kind_name, kind, body, boxes[body], "", fraction, states))
        for container in self.containers.values():
            if container.parent:
                fraction = self.open_fraction(data, container.id)
                things.append(
                    self._state(
                        data,
                        container.id,
                        container.category,
                        Kind.CONTAINER,
                        container.body,
                        boxes[container.body],
                        container.parent,
                        fraction,
                    )
                )
        return things

    def _state(
        self,
        data: mujoco.MjData,
        name: str,
        category: str,
        kind: Kind,
        body: int,
        box: Bounds,
        parent: str,
        open_fraction: float = math.nan,
        states: tuple[str, ...] = (),
    ) -> ObjectState:
        low, high = box
        w, x, y, z = data.xquat[body].tolist()
        return ObjectState(
            id=name,
            category=category,
            kind=kind,
            position=_triple(data.xpos[body]),
            quaternion=(x, y, z, w),
            box_center=_triple((low + high) / 2),
            box_size=_triple(high - low),
            parent=parent,
            open_fraction=open_fraction,
            states=states,
        )

    def _room(self, name: str) -> ObjectState:
        site = self._model.site(f"{name}/room")
        center = _triple(site.pos)
        return ObjectState(
            id=name,
            category=name,
            kind=Kind.PLACE,
            position=(center[0], center[1], self._house.footing.height(center[0], center[1])),
            box_center=center,
            box_size=_triple(2 * site.size),
        )


def read_regions(model: mujoco.MjModel) -> tuple[Region, ...]:
    """Every place in the model that can hold objects."""
    found = []
    for index in range(model.nsite):
        name = model.site(index).name
        owner, separator, _ = name.partition("/region/")
        if separator:
            found.append(Region(name, owner, index, _triple(model.site_size[index])))
    return tuple(found)


def _containers(model: mujoco.MjModel, house: House) -> dict[str, Container]:
    found = {}
    for piece in house.furniture:
        for name in piece.container_ids():
            joint = model.joint(f"{name}/joint")
            own = name == piece.id
            slides = joint.type[0] == mujoco.mjtJoint.mjJNT_SLIDE
            found[name] = Container(
                id=name,
                category=piece.kind_name if own else "drawer",
                parent="" if own else piece.id,
                body=model.body(name).id,
                qpos=int(joint.qposadr[0]),
                fully_open=float(joint.range[1]) if slides else HINGE_OPEN,
                limit=float(joint.range[1]),
                is_hinge=not slides,
            )
    return found


def half_extents(kinds: NDArray[np.int32], half: Array, rotation: Array) -> Array:
    """Half extents along the map's axes of turned geoms with half extents ``half`` along their own; (n, 3)."""
    extents = np.einsum("nij,nj->ni", np.abs(rotation), half)
    ellipsoids = (kinds == _SPHERE) | (kinds == _ELLIPSOID)
    extents[ellipsoids] = np.linalg.norm(rotation[ellipsoids] * half[ellipsoids, None, :], axis=2)
    cylinders = kinds == _CYLINDER
    axis, radius, length = np.abs(rotation[cylinders, :, 2]), half[cylinders, :1], half[cylinders, 2:]
    extents[cylinders] = axis * length + radius * np.sqrt(np.clip(1 - axis**2, 0, 1))
    capsules = kinds == _CAPSULE
    axis, radius, length = np.abs(rotation[capsules, :, 2]), half[capsules, :1], half[capsules, 2:]
    extents[capsules] = axis * (length - radius) + radius
    return extents


def _own_geoms(model: mujoco.MjModel, body: int) -> NDArray[np.intp]:
    """The body's solid geoms."""
    return np.flatnonzero((model.geom_bodyid == body) & (model.geom_contype != 0))


def _geoms_below(model: mujoco.MjModel, body: int) -> NDArray[np.intp]:
    """Solid geoms of the body and of all bodies below it."""
    below = {body}
    for child in range(body + 1, model.nbody):
        if model.body_parentid[child] in below:
            below.add(child)
    return np.flatnonzero(np.isin(model.geom_bodyid, sorted(below)) & (model.geom_contype != 0))


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
