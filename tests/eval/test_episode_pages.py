"""The pages of a run's episodes: from bags or the run's file, by several processes, and only where they are wanted."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from homie_core.episode import EpisodeResult, Outcome
from homie_eval import episode_pages
from homie_eval.emmoe.results import RunResults, load_results
from homie_eval.episode_pages import Pages, write_episode_pages
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.plan import Episode
from homie_eval.runs.store import RunStore
from support.bags import BagFixture
from support.finished_run import finished_run, trajectory_of
from support.html_page import Page
from support.run_plans import plan

WON = "(1) [Pick, apple](success)\n(2) [Put, apple, sofa](success)\n(3) [End]"
LOST = "(1) [Open, sofa](fail)\n(2) [End]"


def steps_for(episode: Episode) -> str | None:
    if (episode.planner, episode.task) == ("b", "84_short_can_to_empty_drawer"):
        return None
    return WON if episode.task == "33_apple_to_sofa" else LOST


@pytest.fixture
def folder(tmp_path: Path) -> EvaluationFolder:
    return EvaluationFolder(tmp_path / "run")


@pytest.fixture
def results(folder: EvaluationFolder) -> RunResults:
    """Two planners, three tasks, one trial; a bag for each episode that was recorded, but not for task 100 of b."""
    folder.path.mkdir()
    with finished_run(folder.store, plan(trials=1), steps_for) as store:
        results = load_results(store)
    for each in results.episodes:
        if each.trajectory and each.episode.id != "b/100_green_can_to_fridge/trial1":
            write_bag(folder, each.episode)
    return results


def write_bag(folder: EvaluationFolder, episode: Episode) -> None:
    trajectory = trajectory_of(episode, steps_for(episode) or "")
    bag_path = folder.bag(episode)
    bag_path.parent.mkdir(parents=True)
    with BagFixture(bag_path) as bag:
        bag.info(trajectory.info)
        for step in trajectory.steps:
            bag.step(trajectory.info.episode_id, step)
        bag.result(trajectory.info.episode_id, EpisodeResult(Outcome.ENDED, len(trajectory.steps)))


def pages(folder: EvaluationFolder) -> set[str]:
    return {path.parent.relative_to(folder.episodes).as_posix() for path in folder.episodes.rglob("report.html")}


RECORDED = {
    *(f"{planner}/{task}/trial1" for planner in "ab" for task in ("33_apple_to_sofa", "100_green_can_to_fridge")),
    "a/84_short_can_to_empty_drawer/trial1",
}


def test_every_recorded_episode_gets_a_page(results: RunResults, folder: EvaluationFolder) -> None:
    problems = write_episode_pages(results, folder, Pages.ALL, workers=1)
    assert pages(folder) == RECORDED
    page = Page(folder.page(results.episodes[0].episode).read_text(encoding="utf-8"))
    assert "[Pick, apple] at step 1" in page.text
    (back,) = [str(link["href"]) for link in page.of("a") if "report.html" in str(link["href"])]
    assert (folder.page(results.episodes[0].episode).parent / back).resolve() == folder.report.resolve()
    assert len(problems) == 2
    lost = next(each for each in problems if each.startswith("b/84_short_can_to_empty_drawer/trial1"))
    assert "has no page: there is no bag" in lost


def test_without_a_bag_the_page_comes_from_the_file_of_the_run(results: RunResults, folder: EvaluationFolder) -> None:
    problems = write_episode_pages(results, folder, Pages.ALL, workers=1)
    assert any("b/100_green_can_to_fridge/trial1: made without the recording" in problem for problem in problems)
    text = Page((folder.episodes / "b/100_green_can_to_fridge/trial1/report.html").read_text(encoding="utf-8")).text
    assert "made without the recording, so there are no views: there is no bag" in text
    assert "Open sofa" in text and "not successful" in text


def test_a_damaged_bag_is_said(results: RunResults, folder: EvaluationFolder) -> None:
    bag = folder.bag(results.episodes[0].episode)
    for path in bag.glob("*.mcap"):
        path.write_bytes(b"nothing")
    problems = write_episode_pages(results, folder, Pages.ALL, workers=1)
    assert any(problem.startswith(f"{results.episodes[0].episode.id}: made without") for problem in problems)
    assert folder.page(results.episodes[0].episode).is_file()


def test_only_the_failures_or_none(results: RunResults, folder: EvaluationFolder) -> None:
    assert write_episode_pages(results, folder, Pages.NONE, workers=1) == ()
    assert pages(folder) == set()
    write_episode_pages(results, folder, Pages.FAILED, workers=1)
    assert pages(folder) == {id for id in RECORDED if "33_apple" not in id}


def test_pages_that_are_there_are_made_again_only_if_wanted_or_outdated(
    results: RunResults, folder: EvaluationFolder
) -> None:
    write_episode_pages(results, folder, Pages.ALL, workers=1)
    first, second = (folder.page(each.episode) for each in results.episodes[:2])
    for page in (first, second):
        page.write_text("old")
    later = second.stat().st_mtime + 10
    os.utime(folder.bag(results.episodes[1].episode), (later, later))
    write_episode_pages(results, folder, Pages.ALL, workers=1)
    assert (first.read_text(), second.read_text() == "old") == ("old", False)
    write_episode_pages(results, folder, Pages.ALL, workers=1, again=True)
    assert first.read_text() != "old"


def test_an_episode_that_has_not_ended_has_no_page(folder: EvaluationFolder) -> None:
    folder.path.mkdir()
    with RunStore.create(folder.store, plan(trials=1)) as store:
        claimed = store.claim("w", 1.0)
        assert claimed is not None
        write_bag(folder, claimed)
        results = load_results(store)
    assert write_episode_pages(results, folder, Pages.ALL, workers=1, again=True) == ()
    assert pages(folder) == set()


@pytest.fixture
def processes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode_pages, "ALONE_SECONDS", 0.0)


@pytest.mark.usefixtures("processes_at_once")
@pytest.mark.timeout(120)
def test_several_processes_make_the_same_pages(results: RunResults, folder: EvaluationFolder) -> None:
    alone = write_episode_pages(results, folder, Pages.ALL, workers=1)
    texts = {path: path.read_text(encoding="utf-8") for path in folder.episodes.rglob("report.html")}
    for path in texts:
        path.unlink()
    assert write_episode_pages(results, folder, Pages.ALL, workers=2) == alone
    assert {path: path.read_text(encoding="utf-8") for path in folder.episodes.rglob("report.html")} == texts


SCRIPT = """
import sys
from pathlib import Path
from homie_eval import episode_pages
from homie_eval.emmoe.results import load_results
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import RunStore

folder = EvaluationFolder(Path(sys.argv[1]))
episode_pages.ALONE_SECONDS = 0.0
with RunStore(folder.store) as store:
    results = load_results(store)
episode_pages.write_episode_pages(results, folder, episode_pages.Pages.ALL, workers=2)
"""


@pytest.mark.timeout(120)
def test_no_process_outlives_the_one_that_started_it(results: RunResults, folder: EvaluationFolder) -> None:
    bag = folder.bag(results.episodes[0].episode)
    for path in bag.glob("*.mcap"):
        path.unlink()
        os.mkfifo(path)  # whoever reads this bag waits for ever
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder.path)])
    try:
        # Another process made a page, so that of this bag is at work too.
        wait_for(lambda: len(pages(folder)) > 0, "a page")
        started = children(process.pid)
        assert len(started) >= 2
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not any(map(is_alive, started)), "the processes to end")


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline, f"waited 60 s for {what}"
        time.sleep(0.05)
