"""A house as data: rooms, walls, furniture, objects and where the robot starts. Read from YAML, checked before use.

Map frame: x east, y north, origin at the house's south-west corner. Lengths in metres.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from homie_core import yaml_file
from homie_core.footing import Footing, Surface
from homie_sim.furniture import AnyFurniture
from homie_sim.furniture.base import Direction, Furniture, Id, Length, Rgb, Strict
from homie_sim.house_files import HouseError, house_file, house_names
from homie_sim.objects import CATALOGUE, category_of

__all__ = [
    "House",
    "HouseError",
    "Placement",
    "Ramp",
    "Room",
    "Wall",
    "house_names",
    "load_house",
    "one_line",
    "parse_house",
]

MAX_SLOPE = 0.125
"""Rise per metre that the base drives up: 1 in 8."""

_OVERLAP_TOLERANCE = 0.005


class Rectangle(Strict):
    """An area of the map: ``x`` and ``y`` from, to."""

    x: tuple[float, float]
    y: tuple[float, float]

    @model_validator(mode="after")
    def _ordered(self) -> Rectangle:
        if self.x[0] >= self.x[1] or self.y[0] >= self.y[1]:
            raise ValueError("x and y must each rise: [from, to]")
        return self

    @property
    def area(self) -> tuple[float, float, float, float]:
        """Least x, least y, greatest x, greatest y."""
        return self.x[0], self.y[0], self.x[1], self.y[1]

    def holds(self, area: tuple[float, float, float, float]) -> bool:
        """Whether ``area`` (least x, least y, greatest x, greatest y) lies inside."""
        return (
            self.x[0] <= area[0] + _OVERLAP_TOLERANCE
            and self.y[0] <= area[1] + _OVERLAP_TOLERANCE
            and area[2] <= self.x[1] + _OVERLAP_TOLERANCE
            and area[3] <= self.y[1] + _OVERLAP_TOLERANCE
        )


class Room(Rectangle):
    """A room's floor. ``floor``: tiles or boards. ``level``: its height; a room above 0 stands on a solid block."""

    id: Id
    level: Annotated[float, Field(ge=0, le=1)] = 0.0
    floor: Annotated[str, Field(pattern="^(tiles|boards)$")] = "boards"
    color: Rgb = (0.62, 0.45, 0.30)


class Wall(Rectangle):
    """A straight piece of wall. The third-person picture looks through ``cutaway`` walls."""

    height: Length = 2.5
    color: Rgb = (0.90, 0.88, 0.83)
    cutaway: bool = False


class Ramp(Rectangle):
    """A slope between two levels that rises towards ``up``, gently enough for the robot."""

    id: Id
    up: Direction
    low: Annotated[float, Field(ge=0, le=1)] = 0.0
    high: Length
    color: Rgb = (0.62, 0.45, 0.30)

    @model_validator(mode="after")
    def _gentle(self) -> Ramp:
        if not 0 < self.slope <= MAX_SLOPE + 1e-9:
            raise ValueError(
                f"from {self.low} to {self.high} over {self.length:.2f} m is a slope of {self.slope:.3f}; "
                f"allowed: more than 0, at most {MAX_SLOPE}"
            )
        return self

    @property
    def length(self) -> float:
        """Level length from its foot to its top."""
        along = self.x if self.up in ("east", "west") else self.y
        return along[1] - along[0]

    @property
    def slope(self) -> float:
        """Rise per metre."""
        return (self.high - self.low) / self.length

    @property
    def surface(self) -> Surface:
        """What one drives on."""
        sign = 1 if self.up in ("east", "north") else -1
        rise = sign * self.slope
        slope = (rise, 0.0) if self.up in ("east", "west") else (0.0, rise)
        return Surface(self.x, self.y, (self.low + self.high) / 2, slope)


class Placement(Strict):
    """Where an object starts: on or in a piece of furniture or a container, at ``at`` or a free spot.

    ``at`` is measured from the middle of the region, in the furniture's axes.
    """

    object: str
    on: str
    region: str | None = None
    at: tuple[float, float] | None = None
    yaw_degrees: float | None = None


class RobotStart(Strict):
    """Pose of the base at time 0."""

    x: float
    y: float
    yaw_degrees: float = 0.0


class House(Strict):
    """A whole house, checked: nothing overlaps, nothing is off the floor, no name is unknown.

    ``open`` names containers that are open at the start.
    """

    name: Id
    rooms: Annotated[tuple[Room, ...], Field(min_length=1)]
    ramps: tuple[Ramp, ...] = ()
    walls: tuple[Wall, ...] = ()
    furniture: tuple[AnyFurniture, ...] = ()
    objects: tuple[Placement, ...] = ()
    open: tuple[str, ...] = ()
    robot: RobotStart

    @model_validator(mode="after")
    def _consistent(self) -> House:
        self._check_names()
        self._check_floor()
        for index, placement in enumerate(self.objects):
            self.check_placement(placement, f"objects.{index}")
        self._check_open()
        return self

    def _check_open(self) -> None:
        for index, name in enumerate(self.open):
            if name not in self.container_ids:
                raise ValueError(f"open.{index}: {name!r}; allowed: {', '.join(self.container_ids) or 'none'}")

    def _check_names(self) -> None:
        names = [thing.id for thing in (*self.rooms, *self.ramps, *self.furniture)] + [
            entry.object for entry in self.objects
        ]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"id {repeated[0]!r} is used more than once")
        for index, entry in enumerate(self.objects):
            category, number = category_of(entry.object), entry.object.rpartition("_")[2]
            if category not in CATALOGUE or not number.isdecimal():
                allowed = ", ".join(sorted(CATALOGUE))
                raise ValueError(f"objects.{index}.object: {entry.object!r}; allowed: <category>_<number> of {allowed}")

    def _check_floor(self) -> None:
        for index, piece in enumerate(self.furniture):
            if not any(room.holds(piece.footprint) for room in self.rooms):
                raise ValueError(f"furniture.{index} ({piece.id}): at {piece.at} does not stand inside a room")
            for ramp in self.ramps:
                if _overlap(piece.footprint, ramp.area):
                    raise ValueError(f"furniture.{index} ({piece.id}): at {piece.at} overlaps {ramp.id}")
            for other in self.furniture[:index]:
                if _overlap(piece.footprint, other.footprint):
                    raise ValueError(f"furniture.{index} ({piece.id}): at {piece.at} overlaps {other.id}")
            for number, wall in enumerate(self.walls):
                if _overlap(piece.footprint, wall.area):
                    raise ValueError(f"furniture.{index} ({piece.id}): at {piece.at} overlaps walls.{number}")
        start = (self.robot.x, self.robot.y, self.robot.x, self.robot.y)
        if not any(room.holds(start) for room in self.rooms):
            raise ValueError(f"robot: ({self.robot.x}, {self.robot.y}) is not inside a room")

    def check_placement(self, placement: Placement, field: str) -> None:
        """Check that ``placement.on`` names a receptacle.

        Raises:
            ValueError: it does not.
        """
        if placement.on not in self.receptacles:
            allowed = ", ".join(self.receptacles)
            raise ValueError(f"{field}.on: {placement.on!r}; allowed: {allowed}")

    @cached_property
    def footing(self) -> Footing:
        """The floor's levels and slopes."""
        raised = [Surface(room.x, room.y, room.level) for room in self.rooms if room.level > 0]
        return Footing((*raised, *(ramp.surface for ramp in self.ramps)))

    @property
    def container_ids(self) -> tuple[str, ...]:
        """Ids of everything that opens."""
        return tuple(name for piece in self.furniture for name in piece.container_ids())

    @property
    def receptacles(self) -> tuple[str, ...]:
        """Ids of everything that objects can be put on or in: furniture and containers."""
        ids = [piece.id for piece in self.furniture if piece.holds_objects]
        return (*ids, *(name for name in self.container_ids if name not in ids))

    def furniture_named(self, id: str) -> Furniture | None:
        """The piece of furniture with this id, or None."""
        return next((piece for piece in self.furniture if piece.id == id), None)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    apart = (a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3])
    return max(apart) < -_OVERLAP_TOLERANCE


def load_house(source: str | Path) -> House:
    """Read a built-in house by name, or a YAML file by path (ending in .yaml or .yml).

    Raises:
        HouseError: unknown name, unreadable file, or a value that is not allowed.
    """
    path = house_file(source)
    try:
        data = yaml_file.load(path)
    except yaml_file.YamlError as error:
        raise HouseError(f"house: {error}") from error
    return parse_house(data, path.name)


def parse_house(data: object, origin: str = "house") -> House:
    """Check ``data`` as a house; ``origin`` opens the error line.

    Raises:
        HouseError: a value is not allowed.
    """
    # Imported here because the builder, which the check builds the house with, imports this module.
    from homie_sim.house_check import check_house

    try:
        house = House.model_validate(data)
        check_house(house)
    except ValidationError as error:
        raise HouseError(f"{origin}: {one_line(error)}") from error
    except ValueError as error:
        raise HouseError(f"{origin}: {error}") from error
    return house


def one_line(error: ValidationError, *prefix: str) -> str:
    """The first finding of ``error`` as field (``prefix`` before it), value and what is allowed."""
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    field = ".".join(str(part) for part in (*prefix, *first["loc"]))
    if not field:
        return message
    value = repr(first["input"])
    return f"{field}: {value if len(value) <= 80 else value[:77] + '...'}; {message}"
