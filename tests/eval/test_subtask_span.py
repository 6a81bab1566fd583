"""When subtasks were executed, and what a camera saw meanwhile."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_eval.bag import Bag
from homie_eval.subtask_span import SubtaskSpan, executed_spans, span_pictures
from homie_eval.video import HEAD_CAMERA
from support.bags import BagFixture, message
from support.moving_bag import SECOND, grey, moving_steps
from support.trajectories import info

STEP = moving_steps()[0]


def span(start: float, end: float) -> SubtaskSpan:
    return SubtaskSpan(STEP, round(start * SECOND), round(end * SECOND))


def seen(folder: Path, frames: list[tuple[float, int | None]], spans: list[SubtaskSpan], rate: int) -> list[list[int]]:
    """The brightness of what each span shows; a frame without one cannot be decoded."""
    with BagFixture(folder / "bag") as bag:
        bag.info(info())
        for time, level in frames:
            if level is None:
                bag.write(HEAD_CAMERA, message("sensor_msgs/msg/CompressedImage"))
            else:
                bag.frame(HEAD_CAMERA, round(time * SECOND), grey(level), format="png")
    with Bag(folder / "bag") as read:
        found = list(span_pictures(read, HEAD_CAMERA, "e1", spans, rate))
    return [[int(picture[0, 0, 0]) for of, picture in found if of is each] for each in spans]


def test_only_what_took_simulation_time_was_executed() -> None:
    spans = executed_spans(moving_steps())
    assert [(each.step.index, each.start / SECOND, each.end / SECOND) for each in spans] == [(1, 0, 1), (3, 1, 2.5)]
    assert executed_spans(moving_steps(seconds=(0, 0, 0, 0))) == ()


@given(st.integers(0, 10**12), st.integers(0, 10**10), st.integers(1, 60))
def test_ticks_are_within_the_span_and_evenly_spaced(start: int, length: int, rate: int) -> None:
    ticks = SubtaskSpan(STEP, start, start + length).ticks(rate)
    assert ticks[0] == start and ticks[-1] <= start + length < ticks[-1] + SECOND / rate + 1
    assert all(abs((tick - start) - number * SECOND / rate) < 1 for number, tick in enumerate(ticks))


@pytest.mark.parametrize(
    ("times", "covered"),
    [
        ([], False),
        ([5.0, 5.5, 6.5, 7.0], True),
        ([4.5, 5.5, 6.4, 7.4], True),
        ([5.9, 6.1], True),
        ([5.0, 5.5, 6.6, 7.0], False),  # 1.1 s without a message
        ([5.0, 5.9], False),  # stopped
        ([6.1, 6.5, 7.0], False),  # began late
        ([0.0, 1.0, 2.0, 3.0], False),
    ],
)
def test_whether_a_stream_covers_a_span_from_5_to_7(times: list[float], covered: bool) -> None:
    assert span(5.0, 7.0).covered_by([round(time * SECOND) for time in times]) is covered


def test_each_tick_shows_the_newest_picture(tmp_path: Path) -> None:
    frames: list[tuple[float, int | None]] = [(0.0, 10), (0.5, 20), (0.5, 30), (1.0, 40), (2.0, 50)]
    assert seen(tmp_path, frames, [span(0.0, 1.0), span(1.5, 3.0)], 2) == [[10, 30, 40], [40, 50, 50, 50]]


def test_what_comes_before_the_first_picture_shows_that(tmp_path: Path) -> None:
    assert seen(tmp_path, [(1.0, 10), (2.0, 20)], [span(0.0, 2.0)], 2) == [[10, 10, 10, 10, 20]]


def test_a_picture_that_cannot_be_decoded_is_passed_over(tmp_path: Path) -> None:
    assert seen(tmp_path, [(0.0, None), (0.0, 10), (0.0, None)], [span(0.0, 1.0)], 1) == [[10, 10]]


@pytest.mark.parametrize("frames", [[], [(0.0, None)]])
def test_without_a_picture_there_is_nothing(tmp_path: Path, frames: list[tuple[float, int | None]]) -> None:
    assert seen(tmp_path, frames, [span(0.0, 1.0)], 1) == [[]]
