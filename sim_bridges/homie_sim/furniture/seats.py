"""A chair."""

from __future__ import annotations

from typing import Literal

import mujoco

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.parts import MAX_REGION_HEIGHT, Box, add_box, add_boxes, add_panel, add_region
from homie_sim.palette import Palette

_LEG = 0.04
_SEAT = 0.03
_CUSHION = 0.02


class Chair(Furniture):
    """Four legs, a cushioned seat and a back rest; objects lie on the seat. ``height`` is the top of the back rest."""

    type: Literal["chair"] = "chair"
    depth: Length = 0.48
    width: Length = 0.46
    height: Length = 0.92
    seat_height: Length = 0.46
    color: Rgb = (0.55, 0.35, 0.20)
    cushion_color: Rgb = (0.75, 0.30, 0.25)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        wood = palette.wood(self.color)
        under = self.seat_height - _CUSHION - _SEAT
        for y in (-side, side - _LEG):
            add_box(body, Box((back, y, 0), (back + _LEG, y + _LEG, self.height)), wood)
            add_box(body, Box((front - _LEG, y, 0), (front, y + _LEG, under)), wood)
        add_box(body, Box((back, -side, under), (front, side, under + _SEAT)), wood)
        cushion = Box((back + _LEG, -side + 0.01, under + _SEAT), (front - 0.005, side - 0.01, self.seat_height))
        add_box(body, cushion, palette.cloth(self.cushion_color))
        inner = side - _LEG
        rails = [
            Box((back + 0.005, -inner, self.height - level - 0.07), (back + 0.03, inner, self.height - level))
            for level in (0.01, 0.13, 0.25)
        ]
        add_boxes(body, rails, wood)
        for y in (-side + 0.01, side - 0.03):
            add_panel(body, Box((back + _LEG, y, 0.15), (front - _LEG, y + 0.02, 0.18)), wood)
        seat = Box(
            (back + _LEG + 0.01, -side + 0.01, self.seat_height),
            (front - 0.01, side - 0.01, self.seat_height + MAX_REGION_HEIGHT),
        )
        add_region(body, self.id, "seat", seat)
