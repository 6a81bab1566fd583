"""Which OpenGL MuJoCo draws with on a machine without a screen: EGL if its libraries load, else OSMesa.

MuJoCo reads ``MUJOCO_GL`` when it is imported, so this runs on import of the package, before any import of mujoco.
"""

from __future__ import annotations

import ctypes
import os

VARIABLE = "MUJOCO_GL"

LIBRARIES = {"egl": ("libEGL.so.1", "libOpenGL.so.0"), "osmesa": ("libOSMesa.so.8",)}
"""Shared libraries that each backend needs, in order of preference."""

INSTALL_HINT = "apt-get install libegl1 libgl1 (EGL) or libosmesa6 (OSMesa)"


def choose_backend() -> str | None:
    """Set ``MUJOCO_GL`` unless it is set already; the chosen backend, or None if no library is there."""
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    chosen = next((name for name, libraries in LIBRARIES.items() if all(map(_loads, libraries))), None)
    if chosen is not None:
        os.environ[VARIABLE] = chosen
    return chosen


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
