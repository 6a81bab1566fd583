"""What one goes to but puts nothing on: a door to outside, and stairs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import mujoco
from pydantic import Field

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.parts import Box, add_box, add_boxes, add_panel, make_decoration
from homie_sim.palette import Palette

_BRASS = (0.80, 0.65, 0.30)


class Door(Furniture):
    """The way out: a closed door in its frame, in front of a wall. It is looked at and gone to, not opened."""

    type: Literal["door"] = "door"
    holds_objects: ClassVar[bool] = False
    depth: Length = 0.06
    width: Length = 1.05
    height: Length = 2.10
    color: Rgb = (0.45, 0.24, 0.14)
    frame_color: Rgb = (0.95, 0.94, 0.91)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        frame = palette.plain(self.frame_color, gloss=0.2)
        post = 0.08
        add_boxes(
            body,
            [
                Box((back, -side, 0), (front, -side + post, self.height)),
                Box((back, side - post, 0), (front, side, self.height)),
                Box((back, -side + post, self.height - post), (front, side - post, self.height)),
            ],
            frame,
        )
        wood = palette.wood(self.color)
        add_box(body, Box((back, -side + post, 0), (front - 0.02, side - post, self.height - post)), wood)
        self._add_panels(body, palette, side - post)
        knob = body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=(front + 0.02, side - post - 0.09, 1.0), size=(0.035, 0, 0)
        )
        palette.plain(_BRASS, gloss=0.9).apply(knob)
        make_decoration(knob)
        mat = Box((front + 0.05, -0.40, 0), (front + 0.55, 0.40, 0.004))
        add_panel(body, mat, palette.cloth((0.35, 0.33, 0.30)))

    def _add_panels(self, body: mujoco.MjsBody, palette: Palette, half: float) -> None:
        """Four sunk panels, drawn darker."""
        face = self.depth / 2 - 0.02
        darker = palette.wood((0.8 * self.color[0], 0.8 * self.color[1], 0.8 * self.color[2]))
        for low, high in ((0.20, 0.90), (1.12, self.height - 0.24)):
            for sign in (-1, 1):
                left, right = sorted((sign * 0.05, sign * (half - 0.10)))
                add_panel(body, Box((face, left, low), (face + 0.003, right, high)), darker)


class Stairs(Furniture):
    """Steps that rise away from the front to ``height``. The robot goes to their foot; it cannot climb them."""

    type: Literal["stairs"] = "stairs"
    holds_objects: ClassVar[bool] = False
    depth: Length = 0.9
    width: Length = 0.9
    height: Length = 0.32
    steps: Annotated[int, Field(ge=2, le=12)] = 3
    color: Rgb = (0.66, 0.47, 0.30)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        front, side = self.depth / 2, self.width / 2
        wood, riser = palette.wood(self.color), palette.plain((0.94, 0.93, 0.90))
        tread, rise = self.depth / self.steps, self.height / self.steps
        for index in range(self.steps):
            edge = front - index * tread
            add_box(body, Box((-front, -side, index * rise), (edge, side, (index + 1) * rise)), riser)
            top = (index + 1) * rise
            board = Box((edge - tread, -side, top - 0.02), (edge + 0.004, side + 0.002, top + 0.002))
            add_panel(body, board, wood)
