"""Kitchen cabinets: a counter with a row of drawers, and a sink with basin and tap."""

from __future__ import annotations

from typing import Annotated, Literal

import mujoco
from pydantic import Field

from homie_sim.furniture.base import Furniture, Length, Rgb
from homie_sim.furniture.parts import (
    MAX_REGION_HEIGHT,
    Box,
    add_box,
    add_boxes,
    add_cylinder,
    add_handle,
    add_panel,
    add_region,
    make_decoration,
)
from homie_sim.palette import Finish, Palette

DRAWER_TRAVEL = 0.40

_TOP = 0.04
_OVERHANG = 0.02
_PLINTH = 0.10
_SIDE = 0.02
_FRONT = 0.02
_GAP = 0.004
_DRAWER_WALL = 0.012
_DRAWER_RIM = 0.10
_STEEL = (0.72, 0.73, 0.75)
_SHADOW = (0.22, 0.21, 0.20)


class KitchenUnit(Furniture):
    """A cupboard under a worktop: units that stand side by side match."""

    depth: Length = 0.60
    height: Length = 0.85
    color: Rgb = (0.93, 0.91, 0.85)
    top_color: Rgb = (0.42, 0.40, 0.38)


class Counter(KitchenUnit):
    """A worktop over cupboards with ``drawers`` drawers in a row just below the top."""

    type: Literal["counter"] = "counter"
    width: Length = 1.5
    drawers: Annotated[int, Field(ge=1, le=8)] = 3
    drawer_height: Annotated[float, Field(ge=0.16, le=0.40)] = 0.20

    def container_ids(self) -> tuple[str, ...]:
        return tuple(f"{self.id}/drawer_{number}" for number in range(1, self.drawers + 1))

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        lacquer = palette.plain(self.color, gloss=0.3)
        bottom = self.height - _TOP - self.drawer_height
        _add_cupboard(body, self, bottom, lacquer, palette, doors=self.drawers)
        self._add_worktop(body, palette)
        cell = self.width / self.drawers
        for index, container in enumerate(self.container_ids()):
            # Numbered from the left as seen by the person in front.
            middle = -self.width / 2 + (index + 0.5) * cell
            self._add_drawer(body, container, middle, cell, lacquer, palette)
        self._add_drawer_case(body, bottom, cell, lacquer)

    def _add_worktop(self, body: mujoco.MjsBody, palette: Palette) -> None:
        back, side, low = -self.depth / 2, self.width / 2, self.height - _TOP
        slab = Box((back, -side, low), (self.depth / 2 + _OVERHANG, side, self.height))
        add_box(body, slab, palette.stone(self.top_color))
        free = Box((back, -side, self.height), (self.depth / 2, side, self.height + MAX_REGION_HEIGHT))
        add_region(body, self.id, "top", free)

    def _add_drawer_case(self, body: mujoco.MjsBody, bottom: float, cell: float, finish: Finish) -> None:
        back, front, top = -self.depth / 2, self.depth / 2, self.height - _TOP
        half = self.width / 2
        boxes = [Box((back, -half, bottom), (back + _SIDE, half, top))]
        for index in range(self.drawers + 1):
            left = min(max(-half + index * cell - _SIDE / 2, -half), half - _SIDE)
            boxes.append(Box((back, left, bottom), (front, left + _SIDE, top)))
        add_boxes(body, boxes, finish)

    def _add_drawer(
        self, body: mujoco.MjsBody, container: str, middle: float, cell: float, finish: Finish, palette: Palette
    ) -> None:
        """The drawer's frame is the middle of its front's lower edge, in the closed position on the case's front."""
        bottom = self.height - _TOP - self.drawer_height
        drawer = body.add_body(name=container, pos=(self.depth / 2 + _GAP, middle, bottom))
        joint = drawer.add_joint(name=f"{container}/joint", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=(1, 0, 0))
        joint.range, joint.limited = (0, DRAWER_TRAVEL), True
        joint.damping, joint.frictionloss, joint.armature = (10, 0, 0), 2.0, 0.05
        front_half = cell / 2 - _GAP / 2
        front = Box((0, -front_half, _GAP), (_FRONT, front_half, self.drawer_height - _GAP))
        add_box(drawer, front, finish, mass=1.0)
        half = cell / 2 - _SIDE - 0.006
        back, floor, rim = -(self.depth - _SIDE - 0.02), 0.015 + _DRAWER_WALL, 0.015 + _DRAWER_WALL + _DRAWER_RIM
        inside = palette.wood((0.80, 0.66, 0.46))
        add_box(drawer, Box((back, -half, floor - _DRAWER_WALL), (0, half, floor)), inside, mass=1.0)
        for wall in (
            Box((back, -half, floor), (0, -half + _DRAWER_WALL, rim)),
            Box((back, half - _DRAWER_WALL, floor), (0, half, rim)),
            Box((back, -half, floor), (back + _DRAWER_WALL, half, rim)),
        ):
            add_box(drawer, wall, inside, mass=0.3)
        space = Box(
            (back + _DRAWER_WALL, -half + _DRAWER_WALL, floor),
            (0, half - _DRAWER_WALL, self.drawer_height - _GAP),
        )
        add_region(drawer, container, "inside", space)
        add_handle(drawer, container, (_FRONT, 0, self.drawer_height / 2), min(0.16, cell / 2), upright=False)


