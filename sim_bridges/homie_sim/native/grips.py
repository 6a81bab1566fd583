"""How an object fits between the fingers: by its whole width, or by a thin wall. Lengths in metres."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_sim.readout import half_extents

MAX_WIDTH = 0.09
"""Widest part that fits between the open fingers with room to spare, as for the physical grasps."""

_PALM_DEPTH = 0.047
"""How deep an object may reach behind the grip point before it touches the palm."""

_THIN = 0.012
_RIM_DEPTH = 0.016

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grip:
    """``pose``: (4, 4) of the object in the frame of the grip site; ``width``: of what is between the fingers."""

    pose: Array
    width: float


def grips(model: mujoco.MjModel, data: mujoco.MjData, object_id: str) -> Iterator[Grip]:
    """Ways to hold an object that stands or lies as ``data`` has it; none if it is too large everywhere.

    The fingers close level, as the physical grasps do: along one of the object's axes that are level now.
    """
    body = model.body(object_id).id
    geoms = np.flatnonzero((model.geom_bodyid == body) & (model.geom_contype != 0))
    low, high = _bounds(model, geoms)
    upright = int(np.argmax(np.abs(data.xmat[body].reshape(3, 3)[2])))
    size = high - low
    level = sorted((axis for axis in range(3) if axis != upright), key=lambda axis: float(size[axis]))
    whole = [axis for axis in level if size[axis] <= MAX_WIDTH]
    for axis in whole:
        yield from _whole(size, (low + high) / 2, axis)
    if not whole:
        yield from _walls(model, geoms, upright, float(high[upright]))


def _whole(size: Array, center: Array, closing: int) -> Iterator[Grip]:
    """The object's middle between the fingers, moved forward where it would touch the palm."""
    for rotation in _ROTATIONS:
        if abs(rotation[1, closing]) < 0.5:
            continue
        depth = float(np.abs(rotation[0]) @ size)
        forward = np.array([max(0.0, depth / 2 - _PALM_DEPTH), 0.0, 0.0])
        yield Grip(_pose(rotation, forward - rotation @ center), float(size[closing]))


def _walls(model: mujoco.MjModel, geoms: NDArray[np.intp], upright: int, top: float) -> Iterator[Grip]:
    """A thin standing wall between the fingers, the hand above its edge."""
    for geom in geoms.tolist():
        half = model.geom_aabb[geom, 3:]
        thin = int(np.argmin(half))
        across = _turn(model, geom)[:, thin]
        if half[thin] > _THIN or abs(across[upright]) > 0.7:
            continue
        down = -np.eye(3)[upright]
        closing = across - (across @ down) * down
        closing /= np.linalg.norm(closing)
        hand = np.column_stack([down, closing, np.cross(down, closing)])
        point = model.geom_pos[geom].copy()
        drop = (top - _RIM_DEPTH - point[upright]) * across[upright] / float(across @ closing)
        point[upright] = top - _RIM_DEPTH
        point -= closing * drop
        yield Grip(_pose(hand.T, -hand.T @ point), 2 * _THIN)


def _bounds(model: mujoco.MjModel, geoms: NDArray[np.intp]) -> tuple[Array, Array]:
    """Least and greatest corner of the geoms' boxes in the body's frame."""
    rotation = np.array([_turn(model, geom) for geom in geoms.tolist()])
    center, half = np.split(model.geom_aabb[geoms], 2, axis=1)
    middle = model.geom_pos[geoms] + np.einsum("nij,nj->ni", rotation, center)
    reach = half_extents(model.geom_type[geoms], half, rotation)
    return (middle - reach).min(axis=0), (middle + reach).max(axis=0)


def _turn(model: mujoco.MjModel, geom: int) -> Array:
    """Rotation (3, 3) of a geom in its body."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, model.geom_quat[geom])
    return matrix.reshape(3, 3)


def _pose(rotation: Array, position: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = position
    return pose


def _rotations() -> tuple[Array, ...]:
    """The 24 ways to turn the axes onto each other."""
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            rotation = np.zeros((3, 3))
            rotation[range(3), order] = signs
            if np.linalg.det(rotation) > 0:
                found.append(rotation)
    return tuple(found)


_ROTATIONS = _rotations()
