"""A sofa with back, arm rests and cushions."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import mujoco
from pydantic import Field

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.parts import MAX_REGION_HEIGHT, Box, add_box, add_region, make_decoration
from homie_sim.palette import Palette

_ARM = 0.18
_BACK = 0.22
_FOOT = 0.08
_CUSHION = 0.14
_CREASE = 0.012


class Sofa(Furniture):
    """``height`` is the top of the back rest; objects lie on the seat at ``seat_height``."""

    type: Literal["sofa"] = "sofa"
    depth: Length = 0.90
    width: Length = 2.0
    height: Length = 0.85
    seat_height: Length = 0.45
    seats: Annotated[int, Field(ge=1, le=6)] = 2
    color: Rgb = (0.32, 0.42, 0.52)
    pillow_color: Rgb = (0.85, 0.60, 0.25)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        cloth = palette.cloth(self.color)
        low = self.seat_height - _CUSHION
        add_box(body, Box((back, -side, _FOOT), (front - 0.03, side, low)), cloth)
        add_box(body, Box((back, -side, low), (back + _BACK, side, self.height)), cloth)
        for left in (-side, side - _ARM):
            add_box(body, Box((back, left, low), (front - 0.03, left + _ARM, self.seat_height + 0.17)), cloth)
        self._add_cushions(body, palette)
        self._add_feet(body, palette)
        self._add_pillow(body, palette)
        seat = Box(
            (back + _BACK + 0.12, -side + _ARM, self.seat_height),
            (front, side - _ARM, self.seat_height + MAX_REGION_HEIGHT),
        )
        add_region(body, self.id, "seat", seat)

    def _add_cushions(self, body: mujoco.MjsBody, palette: Palette) -> None:
        lighter = tuple(min(1.0, 1.12 * part) for part in self.color)
        cloth = palette.cloth((lighter[0], lighter[1], lighter[2]))
        back, front, inner = -self.depth / 2, self.depth / 2, self.width / 2 - _ARM
        wide = 2 * inner / self.seats
        for index in range(self.seats):
            left = -inner + index * wide + _CREASE / 2
            right = left + wide - _CREASE
            seat = Box((back + _BACK, left, self.seat_height - _CUSHION + 0.01), (front, right, self.seat_height))
            rest = Box((back + _BACK - 0.02, left, self.seat_height), (back + _BACK + 0.11, right, self.height - 0.05))
            add_box(body, seat, cloth)
            add_box(body, rest, cloth)

    def _add_feet(self, body: mujoco.MjsBody, palette: Palette) -> None:
        dark = palette.plain((0.15, 0.10, 0.07))
        x, y = self.depth / 2 - 0.10, self.width / 2 - 0.08
        for sign_x in (-1, 1):
            for sign_y in (-1, 1):
                center = (sign_x * x, sign_y * y)
                foot = Box((center[0] - 0.03, center[1] - 0.03, 0), (center[0] + 0.03, center[1] + 0.03, _FOOT))
                add_box(body, foot, dark)

    def _add_pillow(self, body: mujoco.MjsBody, palette: Palette) -> None:
        pillow = body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_ELLIPSOID,
            pos=(-self.depth / 2 + _BACK + 0.16, self.width / 2 - _ARM - 0.22, self.seat_height + 0.17),
            size=(0.07, 0.21, 0.19),
            quat=(math.cos(-0.15), 0, math.sin(-0.15), 0),
        )
        palette.cloth(self.pillow_color).apply(pillow)
        make_decoration(pillow)
