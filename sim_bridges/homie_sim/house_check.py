"""What only geometry can tell about a house: do things stand where they are put, do doors open, can all be reached.

Everything is looked at with all doors closed but for the one that is tried, and without robot and objects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.furniture.base import Furniture
from homie_sim.house_builder import build_shell
from homie_sim.objects import CATALOGUE, ObjectModel, category_of
from homie_sim.occupancy import OccupancyGrid, build_grid
from homie_sim.placement import JITTER
from homie_sim.readout import HINGE_OPEN, Region, read_regions

if TYPE_CHECKING:
    from homie_sim.house import House, Placement

STANDING_CLEARANCE = fetch.BASE_RADIUS + 0.05
"""Metres between the base's middle and the next obstacle, at least, where it drives and stands."""

FRONT_DISTANCES = (0.30, 0.90)
"""Least and greatest distance of the base's middle from the front that it stands before."""

_DOOR_STEPS = 12
_HIT = -0.002
_SLACK = 0.003

Spot = tuple[str, float, float, ObjectModel]


def check_house(house: House) -> None:
    """Check everything that the description alone does not show.

    Raises:
        ValueError: something does not fit; one line that says what, where, and what is allowed.
    """
    model = build_shell(house).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    entries = {f"objects.{index} ({entry.object})": entry for index, entry in enumerate(house.objects)}
    check_objects(entries, read_regions(model))
    _check_doors(house, model, data)
    _check_reach(house, build_grid(model, data, house))
    _check_room_at_doors(house, model, data)


# --- objects


def check_objects(entries: Mapping[str, Placement], regions: Sequence[Region]) -> None:
    """Check that every object has room where it is put, and that no two are put into one place.

    Args:
        entries: where the objects are, by the field that says so. Their receptacles exist.
        regions: those of the house.

    Raises:
        ValueError: one does not fit; the line names the field, and what is allowed.
    """
    fixed: list[tuple[Placement, Spot]] = []
    for field, entry in entries.items():
        own = _regions_of(entry, regions, field)
        model = CATALOGUE[category_of(entry.object)]
        if entry.at is None:
            _check_some_room(entry, own, model, field)
            continue
        _check_spot(entry, own[0], model, field)
        spot = (own[0].name, *entry.at, model)
        for other, taken in fixed:
            _check_apart(entry, other, spot, taken, field)
        fixed.append((entry, spot))


def _regions_of(entry: Placement, regions: Sequence[Region], field: str) -> list[Region]:
    own = [region for region in regions if region.owner == entry.on]
    if entry.region is None:
        return own
    names = [region.name.rpartition("/")[2] for region in own]
    if entry.region not in names:
        raise ValueError(f"{field}.region: {entry.region!r}; allowed on {entry.on}: {', '.join(names)}")
    return [own[names.index(entry.region)]]


def _check_some_room(entry: Placement, regions: list[Region], model: ObjectModel, field: str) -> None:
    """A free choice needs one region that is large enough."""
    if not any(_limits(region, model, None) and model.size[2] <= 2 * region.half[2] for region in regions):
        sizes = ", ".join(_size(region) for region in regions)
        raise ValueError(f"{field}.on: {entry.on!r} has no room for {_dimensions(model)}; its places: {sizes}")


def _check_spot(entry: Placement, region: Region, model: ObjectModel, field: str) -> None:
    if entry.at is None:
        return
    if model.size[2] > 2 * region.half[2]:
        raise ValueError(f"{field}.on: {_dimensions(model)} is too tall for {_size(region)} of {entry.on!r}")
    limits = _limits(region, model, entry.yaw_degrees)
    if limits is None:
        raise ValueError(f"{field}.on: {_size(region)} of {entry.on!r} has no room for {_dimensions(model)}")
    if any(abs(value) > limit + _SLACK for value, limit in zip(entry.at, limits, strict=True)):
        allowed = " and ".join(f"{axis} within +-{limit:.2f}" for axis, limit in zip("xy", limits, strict=True))
        raise ValueError(f"{field}.at: {entry.at} is off {_size(region)} of {entry.on!r}; allowed: {allowed}")


