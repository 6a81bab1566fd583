"""``homie eval``: many episodes on this machine, by several workers, that goes on where it was stopped.

The parent runs no episode. It starts the workers, replaces those that die, shows how far the run is, and ends when no
episode is left. All that is known of the run is in its file, so nothing is lost with any process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from homie_bringup.episode_client import EPISODE_SECONDS
from homie_bringup.evaluation_worker import WorkerExit
from homie_bringup.processes import STOP_SECONDS, dying_with_parent
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import DEFAULT_TRIES, RunStore, State

POLL_SECONDS = 0.2
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


@dataclass
class _Worker:
    """One worker process."""

    name: str
    process: subprocess.Popen[bytes]


@dataclass
class Evaluation:
    """One run on this machine. ``report`` is told how far it is, several times a second."""

    folder: EvaluationFolder
    workers: int
    max_tries: int = DEFAULT_TRIES
    max_megabytes: float = 2000.0
    report: Callable[[Progress], None] = lambda progress: None
    _alive: list[_Worker] = field(default_factory=list)
    _started: int = 0
    _crashes: int = 0

    def run(self, stop: threading.Event) -> Counter[State]:
        """Run every episode that has no terminal record; ``stop`` interrupts. The number of episodes in each state.

        The caller holds the folder's lock.

        Raises:
            EvaluationError: the machine does not let it go on.
        """
        with RunStore(self.folder.store) as store:
            store.release("", "the run was stopped while this episode was running", time.time(), self.max_tries)
            self.folder.path.joinpath("log").mkdir(exist_ok=True)
            before = Progress(store.counts(), 0, 0.0)
            began = time.monotonic()
            try:
                while not stop.is_set():
                    counts = store.counts()
                    if not counts[State.PENDING] and not counts[State.RUNNING]:
                        break
                    self._fill_up(min(self.workers, counts[State.PENDING] + counts[State.RUNNING]))
                    rate = (Progress(counts, 0, 0.0).ended - before.ended) / (time.monotonic() - began)
                    self.report(Progress(counts, len(self._alive), rate))
                    stop.wait(POLL_SECONDS)
                    self._reap(store)
                    self._kill_the_stuck(store)
            finally:
                self._stop_workers()
                self._reap(store)
            counts = store.counts()
            self.report(Progress(counts, 0, 0.0))
            return counts

    def _fill_up(self, count: int) -> None:
        while len(self._alive) < count:
            self._started += 1
            self._alive.append(self._start(f"worker_{os.getpid()}_{self._started}"))

    def _start(self, name: str) -> _Worker:
        command = [
            *dying_with_parent(),
            *(sys.executable, "-m", "homie_bringup.evaluation_worker", str(self.folder.path), "--name", name),
            *("--max-tries", str(self.max_tries), "--max-megabytes", str(self.max_megabytes)),
        ]
        with self.folder.log(name).open("wb") as log:
            # A session of its own keeps the terminal's Ctrl-C away: the parent stops the workers.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        return _Worker(name, process)

    def _reap(self, store: RunStore) -> None:
        """Take note of the workers that ended."""
        for worker in [worker for worker in self._alive if worker.process.poll() is not None]:
            self._alive.remove(worker)
            code = worker.process.returncode
            if code == WorkerExit.FAILURES:
                raise EvaluationError(f"one episode after the other failed; the last: {_last_cause(store)}")
            if code in (WorkerExit.NOTHING_LEFT, WorkerExit.RECYCLE, WorkerExit.STOPPED):
                self._crashes = 0
                continue
            said = self._last_line(worker.name)
            lost = store.release(worker.name, f"its worker died ({_ended(code)}): {said}", time.time(), self.max_tries)
            self._crashes = 0 if lost else self._crashes + 1
            if self._crashes >= CRASHES_IN_A_ROW:
                raise EvaluationError(f"workers die as soon as they start ({_ended(code)}): {said}")

    def _kill_the_stuck(self, store: RunStore) -> None:
        now = time.time()
        stuck = {record.worker for record in store.records([State.RUNNING]) if now - record.since > STUCK_SECONDS}
        for worker in self._alive:
            if worker.name in stuck:
                worker.process.kill()

    def _stop_workers(self) -> None:
        for worker in self._alive:
            if worker.process.poll() is None:
                worker.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 2 * STOP_SECONDS
        for worker in self._alive:
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()

    def _last_line(self, name: str) -> str:
        text = self.folder.log(name).read_text(encoding="utf-8", errors="replace")
        lines = text.strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"


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


def _ended(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _last_cause(store: RunStore) -> str:
    failures = [record for record in store.records() if record.cause]
    return max(failures, key=lambda record: record.since).cause if failures else "unknown"
