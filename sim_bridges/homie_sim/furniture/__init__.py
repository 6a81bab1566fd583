"""Kinds of furniture. A new kind is one class with ``type``, dimensions and ``build``, added to ``AnyFurniture``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homie_sim.furniture.appliances import Appliance, Microwave, Oven
from homie_sim.furniture.cabinets import Counter, Sink
from homie_sim.furniture.cupboard import Cabinet, Shelf
from homie_sim.furniture.fridge import Fridge
from homie_sim.furniture.passages import Door, Stairs
from homie_sim.furniture.seats import Chair
from homie_sim.furniture.sofa import Sofa
from homie_sim.furniture.tables import Desk, Table, TvStand

AnyFurniture = Annotated[
    Fridge
    | Counter
    | Sink
    | Sofa
    | Table
    | TvStand
    | Cabinet
    | Shelf
    | Microwave
    | Oven
    | Chair
    | Desk
    | Door
    | Stairs,
    Field(discriminator="type"),
]

__all__ = [
    "AnyFurniture",
    "Appliance",
    "Cabinet",
    "Chair",
    "Counter",
    "Desk",
    "Door",
    "Fridge",
    "Microwave",
    "Oven",
    "Shelf",
    "Sink",
    "Sofa",
    "Stairs",
    "Table",
    "TvStand",
]
