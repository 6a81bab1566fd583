"""``homie eval``: many episodes, by several workers, that goes on where it was stopped.

The parent runs no episode. It starts the workers, replaces those that die, shows how far the run is, and ends when no
episode is left. All that is known of the run is in its file, so nothing is lost with any process.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from homie_bringup.episode_client import EPISODE_SECONDS
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import DEFAULT_TRIES, RunStore, State

STUCK_SECONDS = EPISODE_SECONDS + 300.0
"""A worker that has been at one episode for longer than any episode may take is killed."""

CRASHES_IN_A_ROW = 3
"""Workers that die one after the other without having finished anything: the machine is broken, not an episode."""


class EvaluationError(RuntimeError):
    """The run cannot go on. One line; what was done so far is in the run's file."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. ``rate`` is in episodes a second since this start of the run, 0 at first."""

    counts: Counter[State]
    workers: int
    rate: float

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def ended(self) -> int:
        """Episodes with a terminal record."""
        return self.counts[State.DONE] + self.counts[State.FAILED]

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the remaining wall time; None as long as there is none."""
        return (self.total - self.ended) / self.rate if self.rate > 0 else None


class Workers(Protocol):
    """Those who run a run's episodes. ``len`` is the number of them that were started and have not ended."""

    @property
    def poll_seconds(self) -> float:
        """How long to wait until `take_note` is called again."""

    def __len__(self) -> int: ...

    def fill_up(self, count: int) -> None:
        """Start workers until there are ``count``."""

    def take_note(self, store: RunStore) -> None:
        """Enter into ``store`` what became of workers and episodes since the last time.

        Raises:
            EvaluationError: it makes no sense to go on.
        """

    def kill(self, names: Collection[str], seconds: float) -> None:
        """End these workers, which have been at one episode for more than ``seconds``."""

    def stop(self, store: RunStore) -> None:
        """End all workers, and give back what they were at."""


@dataclass
class Evaluation:
    """One run. ``report`` is told how far it is, several times a second."""

    folder: EvaluationFolder
    workers: Workers
    worker_count: int
    max_tries: int = DEFAULT_TRIES
    report: Callable[[Progress], None] = lambda progress: None

    def run(self, stop: threading.Event) -> Counter[State]:
        """Run every episode that has no terminal record; ``stop`` interrupts. The number of episodes in each state.

        The caller holds the folder's lock.

        Raises:
            EvaluationError: the machine does not let it go on.
        """
        with RunStore(self.folder.store) as store:
            store.release("", "the run was stopped while this episode was running", time.time(), self.max_tries)
            before = Progress(store.counts(), 0, 0.0)
            began = time.monotonic()
            try:
                while not stop.is_set():
                    counts = store.counts()
                    if not counts[State.PENDING] and not counts[State.RUNNING]:
                        break
                    self.workers.fill_up(min(self.worker_count, counts[State.PENDING] + counts[State.RUNNING]))
                    rate = (Progress(counts, 0, 0.0).ended - before.ended) / (time.monotonic() - began)
                    self.report(Progress(counts, len(self.workers), rate))
                    stop.wait(self.workers.poll_seconds)
                    self.workers.take_note(store)
                    self.workers.kill(_stuck(store), STUCK_SECONDS)
            finally:
                self.workers.stop(store)
            counts = store.counts()
            self.report(Progress(counts, 0, 0.0))
            return counts


def new_evaluation_folder(parent: Path, name: str) -> EvaluationFolder:
    """Make a folder for a new run.

    Raises:
        EvaluationError: it exists, or cannot be made.
    """
    path = parent / name
    try:
        path.mkdir(parents=True)
    except FileExistsError as error:
        raise EvaluationError(f"{path} exists; go on with it with --resume, or choose another --name") from error
    except OSError as error:
        raise EvaluationError(f"cannot make {path}: {error.strerror}") from error
    return EvaluationFolder(path.resolve())


def last_cause(store: RunStore) -> str:
    """Why the episode failed that failed last."""
    failures = [record for record in store.records() if record.cause]
    return max(failures, key=lambda record: record.since).cause if failures else "unknown"


def _stuck(store: RunStore) -> set[str]:
    now = time.time()
    return {record.worker for record in store.records([State.RUNNING]) if now - record.since > STUCK_SECONDS}
