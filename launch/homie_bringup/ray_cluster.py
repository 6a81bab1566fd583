"""The workers of an evaluation as actors in a Ray cluster (`make extra-ray`).

Every node has this workspace, of the same versions, and starts Ray in its environment, e.g. ``.venv/bin/homie-env ray
start --head --port 6379`` on one and ``.venv/bin/homie-env ray start --address HOST:6379`` on the others. Such a head
wants a token: RAY_AUTH_MODE=token is set on all nodes, for ``homie`` too, and all have the head's token.
Planners' keys, files and servers are those of the node on which an episode runs. What workers print is in Ray's logs on
their node.
"""

from __future__ import annotations

import os
import re
import socket
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from homie_bringup.evaluation import EvaluationError
from homie_bringup.processes import STOP_SECONDS
from homie_bringup.ray_worker import RayWorker
from homie_bringup.remote_workers import Delivery, Ready, WorkerLost
from homie_bringup.settings import SettingsError
from homie_eval.runs.plan import Episode, RunPlan
from homie_planner.extras import MissingExtra, require

NODE_SECONDS = 30.0
"""How long after a worker the cluster may take to see that its node is gone too."""

CONNECT_SECONDS = 10.0

_CAUSE_LENGTH = 200  # Ray adds advice of any length

_LAST_PORT = 65535
_WITHOUT_PORT = ("auto", "local")
_ENDPOINT = re.compile(r"(?P<host>[^/\s:]+|\[[^/\s]+\]):(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class RayOptions:
    """How to use a cluster.

    ``address``: ``auto`` (the one of this machine), ``HOST:PORT`` of the head of one that this machine is a node of, or
    ``local`` (a new one of this machine alone, that ends with the run). ``cpus``: what each worker takes of its node.
    ``bags``: folder on each node in which bags stay, or None if they are brought into the run's folder.
    """

    address: str
    cpus: float = 1.0
    bags: Path | None = None

    def check(self) -> None:
        """Before anything begins.

        Raises:
            SettingsError: the address is none, or Ray is not installed.
        """
        if self.address not in _WITHOUT_PORT and self.endpoint is None:
            allowed = ", ".join((*_WITHOUT_PORT, "HOST:PORT"))
            raise SettingsError(f"ray {self.address!r} is no address of a cluster; allowed: {allowed}")
        try:
            require("ray", "ray")
        except MissingExtra as error:
            raise SettingsError(f"ray: {error}") from error

    @property
    def endpoint(self) -> tuple[str, int] | None:
        """Host and port, where the address has them."""
        match = _ENDPOINT.fullmatch(self.address)
        if match is None or int(match["port"]) > _LAST_PORT:
            return None
        return match["host"].strip("[]"), int(match["port"])


class RayCluster:
    """A cluster that is joined from enter to exit. Ray is imported when it is made.

    Raises:
        MissingExtra: Ray is not installed.
    """

    def __init__(self, options: RayOptions, plan: RunPlan, run_name: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no figures to Ray's makers unless asked for
        self._ray: Any = require("ray", "ray")
        self._options = options
        bags = "" if options.bags is None else str(options.bags.absolute())
        self._arguments = (plan.model_dump_json(), run_name, bags)
        self._actors: list[_Actor] = []

    def __enter__(self) -> Self:
        """Join.

        Raises:
            EvaluationError: there is no such cluster, or it cannot be joined.
        """
        if self._options.endpoint is not None:
            self._knock(self._options.endpoint)
        own = {"include_dashboard": False} if self._options.address == "local" else {}
        try:
            self._ray.init(self._options.address, log_to_driver=False, logging_level="ERROR", **own)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise self._cannot_join(error) from error
        return self

    def __exit__(self, *details: object) -> None:
        """Wait for the workers that were told to end, and leave."""
        deadline = time.monotonic() + 2 * STOP_SECONDS
        for actor in self._actors:
            actor.wait_for_end(max(0.0, deadline - time.monotonic()))
        self._ray.shutdown()

    def _knock(self, endpoint: tuple[str, int]) -> None:
        """Ray waits for minutes for a cluster that is not there."""
        try:
            socket.create_connection(endpoint, timeout=CONNECT_SECONDS).close()
        except OSError as error:
            raise self._cannot_join(error) from error

    def _cannot_join(self, error: Exception) -> EvaluationError:
        reason = str(error).strip().partition("\n")[0]
        return EvaluationError(f"cannot join the Ray cluster {self._options.address!r}: {reason}")

    def start(self, name: str) -> _Actor:
        remote = self._ray.remote(RayWorker).options(
            name=name,
            num_cpus=self._options.cpus,
            max_restarts=0,  # the run decides what becomes of an episode and who takes the next
            max_task_retries=0,
            max_concurrency=2,
            scheduling_strategy="SPREAD",
        )
        actor = _Actor(self._ray, remote.remote(*self._arguments))
        self._actors.append(actor)
        return actor

    def room(self) -> str:
        there = self._ray.cluster_resources().get("CPU", 0.0)
        free = self._ray.available_resources().get("CPU", 0.0)
        return f"the cluster has {there:g} CPUs, {free:g} of them free, and a worker takes {self._options.cpus:g}"


class _Actor:
    """One worker. See `homie_bringup.remote_workers.RemoteWorker`."""

    def __init__(self, ray: Any, handle: Any) -> None:
        self._ray = ray
        self._handle = handle
        self._asked: Any = handle.ready.remote()
        self._ended: Any = None
        self._node = ""
        self._host = "no node yet"
        self._error: Exception | None = None
        self._erred = 0.0

    def answer(self) -> Ready | Delivery | None:
        if self._error is not None:
            if lost := self._lost(self._error):
                raise WorkerLost(lost)
            return None
        if self._asked is None:
            return None
        try:
            done, _ = self._ray.wait([self._asked], timeout=0)
            if not done:
                return None
            answer: Ready | Delivery = self._ray.get(self._asked)
        except self._ray.exceptions.RayError as error:
            self._error, self._erred = error, time.monotonic()
            return None
        self._asked = None
        if isinstance(answer, Ready):
            self._host, self._node = answer.host, answer.node
        return answer

    def begin(self, episode: Episode) -> None:
        self._asked = self._handle.run.remote(episode)

    def cancel(self) -> None:
        self._handle.cancel.remote()

    def end(self) -> None:
        if self._node:
            self._ended = self._handle.close.remote()
        else:
            self.kill()  # it has no nodes yet, and may never be placed

    def kill(self) -> None:
        self._ray.kill(self._handle)

    def wait_for_end(self, seconds: float) -> None:
        """Until it has stopped its nodes; then its process ends, in any case."""
        if self._ended is not None:
            self._ray.wait([self._ended], timeout=seconds)
        self.kill()

    def _lost(self, error: Exception) -> str:
        """What became of the worker, in one line; empty as long as the cluster has not found out."""
        if self._node and not any(node["NodeID"] == self._node and node["Alive"] for node in self._ray.nodes()):
            return f"its node was lost: {self._host}"
        unsure = isinstance(error, self._ray.exceptions.ActorUnavailableError)
        if unsure and time.monotonic() - self._erred < NODE_SECONDS:
            return ""
        said = str(error).strip().splitlines() or [type(error).__name__]
        return f"its worker on {self._host} was lost: {textwrap.shorten(said[-1], _CAUSE_LENGTH, placeholder=' …')}"
