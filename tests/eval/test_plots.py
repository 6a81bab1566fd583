"""Plots: values become lengths as calculated by hand, values are printed, text stays text."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_eval import plots
from homie_eval.plots import Bar, CellKind, Piece, Stack, StripCell, bar_chart, stacked_chart, strip
from homie_eval.statistics import Interval

EVIL = '<script>alert("x")</script> & \' ]]> {{ 7 }}'


def parsed(svg: str) -> Element:
    return fromstring(svg)


def classed(svg: Element, name: str) -> list[Element]:
    return [each for each in svg.iter() if name in each.get("class", "").split()]


def lengths(element: Element, *names: str) -> list[float]:
    return [float(element.get(name, "nan")) for name in names]


def texts(svg: Element) -> list[str]:
    return [each.text or "" for each in svg.iter("text")]


def test_bars_and_whiskers() -> None:
    bars = [
        Bar("a", 0.5, "50.00 [25.0, 75.0]", Interval(0.25, 0.75), best=True),
        Bar("b", None, "-"),
        Bar("c", 0.0, "0"),
    ]
    svg = parsed(bar_chart("SR", "Percent.", bars))
    first, second = classed(svg, "amount")
    assert lengths(first, "x", "width", "y", "height") == [plots.LABEL, 65.0, 5.0, 12.0]  # half of 130; row of 22
    assert lengths(second, "width", "y") == [0.0, 49.0]  # the third row
    line, *ends = classed(svg, "whisker")
    assert lengths(line, "x1", "x2", "y1", "y2") == [plots.LABEL + 32.5, plots.LABEL + 97.5, 11.0, 11.0]
    assert [lengths(end, "x1", "x2") for end in ends] == [[plots.LABEL + 32.5] * 2, [plots.LABEL + 97.5] * 2]
    assert lengths(svg, "height") == [3 * 22 + 14]
    assert {"a", "50.00 [25.0, 75.0]", "b", "-", "c", "0", "25", "100"} <= set(texts(svg))
    assert len(classed(svg, "best")) == 1


def test_stacked_bars_share_one_scale() -> None:
    long = Stack("a", (Piece("L1", 3.0, "#111111", "L1: 6"), Piece("E1", 1.0, "#222222", "E1: 2")), "4.00 each")
    short = Stack("b", (Piece("E1", 1.0, "#222222", "E1: 1"), Piece("E2", 0.01, "#333333", "E2: 1")), "1.01 each")
    svg = parsed(stacked_chart("Errors", "By code.", [long, short, Stack("c", (), "none")]))
    pieces = classed(svg, "piece")
    assert [lengths(each, "x", "width") for each in pieces] == [
        [180.0, 465.0],  # three quarters of 620
        [645.0, 155.0],
        [180.0, 155.0],
        [335.0, 1.55],
    ]
    assert [each.get("fill") for each in pieces] == ["#111111", "#222222", "#222222", "#333333"]
    assert [each.text for each in classed(svg, "inside")] == ["L1", "E1", "E1"]  # there is no room for E2
    assert {each.text for each in svg.iter("title")} == {"Errors", "L1: 6", "E1: 2", "E1: 1", "E2: 1"}


def test_cells_are_filled_as_far_as_the_task_got() -> None:
    cells = [
        StripCell(CellKind.SUCCESS, 1.0, "won", "one/report.html"),
        StripCell(CellKind.FAILURE, 0.25, "lost"),
        StripCell(CellKind.LOST, 0.0, "broken", "two/report.html"),
        StripCell(CellKind.OPEN, 0.0, "pending"),
    ]
    svg = parsed(strip("Success", "By task.", [("trial 1", cells), ("trial 2", cells)], ["1", "2", "30", "100"]))
    assert len(classed(svg, "cell")) == 8
    assert [lengths(each, "x", "y", "height") for each in classed(svg, "fill")[:2]] == [
        [46.0, 0.0, 22.0],
        [72.0, 16.5, 5.5],  # cells are at most 26 apart
    ]
    assert lengths(classed(svg, "fill")[2], "y") == [23.5]
    assert len(classed(svg, "cross")) == 4
    assert [each.get("href") for each in svg.iter("a")] == ["one/report.html", "two/report.html"] * 2
    assert svg.get("role") == "group"  # links in an image would be hidden
    assert [each.text for each in classed(svg, "tick")] == ["1", "2", "30", "100"]


def test_a_strip_of_a_hundred_tasks_fits_and_names_every_second() -> None:
    cells = [StripCell(CellKind.OPEN, 0.0, "")] * 100
    svg = parsed(strip("t", "d", [("trial 1", cells)], [str(number) for number in range(1, 101)]))
    assert lengths(svg, "width")[0] <= 1140
    assert [each.text for each in classed(svg, "tick")][:3] == ["1", "3", "5"]


@pytest.mark.parametrize("width", [0, 1])
def test_nothing_to_show(width: int) -> None:
    for svg in (
        bar_chart("t", "d", [Bar("a", None, "-")] * width),
        stacked_chart("t", "d", [Stack("a", (), "none")] * width),
        strip("t", "d", [("trial 1", [StripCell(CellKind.OPEN, 0.0, "")] * width)], ["1"] * width),
    ):
        assert parsed(svg).tag == "svg"


def test_long_names_keep_both_ends() -> None:
    svg = parsed(bar_chart("t", "d", [Bar("gpt-4o_with_a_long_label, train", 0.5, "50")]))
    assert "gpt-4o…, train" in texts(svg)
    assert "gpt-4o_with_a_long_label, train: 50" in [each.text for each in svg.iter("title")]


def test_every_plot_has_a_title_and_a_description() -> None:
    for svg in (bar_chart("T", "D", []), stacked_chart("T", "D", []), strip("T", "D", [], [])):
        element = parsed(svg)
        assert element.findtext("title") == "T" and element.findtext("desc") == "D"
        assert element.get("aria-label") == "T. D"


def test_text_is_text() -> None:
    cells = [StripCell(CellKind.SUCCESS, 1.0, EVIL, EVIL)]
    for svg in (
        bar_chart(EVIL, EVIL, [Bar(EVIL, 0.5, EVIL)]),
        stacked_chart(EVIL, EVIL, [Stack(EVIL, (Piece(EVIL, 1.0, "#111111", EVIL),), EVIL)]),
        strip(EVIL, EVIL, [(EVIL, cells)], [EVIL]),
    ):
        assert "<script" not in svg
        element = parsed(svg)
        assert element.findtext("title") == EVIL
        assert {each.tag for each in element.iter()} <= {"svg", "title", "desc", "g", "a", "rect", "line", "text"}


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_nothing_leaves_the_drawing(share: float, one: float, other: float) -> None:
    interval = Interval(min(one, other), max(one, other))
    svg = parsed(bar_chart("t", "d", [Bar("a", share, "", interval)]))
    (width,) = lengths(svg, "width")
    for line in classed(svg, "whisker"):
        assert all(plots.LABEL - 0.01 <= x <= width for x in lengths(line, "x1", "x2"))
    (bar,) = classed(svg, "amount")
    assert sum(lengths(bar, "x", "width")) == pytest.approx(plots.LABEL + plots.AXIS * share, abs=0.01)
