"""Tall cupboards: shelves behind a hinged door, and open shelves."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import mujoco
from pydantic import model_validator

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.doors import (
    DOOR_GAP,
    Hinge,
    add_door_handle,
    add_frame,
    add_leaf,
    hang_door,
    hinge_sign,
    leaf_span,
)
from homie_sim.furniture.parts import MAX_REGION_HEIGHT, Box, add_box, add_boxes, add_panel, add_region
from homie_sim.palette import Finish, Palette

_WALL = 0.025
_DOOR = 0.022
_BOARD = 0.02
_PLINTH = 0.06
_LEAST_LEVEL = 0.2
_DARK = (0.20, 0.19, 0.18)
_STEEL = (0.72, 0.73, 0.75)


class Cabinet(Furniture):
    """One hinged door in front of shelves; closed drawers below, a closed box above if ``height`` exceeds ``top``.

    ``shelf_heights`` are tops of shelves above the floor, the lowest one the compartment's floor; ``top`` is the
    compartment's ceiling. ``depth`` is without the door.
    """

    type: Literal["cabinet"] = "cabinet"
    depth: Length = 0.45
    width: Length = 0.70
    height: Length = 1.64
    top: Length = 1.60
    hinge: Hinge = "left"
    shelf_heights: tuple[Length, ...] = (0.60, 1.00)
    handle_height: Length = 1.0
    handle_length: Length = 0.30
    color: Rgb = (0.95, 0.95, 0.93)
    inside_color: Rgb = (0.82, 0.70, 0.52)
    frame_color: Rgb | None = None

    @model_validator(mode="after")
    def _shelves_fit(self) -> Cabinet:
        levels = (*self.shelf_heights, self.top)
        if not self.shelf_heights or any(upper - lower < _LEAST_LEVEL for lower, upper in pairwise(levels)):
            raise ValueError(f"shelf_heights must rise below top, with at least {_LEAST_LEVEL} m above each shelf")
        if self.top > self.height - _WALL:
            raise ValueError(f"top: {self.top}; must be at least {_WALL} m below height {self.height}")
        return self

    def container_ids(self) -> tuple[str, ...]:
        return (self.id,)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        lacquer = palette.plain(self.color, gloss=0.3)
        trim = palette.plain(self.frame_color or _shade(self.color, 0.90), gloss=0.3)
        self._build_case(body, lacquer, palette)
        self._build_shelves(body, palette)
        self._build_fronts(body, lacquer, trim, palette)
        self._build_door(body, lacquer, trim)

    def _build_case(self, body: mujoco.MjsBody, lacquer: Finish, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        floor = self.shelf_heights[0]
        add_box(body, Box((back, -side + 0.02, 0), (front - 0.04, side - 0.02, _PLINTH)), palette.plain(_DARK))
        add_boxes(
            body,
            [
                Box((back, -side, _PLINTH), (front, side, floor)),
                Box((back, -side, floor), (back + _WALL, side, self.top)),
                Box((back, -side, floor), (front, -side + _WALL, self.top)),
                Box((back, side - _WALL, floor), (front, side, self.top)),
                Box((back, -side, self.top), (front, side, self.height)),
            ],
            lacquer,
        )

    def _build_shelves(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2 + _WALL, self.depth / 2 - 0.01, self.width / 2 - _WALL
        board = palette.wood(self.inside_color)
        floor = self.shelf_heights[0]
        skin = 0.002
        for panel in (
            Box((back, -side, floor), (back + skin, side, self.top)),
            Box((back, -side, floor), (front, -side + skin, self.top)),
            Box((back, side - skin, floor), (front, side, self.top)),
            Box((back, -side, floor - skin), (front, side, floor)),
        ):
            add_panel(body, panel, board)
        ceilings = [height - _BOARD for height in self.shelf_heights[1:]] + [self.top]
        for index, (height, above) in enumerate(zip(self.shelf_heights, ceilings, strict=True)):
            if index > 0:
                add_box(body, Box((back, -side, height - _BOARD), (front, side, height)), board)
            free = Box((back, -side, height), (front, side, min(above, height + MAX_REGION_HEIGHT)))
            add_region(body, self.id, f"shelf_{index + 1}", free)

    def _build_fronts(self, body: mujoco.MjsBody, lacquer: Finish, trim: Finish, palette: Palette) -> None:
        """Drawers below and a door above that are only looked at."""
        front, side = self.depth / 2, self.width / 2
        floor = self.shelf_heights[0] - 0.02
        steel = palette.plain(_STEEL, gloss=0.8)
        middle = (_PLINTH + floor) / 2
        for low, high in ((_PLINTH, middle), (middle, floor)):
            face = Box((front, -side + DOOR_GAP, low + DOOR_GAP), (front + 0.018, side - DOOR_GAP, high - DOOR_GAP))
            add_panel(body, face, lacquer)
            edge = Box((front + 0.018, *face.low[1:]), (front + 0.022, *face.high[1:]))
            add_frame(body, edge, 0.04, trim)
            z = (low + high) / 2
            add_panel(body, Box((front + 0.018, -0.05, z - 0.006), (front + 0.03, 0.05, z + 0.006)), steel)
        if self.height - self.top > 0.15:
            low, high = self.top + 0.02, self.height - DOOR_GAP
            face = Box((front, -side + DOOR_GAP, low), (front + 0.018, side - DOOR_GAP, high))
            add_panel(body, face, lacquer)
            add_frame(body, Box((front + 0.018, *face.low[1:]), (front + 0.022, *face.high[1:])), 0.05, trim)

    def _build_door(self, body: mujoco.MjsBody, lacquer: Finish, trim: Finish) -> None:
        low, high = self.shelf_heights[0] - 0.018, self.top + 0.016
        door = hang_door(body, self.id, self.hinge, self.depth / 2, hinge_sign(self.hinge) * self.width / 2)
        add_leaf(door, self.hinge, self.width, (low, high), _DOOR, lacquer)
        left, right = leaf_span(self.hinge, self.width)
        add_frame(door, Box((_DOOR, left, low), (_DOOR + 0.004, right, high)), 0.06, trim)
        add_door_handle(door, self.id, self.hinge, self.width, _DOOR, self.handle_height, self.handle_length)


class Shelf(Furniture):
    """Open shelves without a door; ``shelf_heights`` are tops of shelves above the floor, the last one the top."""

    type: Literal["shelf"] = "shelf"
    depth: Length = 0.36
    width: Length = 0.90
    height: Length = 1.10
    shelf_heights: tuple[Length, ...] = (0.40, 0.75, 1.10)
    color: Rgb = (0.95, 0.95, 0.93)

    @model_validator(mode="after")
    def _shelves_fit(self) -> Shelf:
        rises = all(upper - lower >= _LEAST_LEVEL for lower, upper in pairwise(self.shelf_heights))
        if not self.shelf_heights or not rises or self.shelf_heights[-1] != self.height:
            raise ValueError(
                f"shelf_heights must rise by at least {_LEAST_LEVEL} m each and end at height {self.height}"
            )
        return self

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        lacquer = palette.plain(self.color, gloss=0.3)
        add_boxes(
            body,
            [
                Box((back, -side, 0), (front, -side + _BOARD, self.height)),
                Box((back, side - _BOARD, 0), (front, side, self.height)),
                Box((back, -side, 0), (back + 0.01, side, self.height)),
                Box((back, -side, 0.04), (front, side, 0.06)),
            ],
            lacquer,
        )
        ceilings = [*(height - _BOARD for height in self.shelf_heights[1:]), self.height + MAX_REGION_HEIGHT]
        inner = side - _BOARD
        for index, (height, above) in enumerate(zip(self.shelf_heights, ceilings, strict=True)):
            add_box(body, Box((back, -inner, height - _BOARD), (front, inner, height)), lacquer)
            add_region(body, self.id, f"shelf_{index + 1}", Box((back + 0.01, -inner, height), (front, inner, above)))


def _shade(color: Rgb, factor: float) -> Rgb:
    return (color[0] * factor, color[1] * factor, color[2] * factor)
