"""Where a held object can be put down on the free spots of a region, and how it should be turned.

The object keeps the side that is down now; only its yaw is chosen, so that the hand comes from the robot's side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from homie_skills.geometry import inverse, make_pose, rotation_z
from homie_skills.planning_scene import PlanningScene, Region, Shape
from homie_skills.robot import FloatArray
from homie_skills.shapes import span

DROP = 0.004
"""How far above the surface the object is let go."""

LOWERED = 0.005
"""By how much higher the next place in a vessel is."""

EDGE_MARGIN = 0.02
SPOT_STEP = 0.06
ENOUGH_ROOM = 0.16
"""Distance to the next object from which on the hand has room for either of them."""
YAW_OFFSETS = tuple(math.radians(degrees) for degrees in (0, 25, -25, 50, -50, 80, -80))
STEEP = math.radians(75)
"""A hand that points down more steeply than this has no side from which it comes."""

_STEEP_YAWS = tuple(index * math.pi / 4 for index in range(8))


@dataclass(frozen=True, slots=True)
class Spot:
    """A free place: pose of the object with some yaw, and the region of ``owner`` it belongs to."""

    owner: str
    pose: FloatArray
    region: Region
    room: float
    """Distance to the next object, metres."""


def resting_rotation(rotation: FloatArray) -> FloatArray:
    """``rotation`` (3, 3) tilted the least so that one axis of the object is upright."""
    axis = int(np.argmax(np.abs(rotation[2])))
    upright = rotation[:, axis] * np.sign(rotation[2, axis])
    up = np.array([0.0, 0.0, 1.0])
    cross, cosine = np.cross(upright, up), float(upright @ up)
    skew = np.array([[0, -cross[2], cross[1]], [cross[2], 0, -cross[0]], [-cross[1], cross[0], 0]])
    return (np.eye(3) + skew + skew @ skew / (1 + cosine)) @ rotation


def spots(scene: PlanningScene, owner: str, held: str) -> list[Spot]:
    """Free places on the regions of ``owner`` for the object in the hand, in no order of preference.

    The scene's held object must be ``held``. A place is free when the object fits there in some yaw and hits nothing.
    """
    shapes = scene.shapes(held)
    rotation = resting_rotation(scene.pose(held)[:3, :3])
    others = np.array([scene.pose(id)[:3, 3] for id in scene.objects() if id != held]).reshape(-1, 3)
    if owner in scene.objects():
        return _in_vessel(scene, owner, shapes, rotation)
    with scene.trying():
        return [
            Spot(owner, pose, region, _room(pose, others))
            for region in scene.regions(owner)
            for pose in _grid(shapes, rotation, region)
            if scene.held_fits(pose)
        ]


def _in_vessel(scene: PlanningScene, vessel: str, shapes: Sequence[Shape], rotation: FloatArray) -> list[Spot]:
    """The lowest place over the middle of a vessel: its wall slants, and something may be in it."""
    frame = make_pose(rotation, (0.0, 0.0, 0.0))
    bottom = span(shapes, frame, np.array([0.0, 0.0, 1.0]))[0]
    found = []
    with scene.trying():
        for region in scene.regions(vessel):
            for height in np.arange(DROP, 2 * region.half_size[2], LOWERED).tolist():
                position = region.pose[:3, 3] + np.array([0.0, 0.0, height - bottom - region.half_size[2]])
                pose = make_pose(rotation, position)
                if scene.held_fits(pose):
                    found.append(Spot(vessel, pose, region, ENOUGH_ROOM))
                    break
    return found


def edge_distance(spot: Spot) -> float:
    """Distance from the object's middle to the nearest edge of the spot's region, metres."""
    across = spot.region.pose[:3, :3].T @ (spot.pose[:3, 3] - spot.region.pose[:3, 3])
    return float(np.min(np.asarray(spot.region.half_size)[:2] - np.abs(across[:2])))


def _room(pose: FloatArray, others: FloatArray) -> float:
    """Distance to the middle of the next object, at most ``ENOUGH_ROOM``."""
    return float(np.linalg.norm(others - pose[:3, 3], axis=1).min(initial=ENOUGH_ROOM))


def _grid(shapes: Sequence[Shape], rotation: FloatArray, region: Region) -> Iterator[FloatArray]:
    """Poses on the region's surface in which the object does not stick out over the edge."""
    axes = region.pose[:3, :3]
    frame = make_pose(rotation, (0.0, 0.0, 0.0))
    bottom = span(shapes, frame, np.array([0.0, 0.0, 1.0]))[0]
    # An object that fits with its widest side in any direction can be turned as the hand needs it.
    limits = []
    for axis in range(2):
        low, high = span(shapes, frame, axes[:, axis])
        limits.append(region.half_size[axis] - (high - low) / 2 - EDGE_MARGIN)
    if min(limits) < 0:
        return
    for first in _ticks(limits[0]):
        for second in _ticks(limits[1]):
            position = region.pose[:3, 3] + axes[:, 0] * first + axes[:, 1] * second
            position = position + np.array([0.0, 0.0, DROP - bottom - region.half_size[2]])
            yield make_pose(rotation, position)


def _ticks(limit: float) -> FloatArray:
    count = int(limit / SPOT_STEP)
    if count == 0:
        return np.array([0.0, -limit, limit])
    return np.arange(-count, count + 1, dtype=np.float64) * SPOT_STEP


def turned(spot: FloatArray, grasp: FloatArray, viewpoint: FloatArray) -> Iterator[FloatArray]:
    """``spot`` (4, 4) in the yaws that suit the hand, best first.

    Args:
        spot: pose of the object.
        grasp: (4, 4) pose of the object in the hand.
        viewpoint: (2,) where the robot stands.
    """
    hand = spot @ inverse(grasp)
    if -hand[2, 0] > math.sin(STEEP):
        yaws: Sequence[float] = _STEEP_YAWS
    else:
        wanted = math.atan2(spot[1, 3] - viewpoint[1], spot[0, 3] - viewpoint[0])
        has = math.atan2(hand[1, 0], hand[0, 0])
        yaws = tuple(wanted - has + offset for offset in YAW_OFFSETS)
    for yaw in yaws:
        yield make_pose(rotation_z(yaw) @ spot[:3, :3], spot[:3, 3])
