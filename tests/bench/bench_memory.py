"""Resident memory over many episodes in one process: flat from the 20th episode on."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from support.instant_episodes import instant_graph

EPISODES = int(os.environ.get("BENCH_MEMORY_EPISODES", "60"))
"""The budget is about 300; the slope of 60 tells a leak already."""

WARM = 20
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _resident() -> float:
    """Megabytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * _PAGE / 1e6


def bench() -> list[tuple[str, float, str]]:
    """Name, value and unit of each measured figure."""
    resident = []
    with instant_graph("always") as episode:
        for number in range(EPISODES):
            episode(number)
            resident.append(_resident())
    warm = np.array(resident[WARM:])
    slope = float(np.polyfit(np.arange(len(warm)), warm, 1)[0])
    return [
        (f"resident after {WARM} episodes", resident[WARM - 1], "MB"),
        (f"resident after {EPISODES} episodes", resident[-1], "MB"),
        (f"slope from episode {WARM}, per 100 episodes", 100 * slope, "MB"),
    ]
