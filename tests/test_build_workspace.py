"""How the workspace is built: on wheels or on a ROS install, and the commands that come out."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import build_workspace
import pytest

ROOT = Path(__file__).resolve().parents[1]
STAND_INS = {"control_msgs", "nav2_msgs", "tf2_msgs"}


def _ros_prefix(folder: Path, *packages: str) -> Path:
    """A folder that looks like a ROS install with the given packages."""
    for package in packages:
        (folder / "share" / package).mkdir(parents=True)
        (folder / "share" / package / "package.xml").touch()
    return folder


def _make(*arguments: str, environment: Mapping[str, str]) -> str:
    """What make would do."""
    outside = {name: value for name, value in os.environ.items() if not re.match("ROS_|AMENT_|MAKE|MFLAGS", name)}
    command = ["make", "--dry-run", "--always-make", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**outside, **environment}, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_stand_ins_are_built_only_where_the_real_ones_are_absent(tmp_path: Path) -> None:
    names = {package.name for package in build_workspace.stand_ins_needed([tmp_path])}
    assert names == STAND_INS
    prefix = _ros_prefix(tmp_path, "nav2_msgs", "tf2_msgs")
    assert [package.name for package in build_workspace.stand_ins_needed([prefix])] == ["control_msgs"]


def test_wheels_leave_out_what_the_caller_has_sourced() -> None:
    caller = {"PATH": "/bin", "PYTHONPATH": "/opt/ros/humble/lib", "AMENT_PREFIX_PATH": "/opt/ros/humble", "LANG": "C"}
    environment = build_workspace.build_environment(caller, wheels=True)
    assert environment["AMENT_PREFIX_PATH"] == str(build_workspace.VENV)
    assert environment["LANG"] == "C"
    assert "PYTHONPATH" not in environment


def test_a_ros_install_is_taken_as_sourced_but_for_the_workspace_itself() -> None:
    caller = {"PATH": "/bin", "AMENT_PREFIX_PATH": f"{build_workspace.INSTALL}:/opt/ros/jazzy", "PYTHONPATH": "/p"}
    environment = build_workspace.build_environment(caller, wheels=False)
    assert environment["AMENT_PREFIX_PATH"] == "/opt/ros/jazzy"
    assert environment["PYTHONPATH"] == "/p"


@pytest.mark.parametrize("wheels", [True, False])
def test_workarounds_for_wheels_stay_away_from_a_ros_install(wheels: bool) -> None:
    command = build_workspace.colcon_command([], wheels=wheels)
    assert any("ros_wheels.cmake" in argument for argument in command) == wheels


def test_commands_run_from_anywhere_and_keep_what_the_caller_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(build_workspace, "VENV", tmp_path)
    build_workspace.write_commands({"PYTHONPATH": "/with space/a:/b", "ROS_DISTRO": "jazzy"})
    done = subprocess.run(
        [tmp_path / "bin" / "homie-env", "sh", "-c", 'echo "$PYTHONPATH|$ROS_DISTRO|$1"', "sh", "an argument"],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "/mine", "ROS_DISTRO": "humble"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "/with space/a:/b:/mine|jazzy|an argument\n"
    assert "-m homie_bringup.cli" in (tmp_path / "bin" / "homie").read_text()


def test_make_takes_wheels_where_nothing_is_sourced() -> None:
    plan = _make("build", environment={})
    assert "requirements/ros.txt" in plan
    assert "--ros" not in plan


def test_make_builds_on_a_sourced_ros_install(tmp_path: Path) -> None:
    prefix = _ros_prefix(tmp_path, "rclpy")
    sourced = {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": f"/elsewhere:{prefix}"}
    plan = _make("build", environment=sourced)
    assert "requirements/ros.txt" not in plan
    assert f"build_workspace.py --ros {prefix}" in plan
    assert "requirements/ros.txt" in _make("build", environment={**sourced, "ROS_DISTRO": "humble"})


def test_make_help_lists_every_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    listed = re.findall(r"^ *make ([a-z-]+)(?!\S)", done.stdout, flags=re.MULTILINE)
    phony = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[0].split()
    assert sorted(listed) == sorted(set(phony) - {"dev", "always"})
