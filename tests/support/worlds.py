"""Small world states for tests."""

from __future__ import annotations

import math
from dataclasses import replace

from homie_core.world_state import GRIPPER, Kind, ObjectState, WorldState

SIZES = {Kind.OBJECT: (0.1, 0.1, 0.1), Kind.FURNITURE: (1.0, 1.0, 0.8), Kind.CONTAINER: (0.6, 0.6, 1.0)}


def thing(
    id: str,
    category: str,
    kind: Kind = Kind.OBJECT,
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    parent: str = "",
    open_fraction: float = math.nan,
    states: tuple[str, ...] = (),
) -> ObjectState:
    """A thing whose box is centred at ``at``."""
    return ObjectState(
        id=id,
        category=category,
        kind=kind,
        position=at,
        box_center=at,
        box_size=SIZES.get(kind, (4.0, 4.0, 2.5)),
        parent=parent,
        open_fraction=open_fraction,
        states=states,
    )


def kitchen(fridge_open: float = 0.0, can_in: str = "brown_table", held: str = "", stamp: int = 0) -> WorldState:
    """A small flat: the robot stands at the origin, the counter's drawers to its right, the table to its left."""

    def parent(id: str, otherwise: str) -> str:
        return GRIPPER if id == held else otherwise

    counter, can = "kitchen_counter", "potted_meat_can_1"
    return WorldState(
        scene="flat",
        stamp=stamp,
        robot_pose=(0.0, 0.0, 0.0),
        held=held,
        objects=(
            thing(can, "potted_meat_can", at=(0.0, 3.0, 0.9), parent=parent(can, can_in)),
            thing("apple_1", "apple", at=(1.5, -3.0, 0.9), parent=parent("apple_1", counter), states=("cold",)),
            thing("apple_2", "apple", at=(0.5, -3.0, 0.9), parent=parent("apple_2", counter)),
            thing("fridge", "fridge", Kind.CONTAINER, (4.0, 0.0, 0.9), open_fraction=fridge_open),
            thing("kitchen_counter", "kitchen_counter", Kind.FURNITURE, (1.0, -3.0, 0.4)),
            thing("kitchen_counter/drawer_1", "drawer", Kind.CONTAINER, (0.7, -2.7, 0.7), open_fraction=0.0),
            thing("kitchen_counter/drawer_2", "drawer", Kind.CONTAINER, (1.9, -2.7, 0.7), open_fraction=0.0),
            thing("sink", "sink", Kind.FURNITURE, (3.0, -3.0, 0.4)),
            thing("brown_table", "brown_table", Kind.FURNITURE, (0.0, 3.0, 0.4)),
            thing("sofa", "sofa", Kind.FURNITURE, (-4.0, 3.0, 0.3)),
            thing("kitchen", "kitchen", Kind.PLACE, (1.0, -2.0, 1.0)),
            thing("living_room", "living_room", Kind.PLACE, (-3.0, 2.0, 1.0)),
        ),
    )


def changed(state: WorldState, id: str, **fields: object) -> WorldState:
    """``state`` with some fields of one thing replaced."""
    objects = tuple(replace(each, **fields) if each.id == id else each for each in state.objects)  # type: ignore[arg-type]
    return replace(state, objects=objects)
