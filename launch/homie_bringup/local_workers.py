"""The workers of an evaluation as processes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from homie_bringup.evaluation import CRASHES_IN_A_ROW, EvaluationError, last_cause
from homie_bringup.evaluation_worker import WorkerExit
from homie_bringup.processes import STOP_SECONDS, dying_with_parent
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import DEFAULT_TRIES, RunStore


@dataclass
class _Worker:
    """One worker process."""

    name: str
    process: subprocess.Popen[bytes]


@dataclass
class LocalWorkers:
    """Each takes its episodes from the run's file itself (`homie_bringup.evaluation_worker`)."""

    folder: EvaluationFolder
    max_tries: int = DEFAULT_TRIES
    max_megabytes: float = 2000.0
    poll_seconds: float = 0.2
    _alive: list[_Worker] = field(default_factory=list)
    _started: int = 0
    _crashes: int = 0

    def __len__(self) -> int:
        return len(self._alive)

    def fill_up(self, count: int) -> None:
        while len(self._alive) < count:
            self._started += 1
            self._alive.append(self._start(f"worker_{os.getpid()}_{self._started}"))

    def take_note(self, store: RunStore) -> None:
        for worker in [worker for worker in self._alive if worker.process.poll() is not None]:
            self._alive.remove(worker)
            code = worker.process.returncode
            if code == WorkerExit.FAILURES:
                raise EvaluationError(f"one episode after the other failed; the last: {last_cause(store)}")
            if code in (WorkerExit.NOTHING_LEFT, WorkerExit.RECYCLE, WorkerExit.STOPPED):
                self._crashes = 0
                continue
            said = self._last_line(worker.name)
            lost = store.release(worker.name, f"its worker died ({_ended(code)}): {said}", time.time(), self.max_tries)
            self._crashes = 0 if lost else self._crashes + 1
            if self._crashes >= CRASHES_IN_A_ROW:
                raise EvaluationError(f"workers die as soon as they start ({_ended(code)}): {said}")

    def kill(self, names: Collection[str], seconds: float) -> None:
        for worker in self._alive:
            if worker.name in names:
                worker.process.kill()

    def stop(self, store: RunStore) -> None:
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
        self.take_note(store)

    def _start(self, name: str) -> _Worker:
        command = [
            *dying_with_parent(),
            *(sys.executable, "-m", "homie_bringup.evaluation_worker", str(self.folder.path), "--name", name),
            *("--max-tries", str(self.max_tries), "--max-megabytes", str(self.max_megabytes)),
        ]
        log = self.folder.log(name)
        log.parent.mkdir(exist_ok=True)
        with log.open("wb") as output:
            # A session of its own keeps the terminal's Ctrl-C away: the parent stops the workers.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        return _Worker(name, process)

    def _last_line(self, name: str) -> str:
        text = self.folder.log(name).read_text(encoding="utf-8", errors="replace")
        lines = text.strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"


def _ended(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
