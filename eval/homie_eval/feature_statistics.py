"""Statistics of the features of a data set as LeRobot keeps them, by which policies normalize what they read.

Of each feature the least and the greatest value, mean, standard deviation (of the population), five quantiles, and how
many samples these come from. Those of a data set are put together from those of its episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from homie_eval.images import Picture

Statistics = Mapping[str, NDArray[np.float64]]
"""By name: min, max, mean, std, count (shape (1,)), q01, q10, q50, q90, q99."""

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}

_FEWEST, _MOST, _POWER = 100, 10_000, 0.75
_SMALL, _LARGE = 150, 300


def column_statistics(column: NDArray[np.generic]) -> Statistics:
    """Of one feature over an episode: ``column`` is (frames,) or (frames, n), the results (1,) or (n,)."""
    rows = column.astype(np.float64)
    return _statistics(rows[:, None] if rows.ndim == 1 else rows, len(rows))


def sampled_frames(length: int) -> frozenset[int]:
    """Which of ``length`` frames the statistics of a video come from: all of up to 100, a smaller share of more."""
    count = max(min(length, _FEWEST), min(int(length**_POWER), _MOST))
    return frozenset(np.round(np.linspace(0, length - 1, count)).astype(int).tolist())


def reduced(picture: Picture) -> Picture:
    """Every so many-th pixel of a large picture, so that its longer side is near 150."""
    height, width = picture.shape[:2]
    if max(height, width) < _LARGE:
        return picture
    stride = max(height, width) // _SMALL
    return picture[::stride, ::stride]


def picture_statistics(pictures: Sequence[Picture]) -> Statistics:
    """Of some pictures of one size, by channel: shape (3, 1, 1), from 0 to 1. ``count`` is that of the pictures."""
    pixels = np.stack(pictures).reshape(-1, 3) / 255.0
    found = _statistics(pixels, len(pictures))
    return {name: value if name == "count" else value.reshape(3, 1, 1) for name, value in found.items()}


def merged(parts: Sequence[Statistics]) -> Statistics:
    """Those of several episodes together. Quantiles are the means of the episodes' own, as LeRobot merges them."""
    stacked = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    counts = stacked["count"]
    weights = (counts / counts.sum()).reshape(-1, *[1] * (stacked["mean"].ndim - 1))
    mean = (stacked["mean"] * weights).sum(axis=0)
    variance = ((stacked["std"] ** 2 + (stacked["mean"] - mean) ** 2) * weights).sum(axis=0)
    return {
        "min": stacked["min"].min(axis=0),
        "max": stacked["max"].max(axis=0),
        "mean": mean,
        "std": np.sqrt(variance),
        "count": counts.sum(axis=0),
        **{name: (stacked[name] * weights).sum(axis=0) for name in QUANTILES},
    }


def _statistics(rows: NDArray[np.float64], count: int) -> Statistics:
    return {
        "min": rows.min(axis=0),
        "max": rows.max(axis=0),
        "mean": rows.mean(axis=0),
        "std": rows.std(axis=0),
        "count": np.array([count], dtype=np.float64),
        **dict(zip(QUANTILES, np.quantile(rows, list(QUANTILES.values()), axis=0), strict=True)),
    }
