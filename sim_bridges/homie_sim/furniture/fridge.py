"""A fridge with a freezer block below and one hinged door in front of its shelves."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import mujoco
from pydantic import model_validator

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.doors import DOOR_GAP, Hinge, add_door_handle, hang_door, hinge_sign
from homie_sim.furniture.parts import (
    MAX_REGION_HEIGHT,
    Box,
    add_box,
    add_boxes,
    add_panel,
    add_region,
)
from homie_sim.palette import Palette

_WALL = 0.04
_DOOR = 0.05
_SHELF = 0.015
_INSIDE = (0.93, 0.95, 0.97)
_TRIM = (0.35, 0.36, 0.38)


class Fridge(Furniture):
    """``hinge`` is the side as seen by the person in front; ``shelf_heights`` are tops of shelves above the floor.

    The lowest shelf is the compartment's floor; the door covers the compartment only. ``depth`` is without the door.
    """

    type: Literal["fridge"] = "fridge"
    depth: Length = 0.62
    width: Length = 0.75
    height: Length = 1.75
    hinge: Hinge = "left"
    shelf_heights: tuple[Length, ...] = (0.58, 1.0)
    handle_height: Length = 1.0
    handle_length: Length = 0.45
    color: Rgb = (0.95, 0.95, 0.94)

    @model_validator(mode="after")
    def _shelves_fit(self) -> Fridge:
        levels = (*self.shelf_heights, self.height - _WALL)
        if not self.shelf_heights or any(upper - lower < 0.2 for lower, upper in pairwise(levels)):
            raise ValueError("shelf_heights must rise, with at least 0.2 m above each shelf")
        return self

    def container_ids(self) -> tuple[str, ...]:
        return (self.id,)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        self._build_case(body, palette)
        self._build_shelves(body, palette)
        self._build_door(body, palette)

    def _build_case(self, body: mujoco.MjsBody, palette: Palette) -> None:
        front, side, top = self.depth / 2, self.width / 2, self.height
        floor = self.shelf_heights[0]
        enamel = palette.plain(self.color, gloss=0.6)
        walls = [
            Box((-front, -side, 0.04), (front, side, floor)),
            Box((-front, -side, floor), (-front + _WALL, side, top)),
            Box((-front, -side, floor), (front, -side + _WALL, top)),
            Box((-front, side - _WALL, floor), (front, side, top)),
            Box((-front, -side, top - _WALL), (front, side, top)),
        ]
        add_boxes(body, walls, enamel)
        add_box(body, Box((-front, -side + 0.03, 0), (front - 0.04, side - 0.03, 0.04)), palette.plain(_TRIM))
        # The freezer's front: a panel, a shadow gap above it, and a recessed grip.
        add_box(body, Box((front, -side, 0.06), (front + _DOOR, side, floor - 0.03)), enamel)
        grip = Box((front + _DOOR, -0.16, floor - 0.085), (front + _DOOR + 0.004, 0.16, floor - 0.06))
        add_panel(body, grip, palette.plain(_TRIM))

    def _build_shelves(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front = -self.depth / 2 + _WALL, self.depth / 2 - 0.01
        side = self.width / 2 - _WALL
        lining = palette.plain(_INSIDE, gloss=0.3, glow=0.12)
        glass = palette.plain((0.75, 0.88, 0.92), gloss=0.9, alpha=0.65, glow=0.05)
        floor, ceiling = self.shelf_heights[0], self.height - _WALL
        skin = 0.002
        for panel in (
            Box((back, -side, floor), (back + skin, side, ceiling)),
            Box((back, -side, floor), (front, -side + skin, ceiling)),
            Box((back, side - skin, floor), (front, side, ceiling)),
            Box((back, -side, ceiling - skin), (front, side, ceiling)),
            Box((back, -side, floor - skin), (front, side, floor)),
        ):
            add_panel(body, panel, lining)
        ceilings = [height - _SHELF for height in self.shelf_heights[1:]] + [ceiling]
        for index, (height, above) in enumerate(zip(self.shelf_heights, ceilings, strict=True)):
            if index > 0:
                add_box(body, Box((back, -side, height - _SHELF), (front, side, height)), glass)
            top = min(above, height + MAX_REGION_HEIGHT)
            add_region(body, self.id, f"shelf_{index + 1}", Box((back, -side, height), (front, side, top)))

    def _build_door(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """The hinge is at the front edge of the case; the door's frame keeps the furniture's axes when closed."""
        sign = hinge_sign(self.hinge)
        front, side = self.depth / 2, self.width / 2
        low, high = self.shelf_heights[0] - 0.025 + DOOR_GAP, self.height
        door = hang_door(body, self.id, self.hinge, front, sign * side)
        width = -sign * self.width
        left, right = min(0.0, width), max(0.0, width)
        enamel = palette.plain(self.color, gloss=0.6)
        add_box(door, Box((0, left, low), (_DOOR, right, high)), enamel, mass=8.0)
        lining = Box((-0.002, left + 0.05, low + 0.05), (0, right - 0.05, high - 0.05))
        add_panel(door, lining, palette.plain(_INSIDE, gloss=0.3, glow=0.05))
        badge = Box((_DOOR, width / 2 - 0.05, high - 0.12), (_DOOR + 0.002, width / 2 + 0.05, high - 0.095))
        add_panel(door, badge, palette.plain((0.2, 0.25, 0.35), gloss=0.8))
        add_door_handle(door, self.id, self.hinge, self.width, _DOOR, self.handle_height, self.handle_length)
