"""What every piece of furniture has: an id, a place in the house, and a way to build itself into an MjSpec."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import mujoco
from pydantic import BaseModel, ConfigDict, Field

from homie_sim.palette import Palette

Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Length = Annotated[float, Field(gt=0, le=20)]
Channel = Annotated[float, Field(ge=0, le=1)]
Rgb = tuple[Channel, Channel, Channel]

Direction = Literal["north", "east", "south", "west"]

_YAW = {"east": 0.0, "north": math.pi / 2, "west": math.pi, "south": -math.pi / 2}


class Strict(BaseModel):
    """Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Furniture(Strict):
    """One piece of furniture: ``at`` is the middle of its footprint, ``facing`` the side a person stands at.

    North is +y of the map, east +x. Sizes are depth (towards the person), width, height.
    """

    holds_objects: ClassVar[bool] = True
    """Whether things can be put on or in it."""

    type: str
    id: Id
    at: tuple[float, float]
    facing: Direction = "south"
    category: Id | None = None
    depth: Length
    width: Length
    height: Length

    @property
    def yaw(self) -> float:
        """Direction of the front in the map, radians."""
        return _YAW[self.facing]

    @property
    def kind_name(self) -> str:
        """Canonical category, e.g. ``fridge``."""
        return self.category or self.type

    @property
    def footprint(self) -> tuple[float, float, float, float]:
        """Least x, least y, greatest x, greatest y in the map, doors closed."""
        along_y = self.facing in ("north", "south")
        half_x, half_y = (self.width / 2, self.depth / 2) if along_y else (self.depth / 2, self.width / 2)
        return self.at[0] - half_x, self.at[1] - half_y, self.at[0] + half_x, self.at[1] + half_y

    def container_ids(self) -> tuple[str, ...]:
        """Ids of what opens on it; objects can be placed inside."""
        return ()

    @abstractmethod
    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """Add geoms, joints, regions and handles to ``body``: origin on the floor, x axis to the front."""
