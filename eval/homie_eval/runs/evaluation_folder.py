"""The folder of an evaluation.

runs/<name>/
    run.sqlite                        the plan and a record for every episode (homie_eval.runs.store)
    lock                              held by the one process that works on the run on this machine
    log/<worker>.log                  what each worker on this machine wrote
    report.html                       the results, for people
    episodes/<planner>/<task>/trial<n>/bag/  report.html
    episodes/<planner>/<task>/trial<n>/bag_place.txt    instead, HOST:PATH of a bag that stayed on another machine
    tables.tex  metrics.csv  episodes.csv  results.json     when it is finished, or asked for
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from homie_eval.runs.plan import Episode
from homie_eval.runs.store import FILE_NAME


class RunIsLocked(ValueError):
    """Another process works on this run. One line."""


@dataclass(frozen=True, slots=True)
class EvaluationFolder:
    """Paths inside one evaluation's folder."""

    path: Path

    @property
    def store(self) -> Path:
        return self.path / FILE_NAME

    def log(self, worker: str) -> Path:
        return self.path / "log" / f"{worker}.log"

    @property
    def episodes(self) -> Path:
        return self.path / "episodes"

    @property
    def is_run(self) -> bool:
        """Whether there is a run in this folder."""
        return self.store.is_file()

    def bag(self, episode: Episode) -> Path:
        return self.episodes / episode.planner / episode.task / f"trial{episode.trial}" / "bag"

    def bag_place(self, episode: Episode) -> Path:
        """The file that says where the bag is, if it is on another machine."""
        return self.bag(episode).with_name("bag_place.txt")

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    def page(self, episode: Episode) -> Path:
        """The report of one episode."""
        return self.bag(episode).with_name("report.html")

    def episode_id(self, episode: Episode) -> str:
        """The id that the episode's messages carry."""
        return f"{self.path.resolve().name}_{episode.planner}_{episode.task}_trial{episode.trial}"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run's lock. The kernel lets go of it when the process ends, however that happens.

        Raises:
            RunIsLocked: another process holds it.
        """
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
                raise RunIsLocked(f"{self.path} is being worked on by process {holder}") from error
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)
