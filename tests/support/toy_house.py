"""A small house as a world state, and a world in which skills succeed at once. No physics, no ROS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from homie_core.world_state import FLOOR, GRIPPER, RUNNING, Kind, ObjectState, WorldState

Point = tuple[float, float, float]

FURNITURE: Mapping[str, tuple[Point, Point]] = {
    "kitchen_counter": ((0.0, 3.0, 0.45), (2.0, 0.6, 0.9)),
    "sink": ((1.4, 3.0, 0.45), (0.6, 0.6, 0.9)),
    "sofa": ((6.0, 0.0, 0.25), (1.0, 2.0, 0.5)),
    "brown_table": ((3.0, -2.0, 0.35), (1.0, 1.0, 0.7)),
    "tv_stand": ((6.0, 3.0, 0.3), (0.5, 1.5, 0.6)),
}
"""Centre and size of each box, metres."""

CONTAINERS: Mapping[str, tuple[str, Point, Point]] = {
    "fridge": ("fridge", (-2.0, 3.0, 0.9), (0.7, 0.7, 1.8)),
    "kitchen_counter/drawer_1": ("drawer", (-0.5, 2.7, 0.7), (0.5, 0.1, 0.2)),
    "kitchen_counter/drawer_2": ("drawer", (0.5, 2.7, 0.7), (0.5, 0.1, 0.2)),
}

PLACES: Mapping[str, tuple[Point, Point]] = {
    "kitchen": ((0.0, 2.0, 1.25), (6.0, 4.0, 2.5)),
    "living_room": ((5.0, 0.0, 1.25), (4.0, 8.0, 2.5)),
}

OBJECTS: Mapping[str, str] = {
    "potted_meat_can_1": "brown_table",
    "apple_1": "kitchen_counter",
    "sugar_box_1": "kitchen_counter",
    "gelatin_box_1": "tv_stand",
    "tuna_fish_can_1": "sofa",
    "lemon_1": "sink",
    "bowl_1": "brown_table",
    "mug_1": "fridge",
    "cracker_box_1": "tv_stand",
    "sponge_1": "sink",
}
"""What is where at first."""

_SIZE: Point = (0.07, 0.07, 0.1)
_GAP = 0.45
"""Metres between the base's origin and the box of what the robot went to."""


def house(placements: Mapping[str, str] | None = None, opened: tuple[str, ...] = (), held: str = "") -> WorldState:
    """The house, with some objects elsewhere, some containers open, and something in the hand."""
    things = [_thing(id, id, Kind.FURNITURE, *box) for id, box in FURNITURE.items()]
    for id, (category, center, size) in CONTAINERS.items():
        things.append(replace(_thing(id, category, Kind.CONTAINER, center, size), open_fraction=float(id in opened)))
    things += [_thing(id, id, Kind.PLACE, *box) for id, box in PLACES.items()]
    state = WorldState("toy_house", 0, tuple(things), (3.0, 0.0, 0.0))
    for id, parent in ({**OBJECTS, **(placements or {})}).items():
        thing = _thing(id, id.rsplit("_", 1)[0], Kind.OBJECT, (0.0, 0.0, 0.0), _SIZE)
        state = replace(state, objects=(*state.objects, thing))
        state = put(state, id, GRIPPER if id == held else parent)
    return replace(state, held=held)


def put(state: WorldState, id: str, parent: str) -> WorldState:
    """The state with an object in or on ``parent``: somewhere along its middle line, by its number in the house."""
    number = [thing.id for thing in state.objects if thing.kind is Kind.OBJECT].index(id) % len(OBJECTS)
    if parent == GRIPPER:
        x, y, z = *state.robot_pose[:2], 1.0
    elif parent == FLOOR:
        x, y, z = 4.0, 1.0 + 0.1 * number, 0.05
    else:
        place = state[parent]
        x = place.box_center[0] + (number / len(OBJECTS) - 0.5) * 0.6 * place.box_size[0]
        y, z = place.box_center[1], place.box_center[2]
    thing = replace(state[id], position=(x, y, z), box_center=(x, y, z), parent=parent)
    return change(state, thing)


def change(state: WorldState, thing: ObjectState) -> WorldState:
    """The state with one thing replaced."""
    return replace(state, objects=tuple(thing if each.id == thing.id else each for each in state.objects))


def stand_at(state: WorldState, id: str) -> WorldState:
    """The state with the robot in front of a thing (towards smaller y), or in the middle of a room."""
    thing = state[id]
    x, y, _ = thing.box_center
    if thing.kind is not Kind.PLACE:
        y -= thing.box_size[1] / 2 + _GAP
    return replace(state, robot_pose=(x, y, math.pi / 2))


def _thing(id: str, category: str, kind: Kind, center: Point, size: Point) -> ObjectState:
    return ObjectState(id, category, kind, position=center, box_center=center, box_size=size)


def _moved(state: WorldState, container: str, opened: bool) -> WorldState:
    """The state with a container open or closed; an appliance stops when it is opened."""
    thing = state[container]
    states = tuple(each for each in thing.states if each != RUNNING or not opened)
    return change(state, replace(thing, open_fraction=float(opened), states=states))


@dataclass
class ToyWorld:
    """A world whose skills work at once and always, each in one simulated second."""

    initial: WorldState = field(default_factory=house)
    state: WorldState = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.initial

    def reset(self) -> None:
        self.state = self.initial

    def act(self, skill: str, object_id: str, receptacle_id: str = "") -> None:
        """Carry out a skill; the caller has checked that it can be done."""
        state = self.state
        match skill:
            case "go_to":
                state = stand_at(state, object_id)
            case "pick":
                state = replace(put(state, object_id, GRIPPER), held=object_id)
            case "put":
                state = replace(put(state, object_id, receptacle_id), held="")
            case "open" | "close":
                state = _moved(state, object_id, skill == "open")
            case "reset_arm":
                self.tick(0.0)
                return
            case _:
                raise ValueError(f"unknown skill {skill!r}")
        self.state = state
        self.tick(1.0)

    def tick(self, seconds: float) -> None:
        self.state = replace(self.state, stamp=self.state.stamp + int(seconds * 1e9))
