"""How a base stands on floors of several levels."""

from __future__ import annotations

import math

import pytest

from homie_core.footing import TRACK, Footing, Surface

RAMP = Surface((1.0, 3.0), (0.0, 2.0), 0.125, (0.125, 0.0))
LOFT = Surface((3.0, 6.0), (0.0, 2.0), 0.25)
FOOTING = Footing((RAMP, LOFT))


def test_level_ground_is_at_zero() -> None:
    assert Footing().is_level and not FOOTING.is_level
    assert Footing().stance(1.0, 2.0, 0.5) == (0, 0, 0)
    assert FOOTING.stance(-1.0, 1.0, 0.5) == (0, 0, 0)


def test_heights() -> None:
    assert FOOTING.height(1.0, 1.0) == pytest.approx(0)
    assert FOOTING.height(2.0, 1.0) == pytest.approx(0.125)
    assert FOOTING.height(4.0, 1.0) == 0.25
    assert FOOTING.height(4.0, 3.0) == 0


@pytest.mark.parametrize(
    ("yaw", "pitch", "roll"), [(0.0, -1, 0), (math.pi, 1, 0), (math.pi / 2, 0, -1), (-math.pi / 2, 0, 1)]
)
def test_it_leans_with_the_ramp(yaw: float, pitch: int, roll: int) -> None:
    z, actual_pitch, actual_roll = FOOTING.stance(2.0, 1.0, yaw)
    lean = math.atan(0.125)
    assert z == pytest.approx(0.125)
    assert (actual_pitch, actual_roll) == pytest.approx((pitch * lean, roll * lean), abs=1e-9)


def test_it_tips_gradually_at_the_foot() -> None:
    pitches = [FOOTING.stance(1.0 + share * TRACK, 1.0, 0.0)[1] for share in (-1.2, -0.5, 0.0, 0.5, 1.2)]
    assert pitches == sorted(pitches, reverse=True)
    assert pitches[0] == 0 and pitches[-1] == pytest.approx(-math.atan(0.125))
