"""Resident memory over many episodes in one process: flat from the 20th episode on."""

from __future__ import annotations

import ctypes
import gc
import math
import os
from pathlib import Path

import numpy as np

from support.instant_episodes import instant_graph

EPISODES = int(os.environ.get("BENCH_MEMORY_EPISODES", "60"))
"""The budget is about 300; the slope of 60 tells a leak already."""

WARM = 20
_PAGE = os.sysconf("SC_PAGE_SIZE")


class _Mallinfo2(ctypes.Structure):
    """``struct mallinfo2`` of glibc's malloc.h."""

    _fields_ = (
        ("arena", ctypes.c_size_t),
        ("ordblks", ctypes.c_size_t),
        ("smblks", ctypes.c_size_t),
        ("hblks", ctypes.c_size_t),
        ("hblkhd", ctypes.c_size_t),
        ("usmblks", ctypes.c_size_t),
        ("fsmblks", ctypes.c_size_t),
        ("uordblks", ctypes.c_size_t),
        ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    )


def _resident() -> float:
    """Megabytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * _PAGE / 1e6


def _allocated() -> float:
    """Megabytes that the process has asked of glibc and not given back, wherever they lie; NaN with another library."""
    mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo2 is None:
        return math.nan
    mallinfo2.restype = _Mallinfo2
    found = mallinfo2()
    return float(found.uordblks + found.hblkhd) / 1e6


def _slope(values: list[float]) -> float:
    """Of the least-squares line through the values after the warm ones, per 100 episodes."""
    warm = np.array(values[WARM:])
    return 100 * float(np.polyfit(np.arange(len(warm)), warm, 1)[0])


def bench() -> list[tuple[str, float, str]]:
    """Name, value and unit of each measured figure.

    What is resident grows also by holes between what is allocated, what is allocated only by what is kept.
    """
    resident, allocated = [], []
    with instant_graph("always") as episode:
        for number in range(EPISODES):
            episode(number)
            gc.collect()
            resident.append(_resident())
            allocated.append(_allocated())
    return [
        (f"resident after {WARM} episodes", resident[WARM - 1], "MB"),
        (f"resident after {EPISODES} episodes", resident[-1], "MB"),
        (f"slope from episode {WARM}, per 100 episodes", _slope(resident), "MB"),
        ("the same of what is allocated", _slope(allocated), "MB"),
    ]
