"""What the robot sees, in words: for planners that look at no pictures.

Things are told only as far as the four views show them, which a segmentation of each view decides: what is hidden, shut
away or too small to be made out is not there. Names are canonical categories, which name resolution takes.

    room: kitchen
    front: fridge (closed) 1.5 m; 2 drawer (closed) 2 m; apple (on kitchen_counter) 2.5 m
    left: nothing
    back: sofa 4.5 m
    right: mug (on brown_table) 3 m
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core.world_state import FLOOR, GRIPPER, RUNNING, ObjectState, WorldState
from homie_sim.house import House, Room
from homie_sim.readout import Readout
from homie_sim.rendering import Segmentation, ray_directions

MIN_PIXELS = 9
"""Of 256 x 256, that a thing must cover to be told: 3 x 3, a can 10 cm high at about 3.5 m."""

DISTANCE_STEP = 0.5
"""Metres that distances are rounded to."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """A thing in one view: metres from the base, level, to the nearest point of it that is seen."""

    thing: str
    distance: float


class Describer:
    """Describes views of one house."""

    def __init__(self, model: mujoco.MjModel, house: House, readout: Readout) -> None:
        self._house = house
        furniture = [piece.id for piece in house.furniture]
        self._things = tuple(dict.fromkeys((*readout.objects, *furniture, *readout.containers)))
        bodies = {model.body(name).id: index for index, name in enumerate(self._things)}
        thing_of_body = _inherited(model, bodies)
        # The last entry is that of geom -1: nothing.
        self._thing_of_geom = np.append(thing_of_body[model.geom_bodyid], -1)
        joints = {name: model.joint(f"{name}/joint").id for name in readout.containers}
        leaves = {int(model.jnt_bodyid[joint]): self._things.index(name) for name, joint in joints.items()}
        self._leaf_of_geom = np.append(_inherited(model, leaves)[model.geom_bodyid], -1)

    def describe(self, views: Mapping[str, Segmentation], state: WorldState) -> str:
        """The room and, view by view, what is seen, the nearest first.

        ``state`` is that of the moment of ``views``; nothing of it is told but of things in them.
        """
        sights = {name: self._sights(view, state) for name, view in views.items()}
        seen = {sight.thing for found in sights.values() for sight in found}
        leaves = {self._things[leaf] for view in views.values() for leaf in self._visible(self._leaf_of_geom, view)}
        lines = [f"room: {self._room(state)}"]
        for name, found in sights.items():
            entries = Counter(
                (_rounded(sight.distance), _entry(state[sight.thing], state, seen, leaves)) for sight in found
            )
            told = [
                f"{f'{count} ' if count > 1 else ''}{text} {distance:g} m"
                for (distance, text), count in sorted(entries.items())
            ]
            lines.append(f"{name}: {'; '.join(told) or 'nothing'}")
        return "\n".join(lines)

    def _sights(self, view: Segmentation, state: WorldState) -> list[_Sight]:
        things = self._thing_of_geom[view.geoms]
        points = view.camera.position + view.depth[..., None] * ray_directions(view.camera)
        distances = np.linalg.norm(points[..., :2] - np.array(state.robot_pose[:2]), axis=-1)
        return [
            _Sight(self._things[index], float(distances[things == index].min()))
            for index in self._visible(self._thing_of_geom, view)
        ]

    @staticmethod
    def _visible(owner_of_geom: NDArray[np.int32], view: Segmentation) -> list[int]:
        """Which owners cover enough of the view."""
        owners, pixels = np.unique(owner_of_geom[view.geoms], return_counts=True)
        return [int(owner) for owner, count in zip(owners, pixels, strict=True) if owner >= 0 and count >= MIN_PIXELS]

    def _room(self, state: WorldState) -> str:
        """The room that the robot stands in, or the nearest one in a doorway or on a ramp."""
        x, y, _ = state.robot_pose
        return min(self._house.rooms, key=lambda room: _gap(room, x, y)).id


def _entry(thing: ObjectState, state: WorldState, seen: set[str], leaves: set[str]) -> str:
    """Name and state of ``thing``: of its door or drawer if that is seen, of what it rests on if that is seen too."""
    facts = []
    if thing.id in leaves:
        facts.append("open" if thing.is_open else "closed")
    if RUNNING in thing.states:
        facts.append("running")
    if thing.parent == GRIPPER:
        facts.append("in your hand")
    elif thing.parent == FLOOR:
        facts.append("on the floor")
    elif thing.parent in seen and not thing.is_container:
        place = state[thing.parent]
        facts.append(f"{'in' if place.is_container and place.is_open else 'on'} {place.category}")
    return f"{thing.category} ({', '.join(facts)})" if facts else thing.category


def _inherited(model: mujoco.MjModel, values: Mapping[int, int]) -> NDArray[np.int32]:
    """The value of each body, or else of the nearest body above it that has one, or -1."""
    found = np.full(model.nbody, -1, dtype=np.int32)
    for body in range(1, model.nbody):
        found[body] = values.get(body, found[model.body_parentid[body]])
    return found


def _gap(room: Room, x: float, y: float) -> float:
    return float(np.hypot(max(room.x[0] - x, x - room.x[1], 0.0), max(room.y[0] - y, y - room.y[1], 0.0)))


def _rounded(distance: float) -> float:
    return DISTANCE_STEP * round(distance / DISTANCE_STEP)
