"""A worker of an evaluation: a process that takes episodes from the run's file until none is left.

Its exit code tells the parent why it stopped. A worker that is killed leaves its episode ``running`` in the file; the
parent, or the next one that goes on with the run, makes it pending again.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from enum import IntEnum
from pathlib import Path

import click

from homie_bringup.episode_runner import Attempt, EpisodeRunner
from homie_bringup.evaluation_settings import run_for
from homie_bringup.stopping import stop_on_signals
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.plan import Episode
from homie_eval.runs.store import RunStore

FAILURES_IN_A_ROW = 5
"""After as many tries that failed one after the other, it is the machine that is broken and not an episode."""

_PAGE = os.sysconf("SC_PAGE_SIZE")


class WorkerExit(IntEnum):
    """Why a worker stopped."""

    NOTHING_LEFT = 0
    RECYCLE = 75
    """It grew beyond its share of memory; a new one should take its place (sysexits' EX_TEMPFAIL)."""
    FAILURES = 76
    STOPPED = 130


def resident_megabytes() -> float:
    """Megabytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE / 1e6


def work(
    folder: EvaluationFolder, name: str, max_tries: int, max_megabytes: float, stop: threading.Event
) -> WorkerExit:
    """Take episodes and run them until none is left, or until something else ends it. ``name`` is the worker's."""
    planner = scene = ""
    failures = 0
    with RunStore(folder.store) as store, EpisodeRunner() as runner:
        while not stop.is_set():
            episode = store.claim(name, time.time(), planner, scene)
            if episode is None:
                return WorkerExit.NOTHING_LEFT
            run = run_for(store.plan, episode)
            planner, scene = episode.planner, run.task.scene
            attempt = runner.run(run, folder.episode_id(episode), folder.bag(episode), stop)
            record_attempt(store, episode, name, attempt, max_tries)
            if not attempt.cancelled:
                failures = 0 if attempt.judged else failures + 1
            if failures >= FAILURES_IN_A_ROW:
                return WorkerExit.FAILURES
            if resident_megabytes() > max_megabytes:
                return WorkerExit.RECYCLE
    return WorkerExit.STOPPED


def record_attempt(store: RunStore, episode: Episode, worker: str, attempt: Attempt, max_tries: int) -> None:
    """Enter how ``worker``'s try of ``episode`` went."""
    if attempt.cancelled:
        store.give_back(episode, worker, time.time())
    elif attempt.judged and attempt.trajectory is not None:
        store.finish(episode, attempt.trajectory, attempt.live_scores_json, time.time(), attempt.seconds)
    else:
        store.fail(episode, worker, attempt.cause, time.time(), max_tries, attempt.trajectory)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", required=True)
@click.option("--max-tries", type=int, required=True)
@click.option("--max-megabytes", type=float, required=True)
def main(folder: Path, name: str, max_tries: int, max_megabytes: float) -> None:
    """Started by `homie_bringup.local_workers`."""
    with stop_on_signals() as stop:
        sys.exit(work(EvaluationFolder(folder), name, max_tries, max_megabytes, stop))


if __name__ == "__main__":
    main()
