"""The limit on heaps and giving back work where there is such a thing, and do no harm elsewhere."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from homie_ros.memory import give_back, limit_arenas

KILOBYTE = 1024


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_glibc_takes_the_limit() -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("only glibc has heaps by thread")
    assert limit_arenas()
    threads = [threading.Thread(target=bytearray, args=(100_000,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_free_pages_are_given_back() -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("only glibc keeps them")
    pieces = [bytearray(b"x" * 64 * KILOBYTE) for _ in range(1000)]
    last = bytearray(b"x" * 64 * KILOBYTE)  # above the free ones, so that the heap cannot just be cut
    del pieces
    full = resident()
    assert give_back()
    assert full - resident() > 30_000 * KILOBYTE
    assert len(last) == 64 * KILOBYTE


def test_another_c_library_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    assert not limit_arenas()
    assert not give_back()
