"""A cluster whose workers do what a test says, with nothing being run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from homie_bringup.episode_runner import Attempt
from homie_bringup.remote_workers import Delivery, Ready, WorkerLost
from homie_eval.runs.plan import Episode
from support.finished_run import trajectory_of

VERSIONS = {"numpy": "2.4.6"}

CANCELLED = Attempt(None, "", "", cancelled=True, seconds=0.1)


def judged(episode: Episode) -> Attempt:
    """A try that came to its end."""
    return Attempt(trajectory_of(episode, "[End]"), '{"SR": 0.0}', "", cancelled=False, seconds=1.5)


def delivered(attempt: Attempt, megabytes: float = 100.0, place: str = "") -> Delivery:
    return Delivery(attempt, {} if place else {"bag.mcap": b"messages"}, place, megabytes)


@dataclass
class ScriptedWorker:
    """Answers what it was given to answer; an exception is raised."""

    name: str
    answers: list[Ready | Delivery | WorkerLost] = field(default_factory=list)
    episode: Episode | None = None
    cancelled: bool = False
    ended: bool = False
    killed: bool = False
    on_begin: Callable[[ScriptedWorker], None] = lambda worker: None
    on_cancel: Callable[[ScriptedWorker], None] = lambda worker: None

    def answer(self) -> Ready | Delivery | None:
        if not self.answers:
            return None
        answer = self.answers.pop(0)
        if isinstance(answer, WorkerLost):
            raise answer
        return answer

    def begin(self, episode: Episode) -> None:
        self.episode = episode
        self.on_begin(self)

    def cancel(self) -> None:
        self.cancelled = True
        self.on_cancel(self)

    def end(self) -> None:
        self.ended = True

    def kill(self) -> None:
        self.killed = True

    def place(self, host: str = "a", versions: dict[str, str] | None = None) -> None:
        """It is placed on ``host``."""
        self.answers.append(Ready(host, host, VERSIONS if versions is None else versions))

    def lose(self, cause: str = "its node was lost: a") -> None:
        self.answers.append(WorkerLost(cause))

    def deliver(self, attempt: Attempt | None = None, megabytes: float = 100.0, place: str = "") -> None:
        """What it is at is done, or went as ``attempt`` says."""
        assert self.episode is not None
        self.answers.append(delivered(attempt or judged(self.episode), megabytes, place))


@dataclass
class ScriptedCluster:
    """Keeps every worker that was started, in order; ``on_start`` is told of each."""

    on_start: Callable[[ScriptedWorker], None] = lambda worker: None
    workers: list[ScriptedWorker] = field(default_factory=list)

    def start(self, name: str) -> ScriptedWorker:
        worker = ScriptedWorker(name)
        self.workers.append(worker)
        self.on_start(worker)
        return worker

    def room(self) -> str:
        return "the cluster has 0 CPUs"
