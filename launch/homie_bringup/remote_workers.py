"""The workers of an evaluation on other machines: who gets which episode, and what becomes of it when one is lost.

The parent holds the run's file; a remote worker knows of one episode at a time. What carries the messages is a
`Cluster` (`homie_bringup.ray_cluster`), so that these rules know nothing of it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from homie_bringup.episode_runner import Attempt
from homie_bringup.evaluation import CRASHES_IN_A_ROW, EvaluationError, last_cause
from homie_bringup.evaluation_worker import FAILURES_IN_A_ROW, record_attempt
from homie_bringup.processes import STOP_SECONDS
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.plan import Episode
from homie_eval.runs.store import DEFAULT_TRIES, RunStore

PLACE_SECONDS = 300.0
"""How long a run waits for its first worker, or for another one once all are lost."""


class WorkerLost(Exception):
    """A worker is gone and will not answer. One line: what became of it."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has been given a place, on ``host``, and waits for its first episode.

    ``node`` is the cluster's name of that place; ``versions`` are those that are installed there.
    """

    host: str
    node: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an episode went.

    ``bag`` holds the files of the bag by name; it is empty if there are none, or if they stay on the node, at
    ``bag_place`` (``host:path``). ``megabytes`` is the worker's memory.
    """

    attempt: Attempt
    bag: Mapping[str, bytes]
    bag_place: str
    megabytes: float


class RemoteWorker(Protocol):
    """One worker somewhere. None of this blocks for long."""

    def answer(self) -> Ready | Delivery | None:
        """What is new: `Ready` once, then a `Delivery` for each episode; None: nothing.

        Raises:
            WorkerLost: the worker is gone.
        """

    def begin(self, episode: Episode) -> None:
        """Let it run this episode. Only after the answer to what it was asked before."""

    def cancel(self) -> None:
        """Let it stop what it is at; its delivery then says so."""

    def end(self) -> None:
        """Let it stop its nodes and end; it gives no more answers."""

    def kill(self) -> None:
        """End it at once, if it still runs."""


class Cluster(Protocol):
    """Machines that take workers."""

    def start(self, name: str) -> RemoteWorker:
        """A new worker, which is placed as soon as there is room."""

    def room(self) -> str:
        """What there is and what a worker needs, for people."""


@dataclass
class _Worker:
    """One worker as the parent sees it. ``number`` counts all that were started."""

    number: int
    name: str
    remote: RemoteWorker
    host: str = ""
    episode: Episode | None = None
    planner: str = ""
    scene: str = ""
    failures: int = 0
    too_slow: str = ""


