"""``homie demo``: one episode from start to report."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from rich.console import Console

from homie_bringup.composition import Composition
from homie_bringup.domain import run_domain
from homie_bringup.episode_client import EPISODE_SECONDS, EpisodeClientNode, Graph
from homie_bringup.exit_codes import EXIT_INFRASTRUCTURE, EXIT_INTERRUPTED, EXIT_OK
from homie_bringup.graph import NodeSpec, simulation_graph
from homie_bringup.pages import write_pages
from homie_bringup.processes import Processes
from homie_bringup.run_folder import RunFolder, new_run_folder
from homie_bringup.settings import Run
from homie_bringup.stopping import stop_on_signals
from homie_bringup.table import StepTable
from homie_bringup.task_goal import task_goal
from homie_core.episode import EpisodeResult, Outcome
from homie_eval.score import BagScore, format_bag, score_bag
from homie_ros.errors import InfrastructureError
from homie_ros.node_host import NodeHost

_KINDS = {".html": "report", ".mp4": "video"}


class Layout(StrEnum):
    """How the nodes of a run are started."""

    COMPOSED = "composed"
    PROCESSES = "processes"
    ATTACH = "attach"


class RunningElsewhere:
    """A graph that someone else started, e.g. with ``ros2 launch``."""

    def __enter__(self) -> RunningElsewhere:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing of ours to stop."""

    def failure(self) -> str:
        """Unknown from here: what fails shows as a neighbour that does not answer."""
        return ""


def run_demo(run: Run, layout: Layout, runs: Path, console: Console) -> int:
    """Run one episode and leave a run folder below ``runs``. Returns the exit code."""
    folder = new_run_folder(runs, run.task.id, run.settings.seed, datetime.now().astimezone())
    with run_domain() as domain, stop_on_signals() as stop:
        try:
            result = _episode(run, layout, folder, domain, console, stop)
        except InfrastructureError as error:
            outcome = Outcome.CANCELLED if stop.is_set() else Outcome.INFRASTRUCTURE_FAILURE
            result = EpisodeResult(outcome, steps=0, cause=str(error))
    _conclude(run, folder, result, console)
    if result.outcome is Outcome.INFRASTRUCTURE_FAILURE:
        return EXIT_INFRASTRUCTURE
    return EXIT_INTERRUPTED if stop.is_set() else EXIT_OK


def _episode(
    run: Run, layout: Layout, folder: RunFolder, domain: int, console: Console, stop: threading.Event
) -> EpisodeResult:
    title = f"{run.task.id}: {run.task.instruction}  (planner {run.settings.planner}, seed {run.settings.seed})"
    with (
        _start(layout, simulation_graph(run), domain, folder) as graph,
        NodeHost(domain_id=domain) as host,
    ):
        client = host.add(EpisodeClientNode, graph=graph, use_global_arguments=False)
        client.wait_ready(stop)
        thinking = run.settings.max_steps * (run.reply_seconds or 0.0)
        with StepTable(console, title) as table:
            goal = task_goal(run, f"{folder.path.name}_trial{run.settings.trial}", layout.value)
            return client.run(goal, folder.bag, table.add, stop, table.say, EPISODE_SECONDS + thinking)


def _start(
    layout: Layout, specs: tuple[NodeSpec, ...], domain: int, folder: RunFolder
) -> AbstractContextManager[Graph]:
    match layout:
        case Layout.COMPOSED:
            return Composition(specs, domain)
        case Layout.PROCESSES:
            return Processes(specs, domain, folder.log)
        case Layout.ATTACH:
            return RunningElsewhere()


def _conclude(run: Run, folder: RunFolder, result: EpisodeResult, console: Console) -> None:
    """Tell how it went, from the bag: what is printed here is what ``homie score`` prints later."""
    score = score_bag(folder.bag) if folder.bag.exists() else None
    folder.write_summary(
        {
            "settings": run.settings.model_dump(),
            "task_id": run.task.id,
            "outcome": result.outcome.value,
            "cause": result.cause,
            "score": _numbers(score),
        }
    )
    _say(console, "")
    if score is None:
        _say(console, f"outcome  {result.outcome.value.replace('_', ' ')}: {result.cause}")
        return
    _say(console, format_bag(score))
    _say(console, "")
    _say(console, f"bag      {folder.bag}")
    for path in write_pages(folder.bag, folder.path):
        _say(console, f"{_KINDS[path.suffix]:<9}{path}")


def _numbers(score: BagScore | None) -> dict[str, float | None]:
    """Metric values of the run's episode; None where one is not defined, for JSON has no NaN."""
    if score is None or not score.episodes:
        return {}
    values = score.episodes[0].score.values
    return {name: value.number if value.defined else None for name, value in values.items()}


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
