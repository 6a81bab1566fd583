from __future__ import annotations

import numpy as np
import pytest

from homie_skills.motion_planning import densify
from homie_skills.postures import CARRYING, FORWARD, READY, STOWED
from homie_skills.time_parametrisation import ACCELERATION, SPEED, round_corners, time_path

PATH = np.array([STOWED, READY, FORWARD, CARRYING[0]])


def test_ends_and_order() -> None:
    positions, times = time_path(PATH)
    np.testing.assert_allclose(positions[0], PATH[0])
    np.testing.assert_allclose(positions[-1], PATH[-1])
    assert times[0] == 0.0
    assert np.all(np.diff(times) > 0)


@pytest.mark.parametrize("share", [0.9, 0.4])
def test_speed_limits_hold(share: float) -> None:
    positions, times = time_path(PATH, share)
    speeds = np.abs(np.diff(positions, axis=0)) / np.diff(times)[:, None]
    assert np.all(speeds <= SPEED * share * 1.05)
    assert np.any(speeds > SPEED * share * 0.8)


def test_starts_and_stops_gently() -> None:
    positions, times = time_path(np.array([STOWED, READY]))
    speeds = np.diff(positions, axis=0) / np.diff(times)[:, None]
    assert np.all(np.abs(speeds[[0, -1]]) < 0.2 * SPEED)
    assert np.all(np.abs(np.diff(speeds, axis=0)) / times[1] <= 1.1 * ACCELERATION)


def test_slower_takes_longer() -> None:
    assert time_path(PATH, 0.3)[1][-1] > 1.5 * time_path(PATH, 0.9)[1][-1]


def test_path_that_stays_is_one_point() -> None:
    positions, times = time_path(np.array([READY, READY]))
    assert positions.shape == (1, 8) and times.shape == (1,)


def test_rounded_corners_are_faster_and_keep_the_ends() -> None:
    rounded = round_corners(PATH, lambda _joints: True)
    np.testing.assert_array_equal(rounded[[0, -1]], PATH[[0, -1]])
    assert time_path(rounded)[1][-1] < time_path(PATH)[1][-1]


def test_corner_that_is_not_free_to_cut_stays() -> None:
    corners = [tuple(joints) for joints in densify(PATH)]
    rounded = round_corners(PATH, lambda joints: tuple(joints) in corners)
    np.testing.assert_array_equal(rounded, PATH)
