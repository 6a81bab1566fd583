"""How far a run is: one SQLite file with a record for every episode, shared by all workers of a machine.

An episode is ``pending``, ``running`` (claimed by a worker), ``done`` or ``failed``. The last two are terminal: done
means that the episode ended in a way that judges the planner; failed that it could not be run, after
``max_tries`` tries that each ended in a failure of the infrastructure or of the planner's backend. A failure is neither
a failure of the task nor left out: it is counted, and shown with its cause.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from homie_eval.runs.plan import FORMAT_VERSION, Episode, RunPlan
from homie_eval.trajectory import Trajectory
from homie_eval.trajectory_json import from_json, to_json

FILE_NAME = "run.sqlite"
DEFAULT_TRIES = 3
_LOCK_SECONDS = 60.0

_SCHEMA = """
CREATE TABLE plan (json TEXT NOT NULL);
CREATE TABLE episodes (
    number INTEGER PRIMARY KEY,      -- order in which they are run
    id TEXT NOT NULL UNIQUE,
    planner TEXT NOT NULL,
    task TEXT NOT NULL,
    scene TEXT NOT NULL,
    trial INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'failed')),
    tries INTEGER NOT NULL DEFAULT 0, -- that ended in a failure
    worker TEXT NOT NULL DEFAULT '',
    since REAL NOT NULL DEFAULT 0,   -- when it came into this state, seconds since 1970
    seconds REAL NOT NULL DEFAULT 0, -- wall time of the try that counts
    cause TEXT NOT NULL DEFAULT '',  -- of the last failure
    outcome TEXT NOT NULL DEFAULT '',
    trajectory TEXT NOT NULL DEFAULT '',
    live_scores TEXT NOT NULL DEFAULT ''
);
CREATE INDEX by_state ON episodes (state, number);
"""


class StoreError(ValueError):
    """A run's file is missing, is none, or belongs to another version. One line."""


class State(StrEnum):
    """Where an episode stands."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


TERMINAL = (State.DONE, State.FAILED)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one episode. ``tries`` counts those that failed; ``since`` is in seconds since 1970."""

    episode: Episode
    state: State
    tries: int
    worker: str
    since: float
    seconds: float
    cause: str
    outcome: str
    trajectory_json: str
    live_scores_json: str

    @property
    def trajectory(self) -> Trajectory | None:
        """The episode as recorded, or None where it never came to an end.

        Raises:
            TrajectoryJsonError: the record is damaged.
        """
        return from_json(self.trajectory_json) if self.trajectory_json else None


