"""What an episode changes of its house before it starts: the entries of ResetEpisode's ``placements_json``.

Each entry is one of::

    {"object": "apple_1", "on": "fridge"}                      # with "region", "at", "yaw_degrees" as in a house
    {"container": "kitchen_counter/drawer_1", "open": true}
    {"appliance": "oven", "running": true}
    {"robot": {"x": 3.4, "y": 1.6, "yaw_degrees": 90}}

What no entry speaks of is as the house says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from pydantic import StrictBool, ValidationError

from homie_core import fetch
from homie_sim.furniture.appliances import Appliance
from homie_sim.furniture.base import Strict
from homie_sim.house import House, HouseError, Placement, RobotStart, one_line
from homie_sim.house_check import STANDING_CLEARANCE, check_objects
from homie_sim.readout import Region


class ContainerStart(Strict):
    """Whether a container is open at the start."""

    container: str
    open: StrictBool


class ApplianceStart(Strict):
    """Whether an appliance runs at the start."""

    appliance: str
    running: StrictBool


class RobotEntry(Strict):
    """Where the robot starts."""

    robot: RobotStart


Entry = Placement | ContainerStart | ApplianceStart | RobotEntry

_FORMS: Mapping[str, type[Entry]] = {
    "object": Placement,
    "container": ContainerStart,
    "appliance": ApplianceStart,
    "robot": RobotEntry,
}


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The changes, checked. ``opened`` and ``running`` are by id; ``robot`` None: as the house says."""

    objects: tuple[Placement, ...] = ()
    opened: Mapping[str, bool] = field(default_factory=dict)
    running: Mapping[str, bool] = field(default_factory=dict)
    robot: RobotStart | None = None

    def open_containers(self, house: House) -> tuple[str, ...]:
        """Ids of what is open at the start."""
        return tuple(id for id in house.container_ids if self.opened.get(id, id in house.open))


def parse(entries: Sequence[object], house: House, regions: Sequence[Region]) -> Arrangement:
    """Read and check entries that came from outside; ``regions`` are those of the house.

    Raises:
        HouseError: an unknown object, place or field, two entries for one thing, two things in one place, or a place
            that cannot hold its object; one line that names the entry and what is allowed.
    """
    read = [(f"placements.{index}", _entry(entry, f"placements.{index}")) for index, entry in enumerate(entries)]
    _check_once(read)
    objects = {where: entry for where, entry in read if isinstance(entry, Placement)}
    for where, entry in read:
        _check(entry, where, house)
    opened = {entry.container: entry.open for _, entry in read if isinstance(entry, ContainerStart)}
    running = {entry.appliance: entry.running for _, entry in read if isinstance(entry, ApplianceStart)}
    for where, entry in read:
        if isinstance(entry, ApplianceStart) and entry.running and opened.get(entry.appliance):
            raise HouseError(f"{where}.running: True, but {entry.appliance!r} is open; it runs only while it is closed")
    try:
        check_objects(_all_objects(house, objects), regions)
    except ValueError as error:
        raise HouseError(str(error)) from error
    robot = next((entry.robot for _, entry in read if isinstance(entry, RobotEntry)), None)
    return Arrangement(tuple(objects.values()), opened, running, robot)


def _entry(entry: object, where: str) -> Entry:
    forms = [form for form in _FORMS if isinstance(entry, Mapping) and form in entry]
    if len(forms) != 1:
        raise HouseError(f"{where}: {entry!r}; must be a mapping with exactly one of {', '.join(_FORMS)}")
    try:
        return _FORMS[forms[0]].model_validate(entry)
    except ValidationError as error:
        raise HouseError(one_line(error, where)) from error


def _subject(entry: Entry) -> str:
    """What an entry is about."""
    match entry:
        case Placement():
            return entry.object
        case ContainerStart():
            return f"container {entry.container}"
        case ApplianceStart():
            return f"appliance {entry.appliance}"
        case RobotEntry():
            return "the robot"


def _check_once(read: Sequence[tuple[str, Entry]]) -> None:
    first: dict[str, str] = {}
    for where, entry in read:
        earlier = first.setdefault(_subject(entry), where)
        if earlier != where:
            raise HouseError(f"{where}: {_subject(entry)} is already spoken of in {earlier}")


def _check(entry: Entry, where: str, house: House) -> None:
    """Whether the house has what an entry names."""
    match entry:
        case Placement():
            objects = [each.object for each in house.objects]
            if entry.object not in objects:
                _refuse(f"{where}.object", entry.object, objects)
            if entry.on not in house.receptacles:
                _refuse(f"{where}.on", entry.on, house.receptacles)
        case ContainerStart():
            if entry.container not in house.container_ids:
                _refuse(f"{where}.container", entry.container, house.container_ids)
        case ApplianceStart():
            appliances = [piece.id for piece in house.furniture if isinstance(piece, Appliance)]
            if entry.appliance not in appliances:
                _refuse(f"{where}.appliance", entry.appliance, appliances)
        case RobotEntry():
            _check_robot(entry.robot, f"{where}.robot", house)


def _refuse(where: str, value: str, allowed: Sequence[str]) -> NoReturn:
    raise HouseError(f"{where}: {value!r}; allowed: {', '.join(allowed) or 'none'}")


def _check_robot(start: RobotStart, where: str, house: House) -> None:
    if not any(room.holds((start.x, start.y, start.x, start.y)) for room in house.rooms):
        raise HouseError(f"{where}: ({start.x}, {start.y}) is not inside a room")
    for name, area in _obstacles(house):
        gaps = (max(area[axis] - value, value - area[axis + 2], 0.0) for axis, value in enumerate((start.x, start.y)))
        if math.hypot(*gaps) < STANDING_CLEARANCE:
            raise HouseError(
                f"{where}: ({start.x}, {start.y}) is {math.hypot(*gaps):.2f} m from {name}; "
                f"a base of radius {fetch.BASE_RADIUS} m needs {STANDING_CLEARANCE:.2f} m"
            )


def _obstacles(house: House) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    yield from ((piece.id, piece.footprint) for piece in house.furniture)
    yield from ((f"walls.{number}", wall.area) for number, wall in enumerate(house.walls))


def _all_objects(house: House, moved: Mapping[str, Placement]) -> dict[str, Placement]:
    """Where every object is in the end, by the field that says so; what was moved last."""
    gone = {entry.object for entry in moved.values()}
    stay = {f"objects.{i}": entry for i, entry in enumerate(house.objects) if entry.object not in gone}
    return {f"{where} ({entry.object})": entry for where, entry in {**stay, **moved}.items()}
