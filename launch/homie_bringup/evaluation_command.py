"""What ``homie eval`` does, from its options to the table at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.console import Console

from homie_bringup.evaluation import Evaluation, EvaluationError, Workers, new_evaluation_folder
from homie_bringup.evaluation_progress import ProgressDisplay
from homie_bringup.evaluation_settings import SUITES, make_plan
from homie_bringup.exit_codes import EXIT_INFRASTRUCTURE, EXIT_INTERRUPTED, EXIT_OK
from homie_bringup.local_workers import LocalWorkers
from homie_bringup.ray_cluster import RayCluster, RayOptions
from homie_bringup.remote_workers import RemoteWorkers
from homie_bringup.settings import SettingsError
from homie_bringup.stopping import stop_on_signals
from homie_eval.emmoe.results import RunResults, load_results
from homie_eval.emmoe.results_files import format_results, write_results
from homie_eval.episode_pages import Pages, write_episode_pages
from homie_eval.run_report import write_run_report
from homie_eval.runs.evaluation_folder import EvaluationFolder, RunIsLocked
from homie_eval.runs.plan import RunPlan
from homie_eval.runs.store import RunStore, State, StoreError
from homie_planner.versions import versions


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How a run is carried out. None of it changes its result, and all of it may differ when it is resumed."""

    workers: int
    tries: int
    worker_megabytes: int
    name: str
    runs: Path
    resume: Path | None
    retry_failed: bool
    pages: Pages = Pages.ALL
    ray: RayOptions | None = None


def run_evaluation(options: EvaluationOptions, values: dict[str, object], console: Console) -> int:
    """Run or go on with an evaluation. Returns the exit code: 1 if an episode could not be run, 130 if interrupted.

    Raises:
        SettingsError: a value is not allowed, or there is no run to go on with.
    """
    if options.ray is not None:
        options.ray.check()
    folder = _folder(options, values)
    try:
        with folder.locked(), RunStore(folder.store) as store:
            if options.retry_failed:
                store.retry_failed(time.time())
            _say(console, f"run      {folder.path}")
            # Signals come last: joining a cluster sets handlers of its own.
            with (
                _workers(options, folder, store.plan) as workers,
                stop_on_signals() as stop,
                ProgressDisplay(console) as display,
            ):
                evaluation = Evaluation(folder, workers, options.workers, options.tries, display.show)
                counts = evaluation.run(stop)
    except (RunIsLocked, StoreError) as error:
        raise SettingsError(str(error)) from error
    except EvaluationError as error:
        _say(console, f"stopped  {error}")
        _say(console, f"go on    homie eval --resume {folder.path}")
        return EXIT_INFRASTRUCTURE
    unfinished = counts[State.PENDING] or counts[State.RUNNING]
    # Who stops a run does not wait for pages; they are made when it is gone on with.
    show_results(folder, console, pages=Pages.NONE if unfinished else options.pages, workers=options.workers)
    if unfinished:
        _say(console, f"go on    homie eval --resume {folder.path}")
        return EXIT_INTERRUPTED
    return EXIT_INFRASTRUCTURE if counts[State.FAILED] else EXIT_OK


@contextmanager
def _workers(options: EvaluationOptions, folder: EvaluationFolder, plan: RunPlan) -> Iterator[Workers]:
    if options.ray is None:
        yield LocalWorkers(folder, options.tries, options.worker_megabytes)
        return
    with RayCluster(options.ray, plan, folder.path.name) as cluster:
        yield RemoteWorkers(folder, cluster, options.tries, options.worker_megabytes)


def show_results(
    folder: EvaluationFolder,
    console: Console,
    *,
    as_published: bool = False,
    pages: Pages = Pages.NONE,
    workers: int = 1,
) -> None:
    """Print the results of a run, finished or not, and write its files; ``pages`` are the episodes' that are missing.

    Raises:
        StoreError: it is not the folder of a run.
        TrajectoryJsonError: a record is damaged.
    """
    with RunStore(folder.store) as store:
        results = load_results(store)
    _say(console, "")
    _say(console, format_results(results, as_published=as_published))
    _say(console, "")
    for path in write_results(results, folder.path):
        _say(console, f"{path.suffix[1:]:<9}{path}")
    write_run_pages(results, folder, pages, workers, console)


def write_run_pages(
    results: RunResults, folder: EvaluationFolder, pages: Pages, workers: int, console: Console, *, again: bool = False
) -> None:
    """Write the report of a run, and before it the episodes' pages; ``again``: also those that are there already."""
    for problem in write_episode_pages(results, folder, pages, workers, again=again):
        _say(console, f"note: {problem}")
    _say(console, f"report   {write_run_report(results, folder)}")


def _folder(options: EvaluationOptions, values: dict[str, object]) -> EvaluationFolder:
    """The folder of the run: one that exists, or a new one with its plan."""
    if options.resume is not None:
        if values:
            raise SettingsError(
                f"--resume goes on with a run as it was begun, so {', '.join(sorted(values))} cannot be given"
            )
        if not options.resume.is_dir():
            raise SettingsError(f"--resume {options.resume}: there is no such folder")
        return EvaluationFolder(options.resume.resolve())
    if options.retry_failed:
        raise SettingsError("--retry-failed needs --resume")
    if not values.get("suite"):
        raise SettingsError(f"name a suite ({', '.join(SUITES)}), or a run to go on with: --resume FOLDER")
    plan = make_plan(versions(), **values)
    try:
        folder = new_evaluation_folder(options.runs, options.name or _name(plan))
        RunStore.create(folder.store, plan).close()
    except (EvaluationError, StoreError) as error:
        raise SettingsError(str(error)) from error
    return folder


def _name(plan: RunPlan) -> str:
    """By default a folder is named after the moment and the suite."""
    shard = f"_shard{plan.shard.number}of{plan.shard.count}" if plan.shard.count > 1 else ""
    return f"{datetime.now().astimezone():%Y%m%d-%H%M%S}_{plan.benchmark}{shard}"


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
