"""``homie doctor``: is this machine ready, and what do the houses look like and hold?

It looks at what a run needs, draws a contact sheet of every house and of every object, and lists what each house holds.
What may be missing is imported where it is looked at, so that a bare machine gets a report and not a traceback.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from homie_sim.house_files import HouseError, house_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from homie_sim.house import House

PYTHON_VERSIONS = ("3.11", "3.12", "3.13")

DISTRIBUTIONS = ("mujoco", "numpy", "opencv-python-headless", "gymnasium-robotics", "mink", "av", "pydantic")
"""Libraries whose versions matter when somebody reports a fault."""

FETCH, RENDERING = "Fetch", "rendering"

_ROS_WHEEL = "ros-jazzy-rclpy"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: what was found, and, if it will not do, what helps."""

    name: str
    fine: bool
    found: str
    remedy: str = ""


class DoctorError(ValueError):
    """The folder for the sheets cannot be used. One line."""


def run_doctor(out: Path, console: Console) -> int:
    """Look at everything, print it, and write the sheets into ``out``.

    Returns:
        The exit code: 0 all is well, 1 something is missing.

    Raises:
        DoctorError: ``out`` cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DoctorError(f"out: {out} cannot be made a folder: {error.strerror}") from error
    findings = list(_report(_machine(), console))
    missing = {finding.name for finding in findings if not finding.fine}
    if not missing.intersection((*DISTRIBUTIONS, FETCH)):
        findings += _look_at_houses(out, console, draw=RENDERING not in missing)
    failed = [finding.name for finding in findings if not finding.fine]
    console.print(
        f"\nmissing: {', '.join(failed)}" if failed else f"\nall is well; sheets are in {out}", soft_wrap=True
    )
    return 1 if failed else 0


def _look_at_houses(out: Path, console: Console, *, draw: bool) -> list[Finding]:
    findings: list[Finding] = []
    houses: list[House] = []
    for name in house_names():
        finding, house = check_house_file(name)
        findings += _report([finding], console)
        if house is not None:
            houses.append(house)
    if draw:
        findings += _report(_sheets(houses, out), console)
    for house in houses:
        console.print(f"\n{escape(contents(house))}", highlight=False, soft_wrap=True)
    return findings


def _report(findings: Iterable[Finding], console: Console) -> Iterator[Finding]:
    """Print each finding as soon as it is known."""
    for finding in findings:
        mark = "[green]ok[/]     " if finding.fine else "[red]missing[/]"
        remedy = f"; {finding.remedy}" if finding.remedy else ""
        console.print(f"{mark} {escape(f'{finding.name}: {finding.found}{remedy}')}", highlight=False, soft_wrap=True)
        yield finding


# --- the machine


def _machine() -> Iterator[Finding]:
    yield check_python()
    yield check_ros()
    yield check_messages()
    yield from check_libraries()
    yield check_robot()
    yield check_rendering()


def check_python(version: str = "") -> Finding:
    """The interpreter; ``version`` instead of the one that runs, for tests."""
    version = version or platform.python_version()
    supported = version.rpartition(".")[0] in PYTHON_VERSIONS
    remedy = "" if supported else f"needed: {', '.join(PYTHON_VERSIONS)}; make distclean && make PYTHON=python3.12"
    return Finding("Python", supported, f"{version} at {sys.executable}", remedy)


def check_ros() -> Finding:
    """The ROS client library, and where it comes from: wheels or an install."""
    spec = importlib.util.find_spec("rclpy")
    if spec is None or spec.origin is None:
        return Finding("ROS", False, "no rclpy", "run make, and start through the homie command")
    try:
        found = f"wheels, {_ROS_WHEEL} {importlib.metadata.version(_ROS_WHEEL)}"
    except importlib.metadata.PackageNotFoundError:
        found = f"install at {Path(spec.origin).parent}"
    return _tried(
        "ROS", found, "run make, and start through the homie command", lambda: importlib.import_module("rclpy")
    )


def check_messages() -> Finding:
    """The project's messages, built and loadable."""
    spec = importlib.util.find_spec("homie_msgs")
    if spec is None or spec.origin is None:
        return Finding("messages", False, "homie_msgs is not built", "run make")
    place = str(Path(spec.origin).parent)
    return _tried("messages", place, "run make", lambda: importlib.import_module("homie_msgs.msg"))


