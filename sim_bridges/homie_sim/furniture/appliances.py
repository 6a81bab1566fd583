"""Appliances that run, and close with a door: a microwave oven and a tall oven. A lit window and a light tell.

An appliance that runs stops when its door opens, as real ones do, and does not start again by itself.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import mujoco

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.doors import (
    DOOR_GAP,
    add_door_handle,
    hang_door,
    leaf_span,
)
from homie_sim.furniture.parts import Box, add_box, add_boxes, add_panel, add_region, make_decoration
from homie_sim.palette import Palette

LIT_WHEN_ON, LIT_WHEN_OFF = "lit_on", "lit_off"
"""Geoms ``<id>/lit_on/...`` are seen while the appliance runs, ``<id>/lit_off/...`` while it does not."""

_DOOR = 0.03
_SHELL = 0.02
_DARK = (0.07, 0.07, 0.08)
_WARM = (1.0, 0.80, 0.35)
_GREEN = (0.25, 1.0, 0.35)
_STEEL = (0.72, 0.73, 0.75)


class Appliance(Furniture):
    """A case with one compartment behind a door that is hinged on the left. ``on``: it runs at the start."""

    on: bool = False

    @property
    @abstractmethod
    def housing(self) -> Box:
        """The outer box of the appliance, furniture frame."""

    @property
    @abstractmethod
    def compartment(self) -> Box:
        """The free space inside, open to the front."""

    @property
    @abstractmethod
    def door_span(self) -> tuple[float, float, float, float]:
        """Least y, greatest y, least z, greatest z of the door, furniture frame; the hinge is at the least y."""

    handle_length: Length = 0.22
    color: Rgb
    stand_color: Rgb

    @abstractmethod
    def build_stand(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """Add what it stands in or on."""

    @abstractmethod
    def build_panel(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """Add the controls; the light too."""

    def container_ids(self) -> tuple[str, ...]:
        return (self.id,)

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        self.build_stand(body, palette)
        self._build_case(body, palette)
        self.build_panel(body, palette)
        self._build_door(body, palette)

    def _build_case(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """Walls between the housing and the compartment, and a dark lining."""
        (x0, y0, z0), (x1, y1, z1) = self.housing.low, self.housing.high
        (a0, b0, c0), (_, b1, c1) = self.compartment.low, self.compartment.high
        enamel = palette.plain(self.color, gloss=0.5)
        walls = [
            Box((x0, y0, z0), (x1, y1, c0)),
            Box((x0, y0, c1), (x1, y1, z1)),
            Box((x0, y0, c0), (x1, b0, c1)),
            Box((x0, b1, c0), (x1, y1, c1)),
            Box((x0, b0, c0), (a0, b1, c1)),
        ]
        add_boxes(body, walls, enamel)
        lining = palette.plain((0.55, 0.56, 0.58), gloss=0.4)
        skin = 0.002
        for panel in (
            Box((a0, b0, c0), (a0 + skin, b1, c1)),
            Box((a0, b0, c0), (x1 - 0.002, b0 + skin, c1)),
            Box((a0, b1 - skin, c0), (x1 - 0.002, b1, c1)),
            Box((a0, b0, c1 - skin), (x1 - 0.002, b1, c1)),
            Box((a0, b0, c0 - skin), (x1 - 0.002, b1, c0)),
        ):
            add_panel(body, panel, lining)
        add_region(body, self.id, "inside", self.compartment)

    def _build_door(self, body: mujoco.MjsBody, palette: Palette) -> None:
        y0, y1, z0, z1 = self.door_span
        width = y1 - y0
        door = hang_door(body, self.id, "left", self.housing.high[0], y0)
        left, right = leaf_span("left", width)
        add_box(door, Box((0, left, z0), (_DOOR, right, z1)), palette.plain(self.color, gloss=0.5), mass=2.5)
        border = 0.05
        window = Box((_DOOR, left + border, z0 + border), (_DOOR + 0.002, right - 0.11, z1 - border))
        self.add_lamp(door, "window", window, palette, _WARM, _DARK)
        middle = (z0 + z1) / 2
        add_door_handle(door, self.id, "left", width, _DOOR, middle, min(self.handle_length, z1 - z0 - 0.04))

    def add_lamp(self, body: mujoco.MjsBody, part: str, box: Box, palette: Palette, lit: Rgb, dark: Rgb) -> None:
        """Two panels in one place, of which the world shows the one that fits the state."""
        for word, finish in (
            (LIT_WHEN_ON, palette.plain(lit, gloss=0.2, glow=0.8)),
            (LIT_WHEN_OFF, palette.plain(dark, gloss=0.9)),
        ):
            geom = add_box(body, box, finish, mass=0, name=f"{self.id}/{word}/{part}")
            make_decoration(geom)


class Microwave(Appliance):
    """A microwave oven on a low cupboard of its own, the keypad to the right of the door."""

    type: Literal["microwave"] = "microwave"
    depth: Length = 0.46
    width: Length = 0.66
    height: Length = 1.16
    stand_height: Length = 0.78
    color: Rgb = (0.80, 0.81, 0.82)
    stand_color: Rgb = (0.93, 0.91, 0.85)

    _PANEL: ClassVar[float] = 0.13

    @property
    def housing(self) -> Box:
        x, y = self.depth / 2 - 0.01, self.width / 2 - 0.03
        return Box((-x, -y, self.stand_height), (x, y, self.height))

    @property
    def compartment(self) -> Box:
        (x0, y0, z0), (x1, y1, z1) = self.housing.low, self.housing.high
        low = (x0 + 0.03, y0 + _SHELL, z0 + _SHELL)
        return Box(low, (x1 - 0.005, y1 - self._PANEL - _SHELL, z1 - _SHELL))

    @property
    def door_span(self) -> tuple[float, float, float, float]:
        (_, y0, z0), (_, y1, z1) = self.housing.low, self.housing.high
        return y0, y1 - self._PANEL, z0 + 0.005, z1

    def build_stand(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        lacquer = palette.plain(self.stand_color, gloss=0.3)
        add_box(body, Box((back, -side + 0.02, 0), (front - 0.05, side - 0.02, 0.08)), palette.plain(_DARK))
        add_box(body, Box((back, -side, 0.08), (front, side, self.stand_height - 0.03)), lacquer)
        add_box(
            body,
            Box((back, -side - 0.005, self.stand_height - 0.03), (front + 0.01, side + 0.005, self.stand_height)),
            palette.wood((0.62, 0.44, 0.27)),
        )
        steel = palette.plain(_STEEL, gloss=0.8)
        add_panel(
            body, Box((front, -side, 0.08), (front + 0.001, side, self.stand_height - 0.03)), palette.plain(_DARK)
        )
        for sign in (-1, 1):
            near, far = sorted((sign * DOOR_GAP, sign * (side - DOOR_GAP)))
            add_panel(body, Box((front, near, 0.085), (front + 0.016, far, self.stand_height - 0.035)), lacquer)
            y = sign * 0.04
            add_panel(body, Box((front + 0.016, y - 0.008, 0.48), (front + 0.028, y + 0.008, 0.62)), steel)

    def build_panel(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """Display, a light and a keypad."""
        (_, _, z0), (x1, y1, z1) = self.housing.low, self.housing.high
        y0 = y1 - self._PANEL
        black = palette.plain(_DARK, gloss=0.6)
        add_panel(body, Box((x1, y0 + DOOR_GAP, z0 + 0.005), (x1 + _DOOR, y1, z1)), black)
        face = x1 + _DOOR
        display = Box((face, y0 + 0.02, z1 - 0.085), (face + 0.002, y1 - 0.02, z1 - 0.035))
        self.add_lamp(body, "light", display, palette, _GREEN, (0.10, 0.16, 0.12))
        key = palette.plain((0.85, 0.86, 0.88))
        for row in range(4):
            for column in range(3):
                y, z = y0 + 0.025 + 0.03 * column, z1 - 0.13 - 0.035 * row
                add_panel(body, Box((face, y, z - 0.02), (face + 0.002, y + 0.02, z)), key)
        start = Box((face, y0 + 0.025, z0 + 0.03), (face + 0.002, y1 - 0.025, z0 + 0.065))
        add_panel(body, start, palette.plain((0.15, 0.60, 0.25)))


class Oven(Appliance):
    """An oven built into a tall kitchen unit at the height of the hands, its knobs above the door."""

    type: Literal["oven"] = "oven"
    depth: Length = 0.58
    width: Length = 0.66
    height: Length = 1.50
    oven_height: Length = 0.64
    handle_length: Length = 0.24
    color: Rgb = (0.30, 0.31, 0.33)
    stand_color: Rgb = (0.93, 0.91, 0.85)

    _HIGH: ClassVar[float] = 0.58
    _CONTROLS: ClassVar[float] = 0.11

    @property
    def housing(self) -> Box:
        x, y = self.depth / 2, self.width / 2 - 0.02
        return Box((-x, -y, self.oven_height), (x, y, self.oven_height + self._HIGH))

    @property
    def compartment(self) -> Box:
        (x0, y0, z0), (x1, y1, z1) = self.housing.low, self.housing.high
        return Box((x0 + 0.05, y0 + 0.04, z0 + 0.04), (x1 - 0.005, y1 - 0.04, z1 - self._CONTROLS - 0.03))

    @property
    def door_span(self) -> tuple[float, float, float, float]:
        (_, y0, z0), (_, y1, z1) = self.housing.low, self.housing.high
        return y0, y1, z0 + 0.01, z1 - self._CONTROLS

    def build_stand(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, front, side = -self.depth / 2, self.depth / 2, self.width / 2
        lacquer = palette.plain(self.stand_color, gloss=0.3)
        top = self.oven_height + self._HIGH
        add_box(body, Box((back, -side + 0.02, 0), (front - 0.05, side - 0.02, 0.08)), palette.plain(_DARK))
        add_boxes(
            body,
            [
                Box((back, -side, 0.08), (front, side, self.oven_height)),
                Box((back, -side, top), (front, side, self.height)),
                Box((back, -side, self.oven_height), (front, -side + 0.02, top)),
                Box((back, side - 0.02, self.oven_height), (front, side, top)),
            ],
            lacquer,
        )
        steel = palette.plain(_STEEL, gloss=0.8)
        for low, high in ((0.085, self.oven_height - 0.01), (top + 0.01, self.height - DOOR_GAP)):
            add_panel(body, Box((front, -side, low), (front + 0.001, side, high)), palette.plain(_DARK))
            face = Box((front, -side + DOOR_GAP, low + DOOR_GAP), (front + 0.016, side - DOOR_GAP, high - DOOR_GAP))
            add_panel(body, face, lacquer)
            bar = Box((front + 0.016, -0.10, high - 0.05), (front + 0.03, 0.10, high - 0.035))
            add_panel(body, bar, steel)

    def build_panel(self, body: mujoco.MjsBody, palette: Palette) -> None:
        """A strip of steel with four knobs and a light."""
        (_, y0, _), (x1, y1, z1) = self.housing.low, self.housing.high
        steel = palette.plain(_STEEL, gloss=0.8)
        low = z1 - self._CONTROLS + DOOR_GAP
        add_panel(body, Box((x1, y0, low), (x1 + 0.02, y1, z1)), steel)
        middle = (low + z1) / 2
        black = palette.plain(_DARK, gloss=0.6)
        for y in (-0.22, -0.12, 0.12, 0.22):
            knob = body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                fromto=(x1 + 0.02, y, middle, x1 + 0.045, y, middle),
                size=(0.022, 0, 0),
            )
            black.apply(knob)
            make_decoration(knob)
        light = Box((x1 + 0.02, -0.05, middle - 0.02), (x1 + 0.023, 0.05, middle + 0.02))
        self.add_lamp(body, "light", light, palette, _GREEN, (0.10, 0.16, 0.12))
