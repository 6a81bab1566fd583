"""The limit on heaps holds where there is one, and does no harm elsewhere."""

from __future__ import annotations

import ctypes
import platform
import threading
from types import SimpleNamespace

import pytest

from homie_ros.memory import limit_arenas


def test_glibc_takes_the_limit() -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("only glibc has heaps by thread")
    assert limit_arenas()
    threads = [threading.Thread(target=bytearray, args=(100_000,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_another_c_library_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    assert not limit_arenas()
