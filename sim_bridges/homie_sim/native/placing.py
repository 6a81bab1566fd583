"""Free spots for an object on the regions of a receptacle. Lengths in metres, map frame."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homie_core.world_state import ObjectState, WorldState
from homie_sim.objects import CATALOGUE, category_of
from homie_sim.readout import Region
from homie_sim.world import MujocoWorld

Array = NDArray[np.float64]

_STEP = 0.05
_EDGE = 0.015
_DROP = 0.002
_FINGER_ROOM = 0.05
"""Space that should be free round an object, so that fingers fit there later."""

_CROWDED_COST = 1.0
_LOWERED = 0.008


@dataclass(frozen=True, slots=True)
class Spot:
    """Middle of the object's bounding box (3,), and its yaw."""

    position: Array
    yaw: float
    cost: float


def spots(world: MujocoWorld, state: WorldState, object_id: str, receptacle: str) -> list[Spot]:
    """Spots where an upright object does not stick out over the edge, best first; something may stand there already."""
    others = [thing for thing in state.objects if thing.parent == receptacle and thing.id != object_id]
    found: list[Spot] = []
    for region in world.readout.regions:
        if region.owner == receptacle:
            size = np.array(CATALOGUE[category_of(object_id)].size)
            vessel = receptacle in world.readout.objects
            found += _heights(world, region, size) if vessel else _spots(world, region, size, others)
    return sorted(found, key=lambda spot: spot.cost)


def _spots(world: MujocoWorld, region: Region, size: Array, others: list[ObjectState]) -> Iterator[Spot]:
    rotation = world.data.site_xmat[region.site].reshape(3, 3)
    middle = world.data.site_xpos[region.site]
    heading = math.atan2(rotation[1, 0], rotation[0, 0])
    turned = size[1] / 2 > region.half[0] - _EDGE or size[0] / 2 > region.half[1] - _EDGE
    depth, width = (size[1], size[0]) if turned else (size[0], size[1])
    height = -region.half[2] + size[2] / 2 + _DROP
    if height > region.half[2]:
        return
    radius = math.hypot(depth, width) / 2
    here = np.array(world.base_pose()[:2])
    for x in _ticks(region.half[0] - depth / 2 - _EDGE):
        for y in _ticks(region.half[1] - width / 2 - _EDGE):
            position = middle + rotation @ np.array([x, y, height])
            cost = float(np.linalg.norm(position[:2] - here)) + _crowding(position, radius, others)
            yield Spot(position, heading + (math.pi / 2 if turned else 0.0), cost)


def _heights(world: MujocoWorld, region: Region, size: Array) -> Iterator[Spot]:
    """Above the middle of a vessel, as far down as there is room: its wall slants, and something may be in it."""
    rotation = world.data.site_xmat[region.site].reshape(3, 3)
    bottom = float(world.data.site_xpos[region.site][2]) - region.half[2]
    middle = world.data.site_xpos[region.site][:2]
    heading = math.atan2(rotation[1, 0], rotation[0, 0])
    for height in np.arange(_DROP, 2 * region.half[2], _LOWERED).tolist():
        for turn in (0.0, math.pi / 4, math.pi / 2):
            yield Spot(np.array([*middle, bottom + height + size[2] / 2]), heading + turn, height)


def _crowding(position: Array, radius: float, others: list[ObjectState]) -> float:
    """What it costs to have no room for fingers beside a neighbour."""
    for other in others:
        distance = math.hypot(position[0] - other.box_center[0], position[1] - other.box_center[1])
        if distance < radius + math.hypot(*other.box_size[:2]) / 2 + _FINGER_ROOM:
            return _CROWDED_COST
    return 0.0


def _ticks(limit: float) -> list[float]:
    """Coordinates from ``-limit`` to ``limit``; none if it is negative."""
    if limit < 0:
        return []
    count = int(limit / _STEP)
    return [index * _STEP for index in range(-count, count + 1)]