def _limits(region: Region, model: ObjectModel, yaw_degrees: float | None) -> tuple[float, float] | None:
    """How far from the region's middle the object's middle may be, jitter taken off; None: too large.

    Without a yaw of its own the object faces the front, give or take.
    """
    yaw = math.radians(yaw_degrees or 0.0)
    cosine, sine = abs(math.cos(yaw)), abs(math.sin(yaw))
    half_x, half_y = model.size[0] / 2, model.size[1] / 2
    room_x = region.half[0] - JITTER - (cosine * half_x + sine * half_y)
    room_y = region.half[1] - JITTER - (sine * half_x + cosine * half_y)
    return (room_x, room_y) if min(room_x, room_y) > 0 else None


def _check_apart(entry: Placement, other: Placement, spot: Spot, taken: Spot, field: str) -> None:
    """Two objects with given spots must not touch, wherever the jitter takes them."""
    if spot[0] != taken[0]:
        return
    apart = math.hypot(spot[1] - taken[1], spot[2] - taken[2])
    needed = spot[3].radius + taken[3].radius + 2 * JITTER
    if apart < needed:
        raise ValueError(
            f"{field}.at: {entry.at} overlaps {other.object} at {other.at} on {entry.on!r}; "
            f"they are {apart:.2f} m apart and need {needed:.2f} m"
        )


def _dimensions(model: ObjectModel) -> str:
    return f"{model.category} ({' x '.join(f'{length:.2f}' for length in model.size)} m)"


def _size(region: Region) -> str:
    return f"{region.name.rpartition('/')[2]} ({' x '.join(f'{2 * half:.2f}' for half in region.half)} m)"


# --- containers


