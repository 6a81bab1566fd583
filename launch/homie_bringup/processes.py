"""One process per node, as a launch file would start them, for machines without ``ros2 launch``."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import yaml
from ament_index_python.packages import get_package_prefix

from homie_bringup.graph import NodeSpec

STOP_SECONDS = 10.0
"""How long a node may take to stop on SIGINT before it is killed."""


class Processes:
    """Starts every node of a graph in its own process and stops them all, whatever happens."""

    def __init__(self, specs: Sequence[NodeSpec], domain: int, log: Path) -> None:
        """``log`` is a folder: each node's parameters and output go there."""
        self._specs = specs
        self._domain = domain
        self._log = log
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        self._log.mkdir(parents=True, exist_ok=True)
        try:
            for spec in self._specs:
                self._children[spec.name] = self._start(spec)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *details: object) -> None:
        self._stop()

    def failure(self) -> str:
        """The first node that is no longer running, with the last line it wrote; empty while all run."""
        for name, child in self._children.items():
            code = child.poll()
            if code is not None:
                return f"node {name} stopped with exit code {code}: {self._last_line(name)}"
        return ""

    def pids(self) -> dict[str, int]:
        """Process id of each node."""
        return {name: child.pid for name, child in self._children.items()}

    def _start(self, spec: NodeSpec) -> subprocess.Popen[bytes]:
        parameters = self._log / f"{spec.name}.yaml"
        parameters.write_text(yaml.safe_dump({spec.name: {"ros__parameters": spec.parameters}}), encoding="utf-8")
        command = [*dying_with_parent(), str(program(spec)), "--ros-args", "-r", f"__node:={spec.name}"]
        if spec.parameters:
            command += ["--params-file", str(parameters)]
        with (self._log / f"{spec.name}.log").open("wb") as output:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "ROS_DOMAIN_ID": str(self._domain)},
                # A session of its own keeps the terminal's Ctrl-C away: the parent stops the nodes in order.
                start_new_session=True,
            )

    def _stop(self) -> None:
        """All but the first at once, then the first: see `homie_bringup.graph`."""
        children = list(self._children.values())
        _end(children[1:])
        _end(children[:1])

    def _last_line(self, name: str) -> str:
        lines = (self._log / f"{name}.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"


def program(spec: NodeSpec) -> Path:
    """Where ament finds the node's program, as ``ros2 run`` does.

    Raises:
        PackageNotFoundError: the workspace is not built, or not sourced.
    """
    return Path(get_package_prefix(spec.package)) / "lib" / spec.package / spec.executable


def _end(children: Sequence[subprocess.Popen[bytes]]) -> None:
    """Interrupt these processes, and kill those that do not stop in time."""
    for child in children:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def dying_with_parent() -> list[str]:
    """The command prefix with which a node whose parent was killed gets SIGTERM instead of living on (Linux)."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []
