"""Runs one episode after the other in a graph of its own: what a worker of an evaluation does, on any machine."""

from __future__ import annotations

import json
import shutil
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from homie_bringup.composition import Composition
from homie_bringup.episode_client import EpisodeClientNode
from homie_bringup.graph import simulation_graph
from homie_bringup.settings import Run
from homie_bringup.task_goal import task_goal
from homie_core.episode import EpisodeResult, Outcome
from homie_eval.bag import BagError
from homie_eval.emmoe.metrics import JUDGED
from homie_eval.score import BagScore, score_bag
from homie_eval.trajectory import Trajectory
from homie_ros.domains import DomainReservation
from homie_ros.errors import InfrastructureError
from homie_ros.node_host import NodeHost


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one try of an episode went. ``cause`` is empty when it came to an end that judges the planner.

    ``live_scores_json`` holds the live referee's final numbers by name, or is empty if it gave none.
    """

    trajectory: Trajectory | None
    live_scores_json: str
    cause: str
    cancelled: bool
    seconds: float

    @property
    def judged(self) -> bool:
        """Whether the episode is done."""
        return not self.cause and not self.cancelled and self.trajectory is not None


class EpisodeRunner:
    """Keeps a graph as long as it serves, and makes a new one for another planner and after a failure.

    The nodes are in this process, in a ROS domain that no other run on this machine has.
    """

    def __init__(self) -> None:
        self._graph = ExitStack()
        self._client: EpisodeClientNode | None = None
        self._run_of_graph: tuple[object, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the nodes. May be called twice."""
        self._client = None
        self._run_of_graph = ()
        self._graph.close()

    def run(self, run: Run, episode_id: str, bag: Path, stop: threading.Event) -> Attempt:
        """One try of one episode. What an earlier try left at ``bag`` is removed first. ``stop`` cancels it."""
        began = time.monotonic()
        shutil.rmtree(bag, ignore_errors=True)
        bag.parent.mkdir(parents=True, exist_ok=True)
        try:
            client = self._ready_client(run, stop)
            result = client.run(task_goal(run, episode_id, "composed"), bag, lambda step: None, stop)
        except InfrastructureError as error:
            outcome = Outcome.CANCELLED if stop.is_set() else Outcome.INFRASTRUCTURE_FAILURE
            result = EpisodeResult(outcome, steps=0, cause=str(error))
        if result.outcome is Outcome.INFRASTRUCTURE_FAILURE:
            self.close()  # whatever broke, the next episode begins with new nodes
        return _attempt(result, bag, time.monotonic() - began)

    def _ready_client(self, run: Run, stop: threading.Event) -> EpisodeClientNode:
        key = _graph_key(run)
        if self._client is not None and key == self._run_of_graph:
            return self._client
        self.close()
        self._graph = ExitStack()
        try:
            domain = self._graph.enter_context(DomainReservation()).id
            graph = self._graph.enter_context(Composition(simulation_graph(run), domain))
            host = self._graph.enter_context(NodeHost(domain_id=domain))
            client = host.add(EpisodeClientNode, graph=graph, use_global_arguments=False)
            client.wait_ready(stop)
        except BaseException:
            self.close()
            raise
        self._client, self._run_of_graph = client, key
        return client


def _graph_key(run: Run) -> tuple[object, ...]:
    """What two runs must have in common to share a graph: everything that is no part of a goal, and the house.

    A bridge has one house for all its life.
    """
    own = {"task", "house", "seed", "trial", "max_steps"}
    return (run.settings.model_dump_json(exclude=own), run.house, run.views)


def _attempt(result: EpisodeResult, bag: Path, seconds: float) -> Attempt:
    if result.outcome is Outcome.CANCELLED:
        return Attempt(None, "", "", cancelled=True, seconds=seconds)
    scored, problem = _scored(bag)
    episode = scored.episodes[-1] if scored and scored.episodes else None
    trajectory = episode.trajectory if episode else None
    live = json.dumps(episode.live) if episode and episode.live is not None else ""
    cause = ""
    if result.outcome not in JUDGED:
        cause = f"{result.outcome.value.replace('_', ' ')}: {result.cause}"
    elif trajectory is None or trajectory.result is None:
        cause = f"the bag holds no whole episode: {problem or '; '.join(scored.problems if scored else ())}"
    return Attempt(trajectory, live, cause, cancelled=False, seconds=seconds)


def _scored(bag: Path) -> tuple[BagScore | None, str]:
    try:
        return score_bag(bag), ""
    except BagError as error:
        return None, str(error)