class RunStore:
    """The file of one run. Objects are cheap; every process and thread makes its own."""

    def __init__(self, path: Path) -> None:
        """Open the file of a run that exists.

        Raises:
            StoreError: there is none, it is damaged, or of another version.
        """
        if not path.is_file():
            raise StoreError(f"{path} does not exist: not the folder of a run")
        self.path = path
        self._connection = _connect(path)
        try:
            row = self._connection.execute("SELECT json FROM plan").fetchone()
        except sqlite3.DatabaseError as error:
            self.close()
            raise StoreError(f"{path} is not the file of a run: {error}") from error
        self.plan = _plan(path, "" if row is None else row[0])

    @classmethod
    def create(cls, path: Path, plan: RunPlan) -> Self:
        """Begin a run. The file appears when it is whole, so that no reader and no crash finds half of one.

        Raises:
            StoreError: the file exists already.
        """
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        connection = _connect(new)
        connection.execute("PRAGMA journal_mode=WAL")
        with _transaction(connection):
            for statement in filter(str.strip, _SCHEMA.split(";\n")):
                connection.execute(statement)
            connection.execute("INSERT INTO plan VALUES (?)", (plan.model_dump_json(),))
            connection.executemany(
                "INSERT INTO episodes (number, id, planner, task, scene, trial, seed) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [_row(plan, number, episode) for number, episode in enumerate(plan.episodes)],
            )
        connection.close()
        try:
            path.hardlink_to(new)
        except FileExistsError as error:
            raise StoreError(f"{path} exists already: go on with that run, or choose another folder") from error
        finally:
            new.unlink()
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. May be called twice."""
        self._connection.close()

    def claim(self, worker: str, now: float, planner: str = "", scene: str = "") -> Episode | None:
        """Take the next pending episode for ``worker``; None: nothing is left. ``now`` in seconds since 1970.

        Episodes of ``planner`` come first, and among them those in ``scene``: what a worker has set up serves them too.
        """
        with _transaction(self._connection):
            row = self._connection.execute(
                "SELECT id, planner, task, trial, seed FROM episodes WHERE state = 'pending' "
                "ORDER BY planner != ?, scene != ?, number LIMIT 1",
                (planner, scene),
            ).fetchone()
            if row is None:
                return None
            self._connection.execute(
                "UPDATE episodes SET state = 'running', worker = ?, since = ? WHERE id = ?", (worker, now, row[0])
            )
        return Episode(planner=row[1], task=row[2], trial=row[3], seed=row[4])

    def finish(
        self, episode: Episode, trajectory: Trajectory, live_scores_json: str, now: float, seconds: float
    ) -> None:
        """The episode came to an end that judges the planner. The first end that is told stays."""
        outcome = trajectory.result.outcome.value if trajectory.result else ""
        with _transaction(self._connection):
            self._connection.execute(
                "UPDATE episodes SET state = 'done', worker = '', since = ?, seconds = ?, cause = '', outcome = ?, "
                "trajectory = ?, live_scores = ? WHERE id = ? AND state != 'done'",
                (now, seconds, outcome, to_json(trajectory), live_scores_json, episode.id),
            )

    def fail(
        self,
        episode: Episode,
        worker: str,
        cause: str,
        now: float,
        max_tries: int,
        trajectory: Trajectory | None = None,
    ) -> None:
        """A try of ``worker`` failed for a reason that is not the planner's doing.

        Nothing changes if the episode is not the worker's any more: it was presumed dead, and that was counted.
        """
        with _transaction(self._connection):
            if self._is_of(episode, worker):
                self._fail(episode.id, cause, now, max_tries, trajectory)

    def give_back(self, episode: Episode, worker: str, now: float) -> None:
        """The try of ``worker`` was stopped on request: it counts for nothing."""
        with _transaction(self._connection):
            if self._is_of(episode, worker):
                self._connection.execute(
                    "UPDATE episodes SET state = 'pending', worker = '', since = ? WHERE id = ?", (now, episode.id)
                )

    def release(self, worker: str, cause: str, now: float, max_tries: int) -> tuple[str, ...]:
        """``worker`` is gone: whatever it was running has failed. The ids of those episodes. Empty: all workers."""
        with _transaction(self._connection):
            rows = self._connection.execute(
                "SELECT id FROM episodes WHERE state = 'running' AND (worker = ? OR ? = '')", (worker, worker)
            ).fetchall()
            for (id,) in rows:
                self._fail(id, cause, now, max_tries, None)
        return tuple(id for (id,) in rows)

    def retry_failed(self, now: float) -> int:
        """Make every failed episode pending again, with all its tries. The number of them."""
        with _transaction(self._connection):
            cursor = self._connection.execute(
                "UPDATE episodes SET state = 'pending', tries = 0, since = ? WHERE state = 'failed'", (now,)
            )
        return cursor.rowcount

    def counts(self) -> Counter[State]:
        """The number of episodes in each state."""
        rows = self._connection.execute("SELECT state, count(*) FROM episodes GROUP BY state")
        return Counter({State(state): count for state, count in rows})

    def records(self, states: Sequence[State] = tuple(State)) -> Iterator[Record]:
        """The records of the episodes in ``states``, in the order of the plan."""
        marks = ", ".join("?" * len(states))
        cursor = self._connection.execute(
            "SELECT planner, task, trial, seed, state, tries, worker, since, seconds, cause, outcome, trajectory, "  # noqa: S608 - only marks
            f"live_scores FROM episodes WHERE state IN ({marks}) ORDER BY number",
            [state.value for state in states],
        )
        for planner, task, trial, seed, state, *rest in cursor:
            yield Record(Episode(planner=planner, task=task, trial=trial, seed=seed), State(state), *rest)

    def put(self, record: Record) -> None:
        """Take over a terminal record from another shard of the same run."""
        with _transaction(self._connection):
            self._connection.execute(
                "UPDATE episodes SET state = ?, tries = ?, worker = ?, since = ?, seconds = ?, cause = ?, outcome = ?, "
                "trajectory = ?, live_scores = ? WHERE id = ?",
                (
                    record.state.value,
                    record.tries,
                    record.worker,
                    record.since,
                    record.seconds,
                    record.cause,
                    record.outcome,
                    record.trajectory_json,
                    record.live_scores_json,
                    record.episode.id,
                ),
            )

    def _is_of(self, episode: Episode, worker: str) -> bool:
        row = self._connection.execute("SELECT state, worker FROM episodes WHERE id = ?", (episode.id,)).fetchone()
        return bool(row == (State.RUNNING.value, worker))

    def _fail(self, id: str, cause: str, now: float, max_tries: int, trajectory: Trajectory | None) -> None:
        (tries,) = self._connection.execute("SELECT tries + 1 FROM episodes WHERE id = ?", (id,)).fetchone()
        state = State.FAILED if tries >= max_tries else State.PENDING
        result = None if trajectory is None else trajectory.result
        self._connection.execute(
            "UPDATE episodes SET state = ?, tries = ?, worker = '', since = ?, cause = ?, outcome = ?, trajectory = ? "
            "WHERE id = ?",
            (
                state.value,
                tries,
                now,
                cause,
                "" if result is None else result.outcome.value,
                "" if trajectory is None else to_json(trajectory),
                id,
            ),
        )


def _row(plan: RunPlan, number: int, episode: Episode) -> tuple[int, str, str, str, str, int, int]:
    scene = plan.task_of[episode.task].scene
    return (number, episode.id, episode.planner, episode.task, scene, episode.trial, episode.seed)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; the write lock is taken at once, so that two workers never read the same pending episode."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _plan(path: Path, text: str) -> RunPlan:
    try:
        plan = RunPlan.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "plan"
        raise StoreError(f"{path}: {place} of the plan: {first['msg']}") from error
    if plan.format_version > FORMAT_VERSION:
        raise StoreError(f"{path} has format version {plan.format_version}; this program knows up to {FORMAT_VERSION}")
    return plan
