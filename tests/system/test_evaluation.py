"""Runs of many episodes: whatever is killed on the way, the result is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from homie_eval.runs.store import RunStore
from support.evaluation_runs import DEADLINE, EPISODES, TRIALS, begin, done, homie, is_alive, wait_for


def workers_of(pid: int) -> list[int]:
    """Processes that ``pid`` started."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


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
