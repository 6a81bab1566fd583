"""How sure a number is: intervals of rates and of means over tasks, and paired comparisons.

Trials of one task resemble each other, so tasks are what is resampled, each with all its trials. Random numbers come
from a generator that the caller passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

CONFIDENCE = 0.95
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; both bounds belong to it."""

    low: float
    high: float

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low

    def overlaps(self, other: Interval) -> bool:
        """Whether there is a number in both."""
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second. ``p`` is two-sided, for the hypothesis that there is none."""

    value: float
    interval: Interval
    p: float


def wilson(successes: int, total: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a rate (E. B. Wilson, 1927). Without any observation it is 0 to 1.

    Raises:
        ValueError: ``successes`` is not within 0 and ``total``.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total}: must be from 0 to {total}")
    if total == 0:
        return Interval(0.0, 1.0)
    bounds = stats.binomtest(successes, total).proportion_ci(confidence, method="wilson")
    return Interval(float(bounds.low), float(bounds.high))


def task_bootstrap(
    numerators: ArrayLike,
    denominators: ArrayLike,
    rng: np.random.Generator,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of sum(numerators) / sum(denominators) over tasks, an element each.

    None where there is nothing to divide by, or a single task: then nothing is known about other tasks.
    """
    shares = _resampled(_stacked(numerators, denominators), rng, resamples)
    if shares is None:
        return None
    return _percentiles(shares, confidence)


def paired_bootstrap(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    rng: np.random.Generator,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Difference | None:
    """The difference of two ratios (numerators, denominators) over the same tasks, which are resampled together.

    None where one of them is not defined, or there is a single task.
    """
    tables = (_stacked(*first), _stacked(*second))
    weights = _weights(tables[0].shape[1], rng, resamples)
    if weights is None:
        return None
    observed = [_ratio(table.sum(axis=1)) for table in tables]
    drawn = _ratio(weights @ tables[0].T) - _ratio(weights @ tables[1].T)
    drawn = drawn[np.isfinite(drawn)]
    value = float(observed[0] - observed[1])
    if not np.isfinite(value) or not len(drawn):
        return None
    # Either side of zero, with one count more than was drawn: no p is ever smaller than what can be told apart.
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return Difference(value, _percentiles(drawn, confidence), min(1.0, 2 * (beyond + 1) / (len(drawn) + 1)))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p of McNemar's test, from the pairs in which just one of the two succeeded."""
    if only_first + only_second == 0:
        return 1.0
    return float(stats.binomtest(only_first, only_first + only_second, 0.5).pvalue)


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """The ps of several tests, corrected for being several (S. Holm, 1979), in the order in which they were given."""
    corrected = [0.0] * len(ps)
    worst = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        worst = max(worst, min(1.0, ps[index] * (len(ps) - rank)))
        corrected[index] = worst
    return tuple(corrected)


def _stacked(numerators: ArrayLike, denominators: ArrayLike) -> NDArray[np.float64]:
    """Both as one (2, tasks) array."""
    table = np.stack([np.asarray(numerators, float), np.asarray(denominators, float)])
    if table.ndim != 2:
        raise ValueError(f"numerators and denominators must be flat, not of shape {table.shape[1:]}")
    return table


def _weights(tasks: int, rng: np.random.Generator, resamples: int) -> NDArray[np.float64] | None:
    """How often each task is in each resample, (resamples, tasks); None for fewer than two tasks."""
    if tasks < 2:
        return None
    return rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples).astype(float)


def _ratio(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numerator by denominator along the last axis; NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(table[..., 1] > 0, table[..., 0] / table[..., 1], np.nan)


def _resampled(table: NDArray[np.float64], rng: np.random.Generator, resamples: int) -> NDArray[np.float64] | None:
    weights = _weights(table.shape[1], rng, resamples)
    if weights is None or table[1].sum() <= 0:
        return None
    shares = _ratio(weights @ table.T)
    return shares[np.isfinite(shares)]


def _percentiles(drawn: NDArray[np.float64], confidence: float) -> Interval:
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
