"""Build the colcon workspace on the virtual environment this runs in, and write the commands that use it.

    .venv/bin/python ros_ws/build_workspace.py [--ros /opt/ros/jazzy]

Without ``--ros`` the virtual environment holds ROS 2 as wheels and is itself the ament prefix to build on. With it, the
ROS install whose setup file the caller has sourced is. Either way the result is ``ros_ws/install`` and, in the ``bin``
folder of the virtual environment:

    homie-env COMMAND ...    runs any command in the environment of the workspace, with nothing sourced before
    homie ...                the homie command, likewise
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

WORKSPACE = Path(__file__).resolve().parent
INSTALL = WORKSPACE / "install"
STAND_INS = WORKSPACE / "stand_ins"
VENV = Path(sys.prefix)

_ROS_VARIABLES = ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "LD_LIBRARY_PATH", "PYTHONPATH")
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_NOT_RECORDED = {"_", "OLDPWD", "PWD", "SHLVL"}


def _join(*parts: str | Path) -> str:
    return os.pathsep.join(str(part) for part in parts if str(part))


def wheels_setup() -> dict[str, str]:
    """The environment in which ROS from wheels works: the variables and the entries that they need.

    The wheels would otherwise restart each interpreter once, to set the library path themselves.
    """
    site_packages = Path(sysconfig.get_path("purelib"))
    return {
        "AMENT_PREFIX_PATH": str(VENV),
        "CMAKE_PREFIX_PATH": str(VENV),
        "LD_LIBRARY_PATH": _join(VENV / "lib", *sorted(site_packages.glob("ros_*.libs"))),
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
    }


def build_environment(caller: Mapping[str, str], *, wheels: bool) -> dict[str, str]:
    """The environment to run colcon in.

    Args:
        caller: the environment of the caller.
        wheels: ROS comes from wheels; what the caller has sourced is then left out.
    """
    environment = {name: value for name, value in caller.items() if name not in _ROS_VARIABLES}
    if wheels:
        environment |= wheels_setup()
    else:
        # A workspace that is sourced while it is built would overlay itself.
        environment |= {name: _without_own(caller[name]) for name in _ROS_VARIABLES if name in caller}
    environment["PATH"] = _join(VENV / "bin", caller.get("PATH", _SYSTEM_PATH))
    cores = len(os.sched_getaffinity(0))
    environment["MAKEFLAGS"] = (
        f"-j{cores}"  # else colcon adds -l, and one other busy program makes the build sequential
    )
    environment["CMAKE_BUILD_PARALLEL_LEVEL"] = str(cores)
    environment["PYTHONWARNINGS"] = "ignore"  # setuptools tells users of its commands, thus of colcon, to go elsewhere
    return environment


def _without_own(paths: str) -> str:
    return _join(*(path for path in paths.split(os.pathsep) if not Path(path).is_relative_to(WORKSPACE)))


def stand_ins_needed(prefixes: Iterable[Path]) -> list[Path]:
    """The folders of the stand-in packages whose real package is in none of the ament prefixes."""
    prefixes = tuple(prefixes)
    return [
        package
        for package in sorted(path.parent for path in STAND_INS.glob("*/package.xml"))
        if not any((prefix / "share" / package.name / "package.xml").is_file() for prefix in prefixes)
    ]


def colcon_command(stand_ins: Iterable[Path], *, wheels: bool) -> list[str]:
    """The command line that builds the packages of ``colcon_defaults.yaml`` and the given stand-ins."""
    defaults = yaml.safe_load((WORKSPACE / "colcon_defaults.yaml").read_text())
    paths = [*defaults["build"]["base-paths"], *map(str, stand_ins)]
    cmake = [
        "-GNinja",
        "-DBUILD_TESTING=OFF",
        f"-DPython3_EXECUTABLE={sys.executable}",
        "-DPython3_FIND_VIRTUALENV=ONLY",
    ]
    if wheels:
        cmake.append(f"-DCMAKE_PROJECT_INCLUDE={WORKSPACE / 'cmake' / 'ros_wheels.cmake'}")
    return [str(VENV / "bin" / "colcon"), "build", "--base-paths", *paths, "--cmake-args", *cmake]


def write_underlay_setup() -> None:
    """Make the virtual environment a prefix that ``install/setup.bash`` chains, as it does for a ROS install."""
    lines = ["# Sourced by the setup files of workspaces built on this prefix. Written by build_workspace.py."]
    lines += [_prepend(name, value) for name, value in wheels_setup().items()]
    lines.append(_prepend("PATH", str(VENV / "bin")))
    for shell in ("sh", "bash", "zsh"):
        (VENV / f"local_setup.{shell}").write_text("\n".join(lines) + "\n")


def workspace_setup(base: Mapping[str, str]) -> dict[str, str]:
    """What sourcing ``install/setup.bash`` adds to the environment ``base``: recorded once, for it takes long."""
    dump = subprocess.run(
        ["bash", "-c", f"source {shlex.quote(str(INSTALL / 'setup.bash'))} && env -0"],
        env=dict(base),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    variables = dict(entry.split("=", 1) for entry in dump.split("\0") if entry)
    setup = {
        name: value
        for name, value in sorted(variables.items())
        if name not in _NOT_RECORDED and base.get(name) != value
    }
    known = {str(VENV / "bin"), *base["PATH"].split(os.pathsep)}
    added = (path for path in setup.get("PATH", "").split(os.pathsep) if path not in known)
    return setup | {"PATH": _join(VENV / "bin", *added)}


def _prepend(name: str, value: str) -> str:
    """A line of shell that sets a variable; in a variable that holds paths the caller's own entries stay, behind."""
    rest = f"${{{name}:+:${name}}}" if name.endswith("PATH") else ""
    return f"export {name}={shlex.quote(value)}{rest}"


def write_commands(setup: Mapping[str, str]) -> None:
    """Write ``homie-env`` and ``homie`` into the virtual environment."""
    environment_command = VENV / "bin" / "homie-env"
    lines = [
        "#!/bin/sh",
        "# Runs a command in the environment of the workspace. Written by build_workspace.py.",
        *(_prepend(name, value) for name, value in setup.items()),
        'exec "$@"',
    ]
    _write_script(environment_command, lines)
    python = shlex.join([str(environment_command), str(VENV / "bin" / "python"), "-P", "-m", "homie_bringup.cli"])
    _write_script(VENV / "bin" / "homie", ["#!/bin/sh", f'exec {python} "$@"'])


def _write_script(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o755)


def main() -> int:
    """Build; return the exit code of colcon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ros", type=Path, help="prefix of the ROS install to build on; its setup file is sourced")
    wheels = parser.parse_args().ros is None

    environment = build_environment(os.environ, wheels=wheels)
    if wheels:
        write_underlay_setup()
    stand_ins = stand_ins_needed(map(Path, environment["AMENT_PREFIX_PATH"].split(os.pathsep)))
    command = colcon_command(stand_ins, wheels=wheels)
    code = subprocess.run(command, cwd=WORKSPACE, env=environment, check=False).returncode
    if code == 0:
        # The chain of prefixes is in the setup file already; only the shell's own basics are taken from outside.
        write_commands(workspace_setup({"PATH": _SYSTEM_PATH, "HOME": str(Path.home())}))
    return code


if __name__ == "__main__":
    sys.exit(main())
