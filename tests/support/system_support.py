"""Whole runs through the ``homie`` command, as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DEMO_SECONDS = 300


@dataclass(frozen=True)
class Finished:
    """A finished run: exit code, what it printed, and the folder it left."""

    code: int
    output: str
    folder: Path


def demo_command(runs: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "homie_bringup.cli", "demo", "--runs", str(runs), *arguments]


def clean_environment() -> dict[str, str]:
    """Without ROS_DOMAIN_ID, so that a run takes a domain of its own as it does for a user."""
    return {name: value for name, value in os.environ.items() if name != "ROS_DOMAIN_ID"}


def alive(pid: int) -> bool:
    """Whether there is a process with this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def only_run(runs: Path) -> Path:
    (folder,) = runs.iterdir()
    return folder


def run_demo(runs: Path, *arguments: str, domain: int | None = None) -> Finished:
    """A whole run, in the ROS domain ``domain`` or one of its own."""
    domains = {} if domain is None else {"ROS_DOMAIN_ID": str(domain)}
    done = subprocess.run(
        demo_command(runs, *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=DEMO_SECONDS,
        env=clean_environment() | domains,
    )
    return Finished(done.returncode, done.stdout, only_run(runs))