class Sink(KitchenUnit):
    """A cupboard with a steel basin of ``basin_depth`` in its worktop, and a tap at the back."""

    type: Literal["sink"] = "sink"
    width: Length = 0.80
    basin_depth: Length = 0.17

    def build(self, body: mujoco.MjsBody, palette: Palette) -> None:
        lacquer = palette.plain(self.color, gloss=0.3)
        floor = self.height - self.basin_depth
        _add_cupboard(body, self, floor - 0.02, lacquer, palette, doors=2)
        hole = Box(
            (-self.depth / 2 + 0.12, -self.width / 2 + 0.10, 0), (self.depth / 2 - 0.06, self.width / 2 - 0.10, 0)
        )
        self._add_rim(body, hole, palette)
        self._add_basin(body, hole, floor, palette)
        self._add_tap(body, hole, palette)

    def _around(self, hole: Box, low: float, high: float, outer: Box) -> list[Box]:
        """Four boxes between ``hole`` and ``outer`` (their x and y), from ``low`` to ``high``."""
        (x0, y0, _), (x1, y1, _) = hole.low, hole.high
        (ox0, oy0, _), (ox1, oy1, _) = outer.low, outer.high
        return [
            Box((ox0, oy0, low), (x0, oy1, high)),
            Box((x1, oy0, low), (ox1, oy1, high)),
            Box((x0, oy0, low), (x1, y0, high)),
            Box((x0, y1, low), (x1, oy1, high)),
        ]

    def _add_rim(self, body: mujoco.MjsBody, hole: Box, palette: Palette) -> None:
        outer = Box((-self.depth / 2, -self.width / 2, 0), (self.depth / 2 + _OVERHANG, self.width / 2, 0))
        add_boxes(body, self._around(hole, self.height - _TOP, self.height, outer), palette.stone(self.top_color))
        case = Box((-self.depth / 2, -self.width / 2, 0), (self.depth / 2, self.width / 2, 0))
        low, high = self.height - self.basin_depth - 0.02, self.height - _TOP
        add_boxes(body, self._around(hole, low, high, case), palette.plain(self.color, gloss=0.3))

    def _add_basin(self, body: mujoco.MjsBody, hole: Box, floor: float, palette: Palette) -> None:
        steel = palette.plain(_STEEL, gloss=0.9)
        (x0, y0, _), (x1, y1, _) = hole.low, hole.high
        add_box(body, Box((x0, y0, floor - 0.02), (x1, y1, floor)), steel)
        skin = 0.003
        rim = Box((x0 + skin, y0 + skin, 0), (x1 - skin, y1 - skin, 0))
        for wall in self._around(rim, floor, self.height + 0.002, hole):
            add_panel(body, wall, steel)
        flange = Box((x0 - 0.025, y0 - 0.025, 0), (x1 + 0.025, y1 + 0.025, 0))
        for lip in self._around(hole, self.height, self.height + 0.002, flange):
            add_panel(body, lip, steel)
        drain = add_cylinder(body, ((x0 + x1) / 2, 0, floor + 0.001), 0.03, 0.003, palette.plain(_SHADOW))
        make_decoration(drain)
        add_region(body, self.id, "basin", Box((x0, y0, floor), (x1, y1, floor + MAX_REGION_HEIGHT)))

    def _add_tap(self, body: mujoco.MjsBody, hole: Box, palette: Palette) -> None:
        chrome = palette.plain((0.80, 0.81, 0.83), gloss=1.0)
        x = hole.low[0] - 0.05
        top = self.height + 0.22
        capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
        for start, end in (
            ((x, 0, self.height), (x, 0, top)),
            ((x, 0, top), (x + 0.15, 0, top)),
            ((x + 0.15, 0, top), (x + 0.15, 0, top - 0.05)),
        ):
            chrome.apply(body.add_geom(type=capsule, fromto=(*start, *end), size=(0.012, 0, 0)))
        add_cylinder(body, (x, 0, self.height + 0.01), 0.028, 0.02, chrome)


def _add_cupboard(
    body: mujoco.MjsBody, furniture: Furniture, top: float, finish: Finish, palette: Palette, doors: int
) -> None:
    """The closed lower part: a plinth set back, a solid case, and doors that are only looked at."""
    back, front, side = -furniture.depth / 2, furniture.depth / 2, furniture.width / 2
    add_box(body, Box((back, -side, 0), (front - 0.05, side, _PLINTH)), palette.plain(_SHADOW))
    add_box(body, Box((back, -side, _PLINTH), (front, side, top)), finish)
    cell = furniture.width / doors
    steel = palette.plain(_STEEL, gloss=0.8)
    dark = palette.plain(_SHADOW)
    add_panel(body, Box((front, -side, _PLINTH), (front + 0.001, side, top)), dark)
    for index in range(doors):
        left = -side + index * cell + _GAP / 2
        right = left + cell - _GAP
        add_panel(body, Box((front, left, _PLINTH + _GAP), (front + _FRONT, right, top - _GAP)), finish)
        knob_y = right - 0.05 if index % 2 == 0 else left + 0.05
        knob = Box((front + _FRONT, knob_y - 0.008, top - 0.16), (front + _FRONT + 0.015, knob_y + 0.008, top - 0.04))
        add_panel(body, knob, steel)
