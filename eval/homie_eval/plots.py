"""Plots as inline SVG: bars with intervals, stacked bars, strips of episodes.

Few shapes, so they are drawn here: a plotting library would bring its own fonts, colours and, for links, scripts, where
the page's style sheet has to rule (dark mode, print). Every plot has a title and a description, prints its values, and
says nothing by colour alone. The colours are those of Okabe and Ito, which colour-blind people tell apart.
Lengths are in the SVG's units, one for each pixel at its own size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup

from homie_eval.statistics import Interval

ROW = 22.0
"""Height of one bar with the space around it."""
BAR = 12.0
"""Height of the bar itself."""
LABEL = 108.0
"""Width of the names on the left."""
AXIS = 130.0
"""Length of a bar for the whole of a share."""
NUMBER = 134.0
"""Width of the printed numbers on the right."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
TICK_ROW = 14.0
LONGEST_LABEL = 14
"""Letters of a name that fit; of a longer one the middle is left out."""

STACK_AXIS = 620.0
STACK_LABEL = 180.0
LONGEST_STACK_LABEL = 26
STACK_NUMBER = 150.0
TEXT_WIDTH = 15.0
"""A piece at least this wide has its name printed in it."""

STRIP_LABEL = 46.0
STRIP_WIDTH = 1120.0
STRIP_END = 10.0
"""Room on the right, for the last column's number."""
CELL_HEIGHT = 22.0
GAP = 1.5
SMALLEST_CELL, LARGEST_CELL = 8.0, 26.0
NUMBER_EVERY = 20.0
"""Room that a column's number needs."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A share from 0 to 1, or None where it is not defined; ``text`` is what is printed."""

    label: str
    share: float | None
    text: str
    interval: Interval | None = None
    best: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a stacked bar. ``colour`` is one of SVG's, ``title`` says what it is."""

    name: str
    amount: float
    colour: str
    title: str


@dataclass(frozen=True, slots=True)
class Stack:
    """One stacked bar; ``text`` is printed behind it."""

    label: str
    pieces: tuple[Piece, ...]
    text: str

    @property
    def total(self) -> float:
        return sum(piece.amount for piece in self.pieces)


class CellKind(StrEnum):
    """How an episode stands. Also the names of style classes."""

    SUCCESS = "success"
    FAILURE = "failure"
    LOST = "lost"
    """It could not be run."""
    OPEN = "open"
    """Not finished."""


@dataclass(frozen=True, slots=True)
class StripCell:
    """One episode in a strip: filled to ``share`` of its height. ``link`` is an address, or empty."""

    kind: CellKind
    share: float
    title: str
    link: str = ""


def bar_chart(title: str, description: str, bars: Sequence[Bar]) -> Markup:
    """Horizontal bars from 0 to 100 %, one below the other, each with a whisker over its interval."""
    height = ROW * len(bars) + TICK_ROW
    svg = _svg(LABEL + AXIS + NUMBER, height, title, description)
    for tick in TICKS:
        x = LABEL + AXIS * tick
        _line(svg, "grid", x, 0, x, height - TICK_ROW)
        _text(svg, x, height - 3, f"{100 * tick:.0f}", "tick", anchor="middle")
    for number, bar in enumerate(bars):
        middle = ROW * (number + 0.5)
        group = SubElement(svg, "g", {"class": "best"} if bar.best else {})
        SubElement(group, "title").text = f"{bar.label}: {bar.text}"
        _text(group, LABEL - 6, middle + 4, _short(bar.label), anchor="end")
        _text(group, LABEL + AXIS + 8, middle + 4, bar.text, "number")
        if bar.share is None:
            continue
        _rect(group, "amount", LABEL, middle - BAR / 2, AXIS * bar.share, BAR)
        if bar.interval is not None:
            low, high = LABEL + AXIS * bar.interval.low, LABEL + AXIS * bar.interval.high
            _line(group, "whisker", low, middle, high, middle)
            for x in (low, high):
                _line(group, "whisker", x, middle - 4, x, middle + 4)
    return _markup(svg)


