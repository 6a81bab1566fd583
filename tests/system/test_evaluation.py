"""Runs of many episodes: whatever is killed on the way, the result is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

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


def workers_of(pid: int) -> list[int]:
    """Processes that ``pid`` started."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.timeout(900)
def test_killed_three_times_and_resumed_it_ends_with_the_same_numbers(tmp_path: Path) -> None:
    with homie(*begin(tmp_path, "calm"), log=tmp_path / "calm.log") as process:
        assert process.wait(DEADLINE) == 0, (tmp_path / "calm.log").read_text()

    run = tmp_path / "rough"
    with homie(*begin(tmp_path, "rough"), log=tmp_path / "rough_1.log") as process:
        wait_for(lambda: done(run) >= 2, "the first episodes")
        worker = workers_of(process.pid)[0]
        os.kill(worker, signal.SIGKILL)  # one worker
        wait_for(lambda: done(run) >= 6, "episodes after a worker's death")
        workers = workers_of(process.pid)
        os.kill(process.pid, signal.SIGKILL)  # the parent
        process.wait()
        wait_for(lambda: not any(map(is_alive, workers)), "the workers to follow their parent")
    with homie("eval", "--resume", str(run), log=tmp_path / "rough_2.log") as process:
        before = done(run)
        wait_for(lambda: done(run) >= before + 3, "episodes after the first resume")
        workers = workers_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C
        assert process.wait(60) == 130
        assert not any(map(is_alive, workers))
    assert f"homie eval --resume {run}" in (tmp_path / "rough_2.log").read_text()
    with homie("eval", "--resume", str(run), log=tmp_path / "rough_3.log") as process:
        assert process.wait(DEADLINE) == 0, (tmp_path / "rough_3.log").read_text()

    assert done(run) == EPISODES
    assert (run / "metrics.csv").read_text() == (tmp_path / "calm" / "metrics.csv").read_text()
    assert len(list(run.glob("episodes/*/*/*/report.html"))) == EPISODES
    assert f'href="episodes/expert/33_apple_to_sofa/trial{TRIALS}/report.html"' in (run / "report.html").read_text()
    with RunStore(run / "run.sqlite") as store:
        tries = [record.tries for record in store.records()]
    assert 1 <= sum(tries) <= 3  # the killed worker's episode, and those that the killed parent's workers were at


@pytest.mark.timeout(300)
def test_two_processes_never_work_on_one_run(tmp_path: Path) -> None:
    with homie(*begin(tmp_path, "run"), log=tmp_path / "first.log") as process:
        wait_for(lambda: done(tmp_path / "run") >= 1, "the first episode")
        second = subprocess.run(
            [sys.executable, "-m", "homie_bringup.cli", "eval", "--resume", str(tmp_path / "run")],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert second.returncode == 2
        (line,) = second.stderr.splitlines()
        assert f"being worked on by process {process.pid}" in line
        again = subprocess.run(
            [sys.executable, "-m", "homie_bringup.cli", *begin(tmp_path, "run")],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert again.returncode == 2
        assert "exists" in again.stderr


@pytest.mark.timeout(300)
def test_a_worker_that_grows_is_replaced_and_the_run_goes_on(tmp_path: Path) -> None:
    arguments = (
        *("eval", "emmoe", "--skills", "oracle", "--tasks", "100", "--trials", "3", "--workers", "1"),
        *("--worker-memory", "200", "--runs", str(tmp_path), "--name", "run"),  # less than a worker has at its start
    )
    with homie(*arguments, log=tmp_path / "log") as process:
        assert process.wait(DEADLINE) == 0, (tmp_path / "log").read_text()
    assert done(tmp_path / "run") == 3
    assert len(list((tmp_path / "run" / "log").glob("worker_*.log"))) >= 3
