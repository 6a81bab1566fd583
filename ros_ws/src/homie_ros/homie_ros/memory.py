"""Keeps the memory of a process with many short threads flat."""

from __future__ import annotations

import ctypes

_M_ARENA_MAX = -8
"""From glibc's malloc.h."""

_ARENAS = 2


def limit_arenas() -> bool:
    """Let all threads allocate from two heaps; False where the C library has no such setting.

    Each request and each goal has a thread of its own. By default glibc gives new threads up to eight heaps per core,
    and pictures leave holes in all of them, which grow for hundreds of episodes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, _ARENAS))
