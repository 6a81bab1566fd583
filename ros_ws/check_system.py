"""Find what the build needs from the system: a Python, compilers, CMake, a library that renders without a screen.

    python3 ros_ws/check_system.py [--ros /opt/ros/jazzy] [--python python3.12]

Prints the Python interpreter to build with. Where something is missing, prints one line for each missing part (its name
and the command that installs it) on standard error and exits with code 2. Runs before anything is installed, so it
needs nothing but Python 3.9.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterable, Iterator, NamedTuple, Optional

SUPPORTED = ("3.12", "3.11", "3.13")
"""Versions of Python that the pinned wheels exist for, best first."""

CMAKE_AT_LEAST = (3, 20)
_PROBE_SECONDS = 20

_PROBE = """
import importlib.util, json, os, sys, sysconfig
print(json.dumps({
    "executable": sys.executable,
    "version": "%d.%d" % sys.version_info[:2],
    "venv": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
    "header": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
}))
"""


class Interpreter(NamedTuple):
    """What one Python interpreter offers."""

    executable: str
    version: str
    venv: bool
    header: bool


class Missing(NamedTuple):
    """A part that is not there, and the Debian packages that bring it."""

    name: str
    packages: str

    def __str__(self) -> str:
        """One line for the person who builds."""
        sudo = "" if os.geteuid() == 0 else "sudo "
        return f"missing: {self.name}; install it with: {sudo}apt-get install {self.packages}"


def probe(command: str) -> Optional[Interpreter]:
    """What the interpreter called ``command`` offers; ``None`` where there is none, or it does not start."""
    found = shutil.which(command)
    if found is None:
        return None
    try:
        answer = subprocess.run(
            [found, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return Interpreter(**json.loads(answer.stdout))


def python_of_ros(prefix: Path) -> Optional[str]:
    """The version of Python that the ROS install at ``prefix`` was built for."""
    for package in sorted(prefix.glob("lib/python3.*/site-packages/rclpy")):
        return package.parents[1].name[len("python") :]
    return None


def find_python(versions: Iterable[str], wanted: Optional[str]) -> Optional[Interpreter]:
    """The interpreter ``wanted``, else the first one there is of ``versions``."""
    versions = tuple(versions)
    for command in (wanted,) if wanted else (*(f"python{version}" for version in versions), "python3"):
        interpreter = probe(command)
        if interpreter is not None and interpreter.version in versions:
            return interpreter
    return None


def missing_of_python(interpreter: Optional[Interpreter], versions: Iterable[str]) -> Iterator[Missing]:
    """What the chosen Python lacks."""
    if interpreter is None:
        yield Missing(f"Python {' or '.join(sorted(versions))}", "python3 python3-venv python3-dev")
        return
    if not interpreter.venv:
        yield Missing(f"venv of Python {interpreter.version}", f"python{interpreter.version}-venv")
    if not interpreter.header:
        yield Missing(f"C headers of Python {interpreter.version}", f"python{interpreter.version}-dev")


def missing_compilers() -> Iterator[Missing]:
    """The C and C++ compilers that CMake would not find."""
    for name, variable, commands in (
        ("C compiler", "CC", ("cc", "gcc", "clang")),
        ("C++ compiler", "CXX", ("c++", "g++", "clang++")),
    ):
        candidates = (os.environ[variable].split()[0],) if os.environ.get(variable, "").strip() else commands
        if not any(map(shutil.which, candidates)):
            yield Missing(name, "build-essential")


def missing_cmake() -> Iterator[Missing]:
    """CMake, where it is absent or too old."""
    needed = ".".join(map(str, CMAKE_AT_LEAST))
    if shutil.which("cmake") is None:
        yield Missing(f"cmake {needed} or newer", "cmake")
        return
    answer = subprocess.run(["cmake", "--version"], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False)
    found = re.search(r"(\d+)\.(\d+)", answer.stdout)
    if found is None or tuple(map(int, found.groups())) < CMAKE_AT_LEAST:
        yield Missing(f"cmake {needed} or newer (here: {found.group() if found else 'unknown'})", "cmake")


def loads(library: str) -> bool:
    """Whether the dynamic linker finds ``library``."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing_renderer() -> Iterator[Missing]:
    """EGL or OSMesa: MuJoCo draws the robot's camera images with one of them, without a screen."""
    if not (loads("libEGL.so.1") and loads("libOpenGL.so.0")) and not any(
        map(loads, ("libOSMesa.so.8", "libOSMesa.so.6"))
    ):
        yield Missing("EGL or OSMesa library", "libegl1 libgl1")


def main(arguments: Optional[list[str]] = None) -> int:
    """Print the interpreter to use and return 0, or say what is missing and return 2."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ros", type=Path, help="prefix of the ROS install to build on")
    parser.add_argument("--python", help="interpreter to use instead of the first supported one")
    options = parser.parse_args(arguments)

    of_ros = python_of_ros(options.ros) if options.ros else None
    versions = (of_ros,) if of_ros else SUPPORTED
    interpreter = find_python(versions, options.python)
    missing = [
        *missing_of_python(interpreter, versions),
        *missing_compilers(),
        *missing_cmake(),
        *missing_renderer(),
    ]
    for part in missing:
        print(part, file=sys.stderr)
    if interpreter is None or missing:
        return 2
    print(interpreter.executable)
    return 0


if __name__ == "__main__":
    sys.exit(main())
