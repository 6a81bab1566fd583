"""The page of every episode of a run, made by several processes.

A page is made from the episode's bag. Where that is missing or damaged, one is made from the trajectory in the run's
file, without views; an episode that has neither has no page.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import wait
from pathlib import Path

from homie_eval.bag import BagError
from homie_eval.emmoe.results import RunEpisode, RunResults
from homie_eval.page import write_page
from homie_eval.report import ReportEpisode, render, write_report
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import TERMINAL
from homie_eval.score import ScoredEpisode
from homie_eval.video import VideoError, write_videos

ALONE_SECONDS = 3.0
"""About what a new process takes until it makes its first page."""

_CHUNK = 4


class Pages(StrEnum):
    """Of which episodes pages are made."""

    ALL = "all"
    FAILED = "failed"
    """Of those without success."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class _Work:
    """One page to make."""

    bag: Path
    page: Path
    run_report: str
    episode: RunEpisode
    videos: bool


def write_episode_pages(
    results: RunResults, folder: EvaluationFolder, pages: Pages, workers: int, *, again: bool = False
) -> tuple[str, ...]:
    """Make the pages of the episodes that have ended.

    Those that are there stay, unless the bag is newer, or ``again``. What is returned is a line for each episode whose
    bag could not be shown.
    """
    wanted = [each for each in results.episodes if each.state in TERMINAL and _is_wanted(each, pages)]
    videos = bool(results.plan.settings.get("video_fps"))
    work = [_work(each, folder, videos) for each in wanted]
    work = [each for each in work if again or not _is_fresh(each)]
    return tuple(problem for problem in _made(work, workers) if problem)


def _is_wanted(episode: RunEpisode, pages: Pages) -> bool:
    if pages is Pages.FAILED:
        return not (episode.score is not None and episode.score.success)
    return pages is Pages.ALL


def _work(episode: RunEpisode, folder: EvaluationFolder, videos: bool) -> _Work:
    page = folder.page(episode.episode)
    return _Work(
        bag=folder.bag(episode.episode),
        page=page,
        run_report=os.path.relpath(folder.report, page.parent),
        episode=episode,
        videos=videos,
    )


def _is_fresh(work: _Work) -> bool:
    try:
        return work.page.stat().st_mtime >= work.bag.stat().st_mtime
    except FileNotFoundError:
        return work.page.is_file()


def _made(work: Sequence[_Work], workers: int) -> Iterator[str]:
    """Make the pages; processes are started only where there is more to do than their start takes."""
    began = time.monotonic()
    rest = deque(work)
    while rest and (workers == 1 or time.monotonic() - began < ALONE_SECONDS):
        yield _make(rest.popleft())
    if not rest:
        return
    # Forked, a child would inherit the locks of this process's threads as they are.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_end_with_parent) as pool:
        try:
            yield from pool.map(_make, rest, chunksize=_CHUNK)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """A terminal's Ctrl-C is the parent's to handle; when that dies, so does this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _make(work: _Work) -> str:
    """Make one page; what is wrong with its bag in one line, or nothing."""
    problem = ""
    try:
        if work.videos:
            write_videos(work.bag, work.page.parent)
    except (BagError, VideoError) as error:
        problem = f"{work.episode.episode.id}: {error}"
    try:
        write_report(work.bag, work.page.parent, work.run_report)
    except BagError as error:
        return _make_without_bag(work, str(error))
    return problem


def _make_without_bag(work: _Work, problem: str) -> str:
    each = work.episode
    if each.trajectory is None or each.score is None:
        return f"{each.episode.id} has no page: {problem}"
    scored = ScoredEpisode(each.trajectory, each.task, each.score, each.live)
    note = f"made without the recording, so there are no views: {problem}"
    work.page.parent.mkdir(parents=True, exist_ok=True)
    write_page(work.page, render([ReportEpisode(scored, problems=(note,))], run_report=work.run_report))
    return f"{each.episode.id}: {note}"
