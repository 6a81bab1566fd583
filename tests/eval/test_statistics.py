"""Intervals and comparisons, against published examples and independent calculations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_eval.statistics import Interval, holm, mcnemar, paired_bootstrap, task_bootstrap, wilson


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_wilson_of_a_published_example() -> None:
    # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3: 81 of 263.
    interval = wilson(81, 263)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)
    assert (round(wilson(0, 20).low, 4), round(wilson(0, 20).high, 4)) == (0.0, 0.1611)
    assert (round(wilson(1, 29).low, 4), round(wilson(1, 29).high, 4)) == (0.0061, 0.1718)


@given(st.integers(0, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_by_its_formula(case: tuple[int, int]) -> None:
    successes, total = case
    interval = wilson(successes, total)
    assert 0 <= interval.low <= interval.high <= 1
    if total:
        z, share = 1.959963984540054, successes / total
        middle = (share + z * z / (2 * total)) / (1 + z * z / total)
        half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
        assert interval.low == pytest.approx(middle - half, abs=1e-9)
        assert interval.high == pytest.approx(middle + half, abs=1e-9)
        assert share in interval


def test_wilson_refuses_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="3 successes of 2"):
        wilson(3, 2)


def test_a_bootstrap_of_a_mean_is_as_wide_as_theory_says() -> None:
    # A mean of 200 numbers from a normal distribution of deviation 1: half width 1.96 / sqrt(200).
    values = np.random.default_rng(7).normal(size=200)
    interval = task_bootstrap(values, np.ones(200), rng())
    assert interval is not None
    assert interval.width == pytest.approx(2 * 1.96 * values.std() / math.sqrt(200), rel=0.05)
    assert values.mean() in interval


def test_trials_of_a_task_stay_together() -> None:
    # Ten tasks, each succeeding in all its 30 trials or in none: as uncertain as ten trials, not as 300.
    numerators, denominators = [30.0, 0.0] * 5, [30.0] * 10
    interval = task_bootstrap(numerators, denominators, rng())
    assert interval is not None
    assert interval.width > wilson(5, 10).width * 0.8
    assert interval.width > 4 * wilson(150, 300).width


def test_a_bootstrap_needs_two_tasks_and_something_to_divide_by() -> None:
    assert task_bootstrap([1.0], [1.0], rng()) is None
    assert task_bootstrap([], [], rng()) is None
    assert task_bootstrap([0.0, 0.0], [0.0, 0.0], rng()) is None
    assert paired_bootstrap(([1.0], [1.0]), ([0.0], [1.0]), rng()) is None
    assert paired_bootstrap(([1.0, 0.0], [1.0, 1.0]), ([0.0, 0.0], [0.0, 0.0]), rng()) is None


def test_one_seed_one_interval() -> None:
    values = ([0.2, 0.9, 0.4, 0.7], [1.0] * 4)
    assert task_bootstrap(*values, rng()) == task_bootstrap(*values, rng())


def test_pairing_finds_what_unpaired_intervals_hide() -> None:
    # Tasks differ a lot, and the first planner is better by a little on every one of them.
    hard = np.linspace(0.05, 0.9, 40)
    ones = np.ones(40)
    first, second = (hard + 0.05, ones), (hard, ones)
    difference = paired_bootstrap(first, second, rng())
    assert difference is not None
    assert difference.value == pytest.approx(0.05)
    assert 0.0 not in difference.interval
    assert difference.p < 0.01
    alone = [task_bootstrap(*values, rng()) for values in (first, second)]
    assert alone[0] is not None and alone[1] is not None
    assert alone[0].overlaps(alone[1])


def test_no_difference_is_no_difference() -> None:
    values = (np.array([0.1, 0.5, 0.9]), np.ones(3))
    difference = paired_bootstrap(values, values, rng())
    assert difference is not None
    assert (difference.value, difference.p) == (0.0, 1.0)
    assert difference.interval == Interval(0.0, 0.0)


def test_mcnemar_by_hand() -> None:
    # Of 10 pairs that differ, 9 in favour of one: 2 * (1 + 10) / 2**10.
    assert mcnemar(9, 1) == pytest.approx(22 / 1024)
    assert mcnemar(1, 9) == pytest.approx(22 / 1024)
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(5, 5) == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    assert holm([0.7, 0.9]) == (1.0, 1.0)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_helps_a_test(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(0 <= before <= after <= 1 for before, after in zip(ps, corrected, strict=True))
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    assert [corrected[index] for index in order] == sorted(corrected)
