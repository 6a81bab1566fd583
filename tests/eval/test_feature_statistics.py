"""Statistics of features: by hand, and against numpy over everything at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_eval.feature_statistics import column_statistics, merged, picture_statistics, reduced, sampled_frames


def test_a_column_by_hand() -> None:
    found = column_statistics(np.array([False, False, True, False]))
    plain = {name: value.tolist() for name, value in found.items()}
    assert plain["min"] == [0] and plain["max"] == [1] and plain["mean"] == [0.25] and plain["count"] == [4]
    assert plain["std"] == [pytest.approx((3 / 16) ** 0.5)]
    assert plain["q50"] == [0] and plain["q99"] == [pytest.approx(0.97)]  # 3 gaps: 0.99 x 3 is 0.97 into the last


def test_pictures_are_judged_by_channel_from_0_to_1() -> None:
    red = np.zeros((2, 2, 3), np.uint8)
    red[..., 0] = 255
    found = picture_statistics([red, np.zeros_like(red)])
    assert found["mean"].tolist() == [[[0.5]], [[0.0]], [[0.0]]]
    assert found["std"].tolist() == [[[0.5]], [[0.0]], [[0.0]]]
    assert found["count"].tolist() == [2]


@given(st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=9), min_size=1, max_size=5))
def test_merged_statistics_are_those_of_all_together(parts: list[list[int]]) -> None:
    found = merged([column_statistics(np.array(part)) for part in parts])
    whole = column_statistics(np.concatenate([np.array(part) for part in parts]))
    for name in ("min", "max", "mean", "std", "count"):
        np.testing.assert_allclose(found[name], whole[name], atol=1e-9)


@pytest.mark.parametrize(("length", "count"), [(1, 1), (7, 7), (100, 100), (400, 100), (1000, 177), (10_000, 1000)])
def test_how_many_frames_are_sampled(length: int, count: int) -> None:
    frames = sampled_frames(length)
    assert len(frames) == count
    assert min(frames) == 0 and max(frames) == length - 1


def test_only_large_pictures_are_reduced() -> None:
    assert reduced(np.zeros((299, 299, 3), np.uint8)).shape == (299, 299, 3)
    assert reduced(np.zeros((480, 640, 3), np.uint8)).shape == (120, 160, 3)
