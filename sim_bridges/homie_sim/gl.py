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


DISABLED = "disable"
"""MuJoCo's word for: physics only."""


class GraphicsError(RuntimeError):
    """The wanted OpenGL is not there. One line that says what to install."""


def choose_backend() -> str:
    """Set ``MUJOCO_GL`` unless it is set already; what it is then. Without any library it is ``disable``.

    Raises:
        GraphicsError: the variable asks for a backend whose libraries do not load.
    """
    wanted = os.environ.get(VARIABLE, "").strip().lower()
    missing = [library for library in LIBRARIES.get(wanted, ()) if not _loads(library)]
    if missing:
        raise GraphicsError(f"{VARIABLE}: {wanted!r} needs {missing[0]}, which does not load: {INSTALL_HINT}")
    if wanted:
        return wanted
    chosen = next((name for name, libraries in LIBRARIES.items() if all(map(_loads, libraries))), DISABLED)
    os.environ[VARIABLE] = chosen
    return chosen


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
