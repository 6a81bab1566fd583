"""Privileged state of the world, as plain data. Mirrors homie_msgs/WorldState."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

OPEN_THRESHOLD = 0.5
"""A container counts as open from half of its travel on (the original code: 0.8 of 1.57 rad, 0.25 of 0.5 m)."""

GRIPPER = "gripper"
"""Parent of the held object."""

FLOOR = "floor"
"""Parent of an object that lies on no furniture."""

RUNNING = "on"
"""State of an appliance that runs."""

VESSELS = frozenset({"bowl"})
"""Categories of objects that others can be put into, and that take these along."""

_TOP = "/top"


def top_of(container: str) -> str:
    """Parent of an object that stands on the roof of a container: on it, and not in it."""
    return container + _TOP


def owner_of(parent: str) -> str:
    """The thing that a parent belongs to: the container itself where ``parent`` is its roof."""
    return parent.removesuffix(_TOP)


class Kind(StrEnum):
    """What a thing is for the planner."""

    OBJECT = "object"
    FURNITURE = "furniture"
    CONTAINER = "container"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class ObjectState:
    """One thing in the world. Lengths in metres, map frame.

    ``position`` and ``quaternion`` (x, y, z, w) are those of the body's frame; ``box_center`` and ``box_size`` (full
    extents) describe its axis-aligned bounding box. ``parent`` is what it is in or on; on the roof of a container it is
    `top_of` that. ``open_fraction`` is NaN where nothing opens.
    """

    id: str
    category: str
    kind: Kind
    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    box_center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    box_size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    parent: str = ""
    open_fraction: float = math.nan
    states: tuple[str, ...] = ()

    @property
    def is_container(self) -> bool:
        return self.kind is Kind.CONTAINER

    @property
    def is_receptacle(self) -> bool:
        """Whether things may be put on or in it."""
        return self.kind in (Kind.FURNITURE, Kind.CONTAINER) or self.category in VESSELS

    @property
    def is_open(self) -> bool:
        """Whether a container is open far enough to reach into it."""
        return self.open_fraction >= OPEN_THRESHOLD


@dataclass(frozen=True, slots=True)
class WorldState:
    """Everything in the world at one moment. ``stamp`` in nanoseconds of simulation time.

    ``robot_pose`` is (x, y, yaw) of the base in the map frame, metres and radians.
    """

    scene: str
    stamp: int
    objects: tuple[ObjectState, ...]
    robot_pose: tuple[float, float, float]
    held: str = ""
    _by_id: dict[str, ObjectState] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {thing.id: thing for thing in self.objects})

    def __getitem__(self, id: str) -> ObjectState:
        """The thing with this id.

        Raises:
            KeyError: there is none.
        """
        return self._by_id[id]

    def get(self, id: str) -> ObjectState | None:
        return self._by_id.get(id)

    @property
    def categories(self) -> dict[str, str]:
        """The category of each thing, by id."""
        return {thing.id: thing.category for thing in self.objects}

    def of_category(self, category: str) -> Iterator[ObjectState]:
        return (thing for thing in self.objects if thing.category == category)

    def contents_of(self, id: str) -> tuple[str, ...]:
        """Ids of the objects that are in or on ``id``, and in or on these."""
        found: list[str] = []
        owners = {id}
        while owners:
            owners = {thing.id for thing in self.objects if thing.kind is Kind.OBJECT and thing.parent in owners}
            found += sorted(owners)
        return tuple(found)

    def closed_container_of(self, id: str) -> ObjectState | None:
        """The closed container that ``id`` is or lies in, looking outwards, or None."""
        thing = self.get(id)
        while thing is not None:
            if thing.is_container and not thing.is_open:
                return thing
            thing = self.get(thing.parent)
        return None
