"""The check before the build: one line for each missing part, with the command that installs it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import check_system
import pytest

WriteCommand = Callable[[str, str], Path]


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteCommand:
    """A system with nothing on the PATH but what the returned function adds."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("CXX", raising=False)

    def write_command(name: str, script: str) -> Path:
        path = bin_folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write_command


@pytest.fixture
def complete(system: WriteCommand, monkeypatch: pytest.MonkeyPatch) -> WriteCommand:
    """A system on which nothing is missing."""
    system(f"python{sys.version_info.major}.{sys.version_info.minor}", f'exec {sys.executable} "$@"')
    system("cc", "")
    system("c++", "")
    system("cmake", "echo cmake version 3.25.1")
    monkeypatch.setattr(check_system, "loads", lambda _library: True)
    monkeypatch.setattr(check_system, "missing_of_python", lambda _interpreter, _versions: iter(()))
    return system


def test_complete_system_prints_the_interpreter(complete: WriteCommand, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_system.main([]) == 0
    output = capsys.readouterr()
    assert shutil.which(output.out.strip())
    assert output.err == ""


def test_bare_system_names_every_part(
    system: WriteCommand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check_system, "loads", lambda _library: False)
    assert check_system.main([]) == 2
    lines = capsys.readouterr().err.splitlines()
    parts = (
        "Python 3.11 or 3.12 or 3.13",
        "C compiler",
        "C++ compiler",
        "cmake 3.20 or newer",
        "EGL or OSMesa library",
    )
    assert len(lines) == len(parts)
    for line, part in zip(lines, parts, strict=True):
        assert line.startswith(f"missing: {part}")
        assert "apt-get install " in line


@pytest.mark.parametrize(
    ("part", "packages"), [("cc", "build-essential"), ("c++", "build-essential"), ("cmake", "cmake")]
)
def test_one_missing_command_is_one_line(
    complete: WriteCommand, capsys: pytest.CaptureFixture[str], tmp_path: Path, part: str, packages: str
) -> None:
    (tmp_path / "bin" / part).unlink()
    assert check_system.main([]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"apt-get install {packages}")


def test_old_cmake_is_named_with_its_version(complete: WriteCommand, capsys: pytest.CaptureFixture[str]) -> None:
    complete("cmake", "echo cmake version 3.18.4")
    assert check_system.main([]) == 2
    assert "cmake 3.20 or newer (here: 3.18)" in capsys.readouterr().err


def test_either_renderer_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for present in ({"libEGL.so.1", "libOpenGL.so.0"}, {"libOSMesa.so.8"}):
        monkeypatch.setattr(check_system, "loads", present.__contains__)
        assert not list(check_system.missing_renderer())
    monkeypatch.setattr(check_system, "loads", {"libEGL.so.1"}.__contains__)
    assert list(check_system.missing_renderer())


def test_python_without_venv_or_headers() -> None:
    bare = check_system.Interpreter("/usr/bin/python3.11", "3.11", venv=False, header=False)
    packages = [part.packages for part in check_system.missing_of_python(bare, ("3.11",))]
    assert packages == ["python3.11-venv", "python3.11-dev"]


def test_an_interpreter_that_does_not_start_is_passed_over(system: WriteCommand) -> None:
    system("python3.12", "exit 127")
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    system("python3", f'exec {sys.executable} "$@"')
    found = check_system.find_python(("3.12", here), wanted=None)
    assert found is not None
    assert found.version == here


def test_a_wanted_interpreter_of_another_version_is_refused(system: WriteCommand) -> None:
    system("my-python", f'exec {sys.executable} "$@"')
    assert check_system.find_python(("2.7",), wanted="my-python") is None


def test_python_of_a_ros_install(tmp_path: Path) -> None:
    assert check_system.python_of_ros(tmp_path) is None
    (tmp_path / "lib/python3.12/site-packages/rclpy").mkdir(parents=True)
    assert check_system.python_of_ros(tmp_path) == "3.12"