def _check_doors(house: House, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    trees = _furniture_of_geoms(house, model)
    for field, _piece, joint in _joints(house, model):
        _check_opens(field, joint, model, data, trees)
        joint.move(model, data, 0.0)


def _check_room_at_doors(house: House, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    for field, piece, joint in _joints(house, model):
        joint.move(model, data, 1.0)
        _check_room_when_open(field, joint, house, piece, build_grid(model, data, house))
        joint.move(model, data, 0.0)


def _joints(house: House, model: mujoco.MjModel) -> Iterator[tuple[str, Furniture, _Joint]]:
    for index, piece in enumerate(house.furniture):
        for container in piece.container_ids():
            yield f"furniture.{index} ({piece.id})", piece, _Joint.of(model, container)


@dataclass(frozen=True, slots=True)
class _Joint:
    """A container's joint: address in qpos, value when fully open, body that moves."""

    container: str
    address: int
    full: float
    body: int

    @classmethod
    def of(cls, model: mujoco.MjModel, container: str) -> _Joint:
        joint = model.joint(f"{container}/joint")
        slides = joint.type[0] == mujoco.mjtJoint.mjJNT_SLIDE
        full = float(joint.range[1]) if slides else HINGE_OPEN
        return cls(container, int(joint.qposadr[0]), full, int(joint.bodyid[0]))

    def move(self, model: mujoco.MjModel, data: mujoco.MjData, share: float) -> None:
        data.qpos[self.address] = share * self.full
        mujoco.mj_kinematics(model, data)


def _check_opens(
    field: str, joint: _Joint, model: mujoco.MjModel, data: mujoco.MjData, trees: NDArray[np.intp]
) -> None:
    """Move the joint from closed to open; nothing but its own furniture may be met."""
    moving = _below(model, joint.body)
    for share in np.linspace(0, 1, _DOOR_STEPS + 1)[1:]:
        joint.move(model, data, float(share))
        mujoco.mj_collision(model, data)
        met = _met(model, data, moving, trees)
        if met:
            raise ValueError(
                f"{field}: {joint.container} opens only {100 * (share - 1 / _DOOR_STEPS):.0f} % before it meets {met}; "
                "it must swing or slide open freely"
            )


def _check_room_when_open(field: str, joint: _Joint, house: House, piece: Furniture, grid: OccupancyGrid) -> None:
    """Who opened it must still have a place to stand in front of it."""
    reachable = drivable_cells(grid, (house.robot.x, house.robot.y))
    if not any(_stands(grid, reachable, spot) for spot in spots_before(piece)):
        raise ValueError(
            f"{field}: with {joint.container} open, no free place for a base of radius {fetch.BASE_RADIUS} m is left "
            "in front of it that the robot can drive to"
        )


def _met(model: mujoco.MjModel, data: mujoco.MjData, moving: set[int], trees: NDArray[np.intp]) -> str:
    """What the moving bodies touch, other than their own furniture and the floor; empty: nothing."""
    for contact in data.contact[: data.ncon]:
        first, second = (int(geom) for geom in contact.geom)
        if int(model.geom_bodyid[first]) not in moving:
            first, second = second, first
        if int(model.geom_bodyid[first]) not in moving or trees[first] == trees[second] or contact.dist > _HIT:
            continue
        body = int(model.geom_bodyid[second])
        return model.body(body).name.partition("/")[0] if body else "a wall or the floor"
    return ""


def _furniture_of_geoms(house: House, model: mujoco.MjModel) -> NDArray[np.intp]:
    """For each geom the number of the piece of furniture that it belongs to, -1 for walls and floors."""
    of_body = np.full(model.nbody, -1)
    for index, piece in enumerate(house.furniture):
        of_body[sorted(_below(model, model.body(piece.id).id))] = index
    return np.asarray(of_body[model.geom_bodyid])


def _below(model: mujoco.MjModel, body: int) -> set[int]:
    below = {body}
    for child in range(body + 1, model.nbody):
        if int(model.body_parentid[child]) in below:
            below.add(child)
    return below


# --- reach


def _check_reach(house: House, grid: OccupancyGrid) -> None:
    start = house.robot
    if grid.clearance_at(start.x, start.y) < STANDING_CLEARANCE:
        raise ValueError(
            f"robot: ({start.x}, {start.y}) has {grid.clearance_at(start.x, start.y):.2f} m to the next obstacle; "
            f"allowed: at least {STANDING_CLEARANCE:.2f}"
        )
    reachable = drivable_cells(grid, (start.x, start.y))
    for index, piece in enumerate(house.furniture):
        if not any(_stands(grid, reachable, spot) for spot in spots_before(piece)):
            raise ValueError(
                f"furniture.{index} ({piece.id}): at {piece.at} facing {piece.facing} cannot be reached: no free place "
                f"for a base of radius {fetch.BASE_RADIUS} m in front of it that the robot can drive to"
            )
    points = [grid.point((int(row), int(column))) for row, column in np.argwhere(reachable)]
    for index, room in enumerate(house.rooms):
        if not any(room.holds((*point, *point)) for point in points):
            raise ValueError(
                f"rooms.{index} ({room.id}): x {room.x}, y {room.y} cannot be reached from the robot's start; "
                "allowed: an opening wide enough for the base in what is between them"
            )


def drivable_cells(grid: OccupancyGrid, start: tuple[float, float]) -> NDArray[np.bool_]:
    """Cells where the base can stand and that it can drive to from ``start``; (rows, columns)."""
    free = (grid.clearance >= STANDING_CLEARANCE).astype(np.uint8)
    _, labels = cv2.connectedComponents(free, connectivity=4)
    cell = grid.cell(*start)
    if cell is None or not free[cell]:
        return np.zeros(free.shape, dtype=bool)
    return np.asarray(labels == labels[cell])


def spots_before(piece: Furniture) -> Iterator[tuple[float, float]]:
    """Points on the floor before the front of ``piece`` where one may stand to use it."""
    ahead = np.array([math.cos(piece.yaw), math.sin(piece.yaw)])
    aside = np.array([-ahead[1], ahead[0]])
    for distance in np.arange(FRONT_DISTANCES[0], FRONT_DISTANCES[1] + 0.01, 0.1):
        for along in np.linspace(-0.4, 0.4, 5):
            x, y = np.array(piece.at) + ahead * (piece.depth / 2 + distance) + aside * along * piece.width
            yield float(x), float(y)


def _stands(grid: OccupancyGrid, reachable: NDArray[np.bool_], spot: tuple[float, float]) -> bool:
    cell = grid.cell(*spot)
    return cell is not None and bool(reachable[cell])
