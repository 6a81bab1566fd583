"""Keeps the memory of a process with many short threads and many pictures flat."""

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


def give_back() -> bool:
    """Return what the heaps hold free to the system; False where the C library has no such call.

    After an episode with pictures that is some 50 MB, between whose pieces the heaps would go on growing a little. It
    takes 2 ms, and some 15 ms of processor time in the next episode for pages that are wanted again.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None:
        return False
    trim(0)
    return True