def check_libraries() -> Iterator[Finding]:
    """Versions of the libraries that matter."""
    for name in DISTRIBUTIONS:
        try:
            yield Finding(name, True, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, False, "not installed", "run make")


def check_robot() -> Finding:
    """The Fetch's meshes."""
    from homie_core import fetch

    try:
        meshes = fetch.mesh_assets()
    except FileNotFoundError as error:
        return Finding(FETCH, False, "no meshes", str(error))
    return Finding(FETCH, bool(meshes), f"{len(meshes)} meshes")


def check_rendering() -> Finding:
    """Whether a picture can be drawn, with which backend, on which renderer."""
    try:
        # RuntimeError: GraphicsError, maybe already on import, or RenderError.
        from homie_sim.gl import choose_backend
        from homie_sim.rendering import renderer_name

        return Finding(RENDERING, True, f"{choose_backend()}, {renderer_name()}")
    except (ImportError, RuntimeError) as error:
        return Finding(RENDERING, False, "no pictures", " ".join(str(error).split()))


def _tried(name: str, found: str, remedy: str, load: Callable[[], object]) -> Finding:
    try:
        load()
    except (ImportError, OSError) as error:
        return Finding(name, False, f"{found} does not load ({' '.join(str(error).split())})", remedy)
    return Finding(name, True, found)


# --- houses


def check_house_file(name: str) -> tuple[Finding, House | None]:
    """Whether a built-in house is as it must be."""
    from homie_sim.house import load_house

    try:
        house = load_house(name)
    except HouseError as error:
        return Finding(name, False, "refused", str(error)), None
    count = f"{len(house.rooms)} rooms, {len(house.furniture)} pieces of furniture, {len(house.objects)} objects"
    return Finding(name, True, count), house


def contents(house: House) -> str:
    """What a house holds, line by line: rooms with their furniture, and the objects on and in each piece."""
    lines = [f"{house.name}:"]
    placed: dict[str, list[str]] = {}
    for entry in house.objects:
        placed.setdefault(entry.on, []).append(entry.object)
    for room in house.rooms:
        level = f", {room.level:.2f} m up" if room.level else ""
        lines.append(f"  {room.id} ({room.x[1] - room.x[0]:.1f} x {room.y[1] - room.y[0]:.1f} m{level})")
        for piece in house.furniture:
            if not room.holds((*piece.at, *piece.at)):
                continue
            lines.append(f"    {_described(house, piece.id, piece.type)}{_listed(placed.get(piece.id))}")
            lines += [
                f"      {_described(house, container, '')}{_listed(placed.get(container))}"
                for container in piece.container_ids()
                if container != piece.id
            ]
    return "\n".join(lines)


def _described(house: House, id: str, kind: str) -> str:
    words = [word for word in (kind if kind != id else "", "open" if id in house.open else "") if word]
    piece = house.furniture_named(id)
    if piece is not None and getattr(piece, "on", False):
        words.append("on")
    return f"{id} ({', '.join(words)})" if words else id


def _listed(objects: list[str] | None) -> str:
    return f": {', '.join(objects)}" if objects else ""


# --- sheets


def _sheets(houses: Iterable[House], out: Path) -> Iterator[Finding]:
    from homie_sim.contact_sheet import house_sheet, object_sheet
    from homie_sim.world import MujocoWorld

    for house in houses:
        world = MujocoWorld(house, render=True)
        try:
            yield _written(out / f"{house.name}.png", house_sheet(world))
        finally:
            world.close()
    yield _written(out / "objects.png", object_sheet())


def _written(path: Path, picture: NDArray[np.uint8]) -> Finding:
    """Write a sheet, RGB (height, width, 3)."""
    import cv2

    written = cv2.imwrite(str(path), cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    return Finding(f"sheet {path.name}", written, str(path) if written else f"{path} cannot be written")