def stacked_chart(title: str, description: str, stacks: Sequence[Stack]) -> Markup:
    """Horizontal stacked bars on one scale, the longest as long as the axis."""
    svg = _svg(STACK_LABEL + STACK_AXIS + STACK_NUMBER, ROW * len(stacks), title, description)
    scale = STACK_AXIS / max([stack.total for stack in stacks if stack.total > 0], default=1.0)
    for number, stack in enumerate(stacks):
        top = ROW * number + 2
        _text(svg, STACK_LABEL - 6, top + 13, _short(stack.label, LONGEST_STACK_LABEL), anchor="end", title=stack.label)
        x = STACK_LABEL
        for piece in stack.pieces:
            width = scale * piece.amount
            if width <= 0:
                continue
            group = SubElement(svg, "g")
            SubElement(group, "title").text = piece.title
            _rect(group, "piece", x, top, width, ROW - 4).set("fill", piece.colour)
            if width >= TEXT_WIDTH:
                _text(group, x + width / 2, top + 13, piece.name, "inside", anchor="middle")
            x += width
        _text(svg, x + 8, top + 13, stack.text, "number")
    return _markup(svg)


def strip(
    title: str,
    description: str,
    rows: Sequence[tuple[str, Sequence[StripCell]]],
    columns: Sequence[str],
) -> Markup:
    """Rows of small cells, all as long as ``columns``; as many of the columns' names below as there is room for."""
    pitch = min(LARGEST_CELL, max(SMALLEST_CELL, (STRIP_WIDTH - STRIP_LABEL) / max(1, len(columns))))
    bottom = (CELL_HEIGHT + GAP) * len(rows)
    # A group, not one image: the links in it are to be reached.
    svg = _svg(STRIP_LABEL + pitch * len(columns) + STRIP_END, bottom + TICK_ROW, title, description, role="group")
    for number, (label, cells) in enumerate(rows):
        top = (CELL_HEIGHT + GAP) * number
        _text(svg, STRIP_LABEL - 6, top + CELL_HEIGHT / 2 + 4, label, anchor="end")
        for column, cell in enumerate(cells):
            _cell(svg, cell, STRIP_LABEL + pitch * column, top, pitch - GAP)
    every = -int(-NUMBER_EVERY // pitch)
    for column, name in enumerate(columns):
        if column % every == 0:
            x = STRIP_LABEL + pitch * column + (pitch - GAP) / 2
            _text(svg, x, bottom + TICK_ROW - 3, name, "tick", anchor="middle")
    return _markup(svg)


def _cell(parent: Element, cell: StripCell, x: float, top: float, width: float) -> None:
    holder = SubElement(parent, "a", {"href": cell.link}) if cell.link else SubElement(parent, "g")
    SubElement(holder, "title").text = cell.title
    _rect(holder, f"cell {cell.kind.value}", x, top, width, CELL_HEIGHT)
    if cell.kind in (CellKind.SUCCESS, CellKind.FAILURE):
        filled = CELL_HEIGHT * cell.share
        _rect(holder, f"fill {cell.kind.value}", x, top + CELL_HEIGHT - filled, width, filled)
    elif cell.kind is CellKind.LOST:
        _line(holder, "cross", x + 1, top + 4, x + width - 1, top + CELL_HEIGHT - 4)
        _line(holder, "cross", x + 1, top + CELL_HEIGHT - 4, x + width - 1, top + 4)


def _svg(width: float, height: float, title: str, description: str, role: str = "img") -> Element:
    svg = Element(
        "svg",
        {
            "class": "plot",
            "viewBox": f"0 0 {_n(width)} {_n(height)}",
            "width": _n(width),
            "height": _n(height),
            "role": role,
            "aria-label": f"{title}. {description}",
        },
    )
    SubElement(svg, "title").text = title
    SubElement(svg, "desc").text = description
    return svg


def _rect(parent: Element, kind: str, x: float, y: float, width: float, height: float) -> Element:
    place = {"x": _n(x), "y": _n(y), "width": _n(width), "height": _n(height)}
    return SubElement(parent, "rect", {"class": kind} | place)


def _line(parent: Element, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
    SubElement(parent, "line", {"class": kind, "x1": _n(x1), "y1": _n(y1), "x2": _n(x2), "y2": _n(y2)})


def _text(
    parent: Element, x: float, y: float, text: str, kind: str = "label", anchor: str = "start", title: str = ""
) -> None:
    element = SubElement(parent, "text", {"class": kind, "x": _n(x), "y": _n(y), "text-anchor": anchor})
    element.text = text
    if title and title != text:
        SubElement(element, "title").text = title


def _short(text: str, longest: int = LONGEST_LABEL) -> str:
    end = longest // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - end]}…{text[-end:]}"


def _n(number: float) -> str:
    """A length with two digits, without zeros at its end."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _markup(svg: Element) -> Markup:
    return Markup(tostring(svg, encoding="unicode"))  # noqa: S704 - ElementTree has escaped every text
