"""The floors: a package imports only from floors below its own, and its package.xml says what it imports."""

from __future__ import annotations

import ast
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FLOORS = {
    "homie_core": 1,
    "homie_msgs": 1,
    "homie_eval": 2,
    "homie_ros": 2,
    "homie_planner": 3,
    "homie_skills": 3,
    "homie_monitor": 3,
    "homie_referee": 3,
    "homie_sim": 3,
    "homie_bringup": 4,
}

WITHOUT_ROS = ("homie_core", "homie_eval")
"""These run on machines, and in programs, that have no ROS."""

_ROS_PACKAGES = {"rclpy", "launch", "launch_ros", "ament_index_python", "std_srvs", "builtin_interfaces"}


@dataclass(frozen=True)
class Import:
    """One import in one source file."""

    package: str
    file: Path
    line: int

    def __str__(self) -> str:
        """Where it stands, as editors understand it."""
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.package}"


@cache
def _folders() -> dict[str, Path]:
    """The folder of each package: the one that its package.xml is in."""
    manifests = [*ROOT.glob("*/package.xml"), *ROOT.glob("ros_ws/src/*/package.xml")]
    return {str(ET.parse(manifest).findtext("name")): manifest.parent for manifest in manifests}


def _imports(source: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(source.read_text(), str(source))):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name.partition(".")[0], source, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield Import(node.module.partition(".")[0], source, node.lineno)


@cache
def _package_imports(package: str) -> tuple[Import, ...]:
    """Every import in the Python module tree and the launch files of a package, those inside functions too."""
    sources = sorted([*_folders()[package].glob(f"{package}/**/*.py"), *_folders()[package].glob("launch/*.py")])
    return tuple(found for source in sources for found in _imports(source))


@cache
def _started(package: str) -> set[str]:
    """The packages that a package names in a string: those whose nodes it starts."""
    trees = (ast.parse(source.read_text()) for source in _folders()[package].glob(f"{package}/**/*.py"))
    constants = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {name for name in FLOORS if name in constants}


def _is_ros(package: str) -> bool:
    return package in _ROS_PACKAGES or package.endswith(("_msgs", "_interfaces"))


def _declared(package: str) -> set[str]:
    root = ET.parse(_folders()[package] / "package.xml").getroot()
    return {str(element.text) for element in root if element.tag in ("depend", "exec_depend")}


PYTHON_PACKAGES = sorted(set(_folders()) - {"homie_msgs"})


def test_every_package_has_a_floor() -> None:
    assert set(_folders()) <= set(FLOORS)


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_imports_go_downwards(package: str) -> None:
    upwards = [
        found
        for found in _package_imports(package)
        if found.package in FLOORS and found.package != package and FLOORS[found.package] >= FLOORS[package]
    ]
    assert not upwards, "\n".join(map(str, upwards))


@pytest.mark.parametrize("package", WITHOUT_ROS)
def test_no_ros_where_none_is_needed(package: str) -> None:
    ros = [found for found in _package_imports(package) if _is_ros(found.package) or found.package == "homie_ros"]
    assert not ros, "\n".join(map(str, ros))


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_package_xml_names_what_is_used(package: str) -> None:
    imported = {
        found.package for found in _package_imports(package) if found.package in FLOORS or _is_ros(found.package)
    } - {package}
    declared = _declared(package)
    assert imported <= declared, f"not in package.xml: {sorted(imported - declared)}"
    unused = {name for name in declared if name in FLOORS} - imported - _started(package)
    assert not unused, f"in package.xml, but never used: {sorted(unused)}"
