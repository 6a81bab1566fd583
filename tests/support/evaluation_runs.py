"""Runs of many instant episodes through ``homie eval``, as a user starts them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from homie_eval.runs.store import RunStore, State

TASKS, TRIALS = "33,39,57,84,5,12,30", 3
EPISODES = 7 * TRIALS
DEADLINE = 200.0


@contextmanager
def homie(*arguments: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command in the background, in a session of its own as a terminal's job is."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "homie_bringup.cli", *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def begin(runs: Path, name: str, *options: str) -> tuple[str, ...]:
    rates = ("--success-rates", "go_to=0.8,pick=0.6,put=0.7")
    return (
        *("eval", "emmoe", "--skills", "oracle", *rates, "--tasks", TASKS, "--trials", str(TRIALS), "--seed", "3"),
        *("--runs", str(runs), "--name", name, *options),
    )


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE:g} s for {what}"
        time.sleep(0.05)


def done(folder: Path) -> int:
    if not (folder / "run.sqlite").is_file():
        return 0
    with RunStore(folder / "run.sqlite") as store:
        return store.counts()[State.DONE]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
