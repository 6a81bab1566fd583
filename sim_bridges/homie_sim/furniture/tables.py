"""Tables and low cabinets with one free surface."""

from __future__ import annotations

from typing import Literal

import mujoco

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.parts import MAX_REGION_HEIGHT, Box, add_box, add_boxes, add_panel, add_region
from homie_sim.palette import Palette

_TOP = 0.035
_LEG = 0.06


class Table(Furniture):
    """A top on four legs, reachable from every side."""

    type: Literal["table"] = "table"
    depth: Length = 0.70
    width: Length = 1.10
    height: Length = 0.70
    color: Rgb = (0.50, 0.31, 0.17)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        front, side, under = self.depth / 2, self.width / 2, self.height - _TOP
        wood = palette.wood(self.color)
        add_box(body, Box((-front, -side, under), (front, side, self.height)), wood)
        inset = 0.03
        for x in (-front + inset, front - inset - _LEG):
            for y in (-side + inset, side - inset - _LEG):
                add_box(body, Box((x, y, 0), (x + _LEG, y + _LEG, under)), wood)
        apron = 0.07
        edge = inset + 0.015
        x, y = front - edge, side - edge
        add_boxes(
            body,
            [
                Box((-x, -y, under - apron), (x, -y + 0.02, under)),
                Box((-x, y - 0.02, under - apron), (x, y, under)),
                Box((-x, -y, under - apron), (-x + 0.02, y, under)),
                Box((x - 0.02, -y, under - apron), (x, y, under)),
            ],
            wood,
        )
        free = Box((-front, -side, self.height), (front, side, self.height + MAX_REGION_HEIGHT))
        add_region(body, self.id, "top", free)


class Desk(Furniture):
    """A writing desk: a top on two sides, a block of drawers drawn on the right, legroom in the middle."""

    type: Literal["desk"] = "desk"
    depth: Length = 0.60
    width: Length = 1.20
    height: Length = 0.74
    color: Rgb = (0.96, 0.96, 0.95)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side, under = -self.depth / 2, self.depth / 2, self.width / 2, self.height - _TOP
        lacquer = palette.plain(self.color, gloss=0.4)
        add_box(body, Box((back, -side, under), (front, side, self.height)), lacquer)
        block = 0.38
        add_boxes(
            body,
            [
                Box((back, -side, 0), (front - 0.02, -side + 0.03, under)),
                Box((back, side - block, 0), (front - 0.02, side, under)),
                Box((back, -side, 0.35), (back + 0.02, side, under)),
            ],
            lacquer,
        )
        shade = palette.plain((0.25, 0.25, 0.26))
        add_panel(body, Box((front - 0.02, side - block, 0), (front - 0.019, side, under)), shade)
        third = under / 3
        for index in range(3):
            low = index * third + 0.004
            face = Box((front - 0.02, side - block + 0.004, low), (front - 0.005, side - 0.004, low + third - 0.008))
            add_panel(body, face, lacquer)
            y, z = side - block / 2, low + 0.7 * third
            add_panel(body, Box((front - 0.005, y - 0.05, z), (front + 0.004, y + 0.05, z + 0.012)), shade)
        free = Box((back, -side, self.height), (front, side, self.height + MAX_REGION_HEIGHT))
        add_region(body, self.id, "top", free)


class TvStand(Furniture):
    """A low cabinet with a free top; a flat screen, ``screen`` wide and high, on the wall behind; (0, 0): none."""

    type: Literal["tv_stand"] = "tv_stand"
    depth: Length = 0.42
    width: Length = 1.5
    height: Length = 0.60
    screen: tuple[float, float] = (1.15, 0.65)
    screen_height: Length = 1.30
    color: Rgb = (0.36, 0.25, 0.18)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        wood = palette.wood(self.color)
        dark = palette.plain((0.08, 0.07, 0.07))
        add_box(body, Box((back, -side + 0.04, 0), (front - 0.04, side - 0.04, 0.06)), dark)
        add_box(body, Box((back, -side, 0.06), (front, side, self.height)), wood)
        add_panel(body, Box((front, -side + 0.03, 0.10), (front + 0.001, side - 0.03, self.height - 0.05)), dark)
        third = (self.width - 0.06) / 3
        for index in (0, 2):
            left = -side + 0.03 + index * third
            door = Box((front, left + 0.004, 0.104), (front + 0.015, left + third - 0.004, self.height - 0.054))
            add_panel(body, door, wood)
        self._add_box_below_screen(body, palette)
        free = Box((back, -side, self.height), (front, side, self.height + MAX_REGION_HEIGHT))
        add_region(body, self.id, "top", free)
        if min(self.screen) > 0:
            self._add_screen(body, palette)

    def _add_box_below_screen(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """A player in the open middle bay, drawn on its dark front."""
        front = self.depth / 2
        player = Box((front, -0.16, 0.28), (front + 0.004, 0.16, 0.35))
        add_panel(body, player, palette.plain((0.18, 0.18, 0.20), gloss=0.7))

    def _add_screen(self, body: mujoco.MjsBody, palette: Palette) -> None:
        width, height = self.screen
        back, low = -self.depth / 2, self.screen_height - height / 2
        frame = Box((back, -width / 2, low), (back + 0.05, width / 2, low + height))
        add_box(body, frame, palette.plain((0.05, 0.05, 0.06), gloss=0.5))
        glass = Box((back + 0.05, -width / 2 + 0.02, low + 0.02), (back + 0.052, width / 2 - 0.02, low + height - 0.02))
        add_panel(body, glass, palette.plain((0.10, 0.12, 0.16), gloss=1.0))