@dataclass
class RemoteWorkers:
    """Hands out the episodes of a run and enters what comes back."""

    folder: EvaluationFolder
    cluster: Cluster
    max_tries: int = DEFAULT_TRIES
    max_megabytes: float = 2000.0
    poll_seconds: float = 0.05  # a worker that has delivered stands idle until then
    place_seconds: float = PLACE_SECONDS
    _alive: list[_Worker] = field(default_factory=list, init=False)
    _started: int = field(default=0, init=False)
    _crashes: int = field(default=0, init=False)
    _started_at_crash: int = field(default=0, init=False)
    _last_placed: float = field(default_factory=time.monotonic, init=False)

    def __len__(self) -> int:
        return len(self._alive)

    def fill_up(self, count: int) -> None:
        while len(self._alive) < count:
            self._started += 1
            name = f"worker_{os.getpid()}_{self._started}"
            self._alive.append(_Worker(self._started, name, self.cluster.start(name)))

    def take_note(self, store: RunStore) -> None:
        for worker in tuple(self._alive):
            self._listen(worker, store)
            if worker in self._alive and worker.host and worker.episode is None:
                self._hand_out(worker, store)
        if any(worker.host for worker in self._alive):
            self._last_placed = time.monotonic()
        elif time.monotonic() - self._last_placed > self.place_seconds:
            raise EvaluationError(f"no worker found a place in {self.place_seconds:g} s: {self.cluster.room()}")

    def kill(self, names: Collection[str], seconds: float) -> None:
        for worker in self._alive:
            if worker.name in names:
                worker.remote.kill()
                worker.too_slow = f"it took more than {seconds:g} s"

    def stop(self, store: RunStore) -> None:
        for worker in self._alive:
            if worker.episode is not None:
                worker.remote.cancel()
        deadline = time.monotonic() + 2 * STOP_SECONDS
        try:
            while any(worker.episode for worker in self._alive) and time.monotonic() < deadline:
                for worker in tuple(self._alive):
                    self._listen(worker, store)
                time.sleep(self.poll_seconds)
        finally:
            now = time.time()
            for worker in self._alive:
                if worker.episode is not None:
                    store.give_back(worker.episode, worker.name, now)
                worker.remote.end()
            self._alive.clear()

    def _listen(self, worker: _Worker, store: RunStore) -> None:
        try:
            answer = None if worker.too_slow else worker.remote.answer()
        except WorkerLost as lost:
            self._lose(worker, str(lost), store)
            return
        if worker.too_slow:
            self._lose(worker, worker.too_slow, store)
        elif isinstance(answer, Ready):
            _require_versions(store.plan.versions, answer)
            worker.host = answer.host
            self._crashes = 0
        elif isinstance(answer, Delivery):
            self._take(worker, answer, store)

    def _hand_out(self, worker: _Worker, store: RunStore) -> None:
        episode = store.claim(worker.name, time.time(), worker.planner, worker.scene)
        if episode is None:
            return  # another worker may be lost yet, and its episode be free again
        worker.episode, worker.planner = episode, episode.planner
        worker.scene = store.plan.task_of[episode.task].scene
        worker.remote.begin(episode)

    def _take(self, worker: _Worker, delivery: Delivery, store: RunStore) -> None:
        episode, worker.episode = worker.episode, None
        if episode is None:
            raise EvaluationError(f"{worker.name} on {worker.host} delivered an episode that it was not asked for")
        self._keep_bag(episode, delivery)
        attempt = delivery.attempt
        record_attempt(store, episode, worker.name, attempt, self.max_tries)
        if not attempt.cancelled:
            worker.failures = 0 if attempt.judged else worker.failures + 1
        if worker.failures >= FAILURES_IN_A_ROW:
            raise EvaluationError(f"one episode after the other failed on {worker.host}; the last: {last_cause(store)}")
        if delivery.megabytes > self.max_megabytes:
            self._alive.remove(worker)
            worker.remote.end()

    def _keep_bag(self, episode: Episode, delivery: Delivery) -> None:
        bag, place = self.folder.bag(episode), self.folder.bag_place(episode)
        shutil.rmtree(bag, ignore_errors=True)
        place.unlink(missing_ok=True)
        bag.parent.mkdir(parents=True, exist_ok=True)
        if delivery.bag_place:
            place.write_text(f"{delivery.bag_place}\n", encoding="utf-8")
        elif delivery.bag:
            bag.mkdir()
            for name, content in delivery.bag.items():
                (bag / name).write_bytes(content)

    def _lose(self, worker: _Worker, cause: str, store: RunStore) -> None:
        self._alive.remove(worker)
        worker.remote.kill()
        store.release(worker.name, cause, time.time(), self.max_tries)
        if worker.host or worker.number <= self._started_at_crash:
            return  # it worked; or it fell with the one before it, as all workers of a node do
        self._crashes += 1
        self._started_at_crash = self._started
        if self._crashes >= CRASHES_IN_A_ROW:
            raise EvaluationError(f"workers die as soon as they start: {cause}")


def _require_versions(wanted: Mapping[str, str], ready: Ready) -> None:
    for name in sorted({*wanted, *ready.versions}):
        here, there = wanted.get(name, "none"), ready.versions.get(name, "none")
        if here != there:
            raise EvaluationError(
                f"{ready.host} has {name} {there}, the run was begun with {here}: all nodes must have the same versions"
            )
