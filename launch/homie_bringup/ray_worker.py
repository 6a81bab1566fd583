"""What a worker of an evaluation does on a node of a Ray cluster."""

from __future__ import annotations

import platform
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from homie_bringup.episode_runner import Attempt, EpisodeRunner
from homie_bringup.evaluation_settings import run_for
from homie_bringup.evaluation_worker import resident_megabytes
from homie_bringup.remote_workers import Delivery, Ready
from homie_bringup.settings import SettingsError
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.plan import Episode, RunPlan
from homie_planner.extras import require
from homie_planner.versions import versions
from homie_ros.fastdds import set_transport_defaults


class RayWorker:
    """Runs one episode after the other. `cancel` is called while `run` runs, so an actor needs two threads."""

    def __init__(self, plan_json: str, run_name: str, bags: str) -> None:
        """``bags`` is the folder in which bags stay; empty: each goes with its delivery.

        Nothing stays then on the node, but where a worker was killed: there is a folder ``homie_bags_*`` among the
        temporary files, with one bag at most.
        """
        set_transport_defaults()
        self._plan = RunPlan.model_validate_json(plan_json)
        self._keeps_bags = bool(bags)
        self._parent = Path(bags or tempfile.mkdtemp(prefix="homie_bags_"))
        self._folder = EvaluationFolder(self._parent / run_name)
        self._stop = threading.Event()
        self._runner = EpisodeRunner()
        # An actor's calls come in any of its threads; the nodes are made, used and stopped in this one.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="episodes")

    def ready(self) -> Ready:
        """What the parent must know of this node."""
        node = require("ray", "ray").get_runtime_context().get_node_id()
        return Ready(platform.node(), node, versions())

    def run(self, episode: Episode) -> Delivery:
        """One try of one episode."""
        return self._thread.submit(self._run, episode).result()

    def cancel(self) -> None:
        """Stop the episode that runs, and any that would follow."""
        self._stop.set()

    def close(self) -> None:
        """Stop the nodes."""
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()
        if not self._keeps_bags:
            shutil.rmtree(self._parent, ignore_errors=True)

    def _run(self, episode: Episode) -> Delivery:
        bag = self._folder.bag(episode)
        try:
            run = run_for(self._plan, episode)
        except SettingsError as error:
            attempt = Attempt(None, "", f"on {platform.node()}: {error}", cancelled=False, seconds=0.0)
        else:
            attempt = self._runner.run(run, self._folder.episode_id(episode), bag, self._stop)
        files: dict[str, bytes] = {}
        place = ""
        if self._keeps_bags and bag.is_dir():
            place = f"{platform.node()}:{bag.absolute()}"
        elif bag.is_dir():
            files = {path.name: path.read_bytes() for path in sorted(bag.iterdir())}
            shutil.rmtree(bag)
        return Delivery(attempt, files, place, resident_megabytes())
