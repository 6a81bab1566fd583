"""Kinds of furniture. A new kind is one class with ``type``, dimensions and ``build``, added to ``AnyFurniture``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homie_sim.furniture.cabinets import Counter, Sink
from homie_sim.furniture.fridge import Fridge
from homie_sim.furniture.sofa import Sofa
from homie_sim.furniture.tables import Table, TvStand

AnyFurniture = Annotated[Fridge | Counter | Sink | Sofa | Table | TvStand, Field(discriminator="type")]

__all__ = ["AnyFurniture", "Counter", "Fridge", "Sink", "Sofa", "Table", "TvStand"]
