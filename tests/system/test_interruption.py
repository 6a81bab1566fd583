"""Ctrl-C and dying nodes: nothing is left running, and what was recorded still scores."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from homie_core.episode import Outcome
from homie_eval.bag import read_bag
from support.system_support import alive, clean_environment, demo_command, only_run


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], check=False, capture_output=True, text=True)
    return [int(line) for line in listed.stdout.split()]


@contextmanager
def _running(runs: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A demo that has finished its second step."""
    process = subprocess.Popen(
        demo_command(runs, "--video-fps", "0", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**clean_environment(), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("(2)"):
                break
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("layout", [[], ["--processes"]], ids=["composed", "processes"])
def test_ctrl_c(layout: list[str], tmp_path: Path) -> None:
    with _running(tmp_path, *layout) as process:
        nodes = _children(process.pid)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 130, output
    assert not any(map(alive, nodes))
    bag = only_run(tmp_path) / "bag"
    (trajectory,) = read_bag(bag).trajectories
    assert len(trajectory.steps) >= 2
    assert trajectory.result is not None
    assert trajectory.result.outcome is Outcome.CANCELLED
    score = subprocess.run(
        [sys.executable, "-m", "homie_bringup.cli", "score", str(bag)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert score.returncode == 0, score.stderr
    assert "TP" in score.stdout


@pytest.mark.parametrize("victim", ["m3_node", "mujoco_bridge_node", "planner_node", "monitor_node", "executor_node"])
def test_a_node_that_dies(victim: str, tmp_path: Path) -> None:
    with _running(tmp_path, "--processes") as process:
        nodes = _children(process.pid)
        (pid,) = [node for node in nodes if f"/{victim}\0" in Path(f"/proc/{node}/cmdline").read_text()]
        began = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        output, _ = process.communicate(timeout=90)
        assert time.monotonic() - began < 60
        assert process.returncode == 1, output
    assert not any(map(alive, nodes))
    (trajectory,) = read_bag(only_run(tmp_path) / "bag").trajectories
    assert trajectory.result is not None
    assert trajectory.result.outcome is Outcome.INFRASTRUCTURE_FAILURE
    assert trajectory.result.cause
    assert "\n" not in trajectory.result.cause
