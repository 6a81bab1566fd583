"""The report of a run: the numbers of results.json, a link to every page that is there, hostile text as text."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from homie_core.episode import Outcome
from homie_eval.emmoe.metrics import METRICS
from homie_eval.emmoe.results import RunResults, load_results
from homie_eval.emmoe.results_files import as_json, remarks, write_results
from homie_eval.episode_pages import Pages, write_episode_pages
from homie_eval.run_report import write_run_report
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.plan import Episode, Planner, RunPlan, Shard
from homie_eval.runs.store import RunStore, State
from homie_eval.trajectory_json import to_json
from support.finished_run import finished_run, trajectory_of
from support.html_page import Page
from support.run_plans import TASKS, plan

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>{{ 7 * 7 }}</style></svg>'
GOOD = {
    "33_apple_to_sofa": "(1) [Pick, apple](success)\n(2) [Put, apple, sofa](success)\n(3) [End]",
    "84_short_can_to_empty_drawer": "(1) [Open, drawer](success)\n(2) [Put, short_can, drawer](success)\n(3) [End]",
    "100_green_can_to_fridge": (
        "(1) [Open, fridge](success)\n(2) [Pick, green_can](success)\n(3) [Put, green_can, fridge](success)\n(4) [End]"
    ),
}
BAD = "(1) [Open, sofa](fail)\n(2) [Go to, sofa](success)\n(3) [End]"


class Tables(HTMLParser):
    """The rows of the table that follows the heading with an id: each cell's text, and the values of its data."""

    def __init__(self, html: str, id: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.values: list[list[str]] = []
        self._id, self._state, self._cell = id, "before", False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if self._state == "before" and attributes.get("id") == self._id:
            self._state = "in"
        if self._state != "in":
            return
        if tag == "tr":
            self.rows.append([])
            self.values.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True
        elif tag == "data":
            self.values[-1].append(attributes["value"] or "")

    def handle_endtag(self, tag: str) -> None:
        if self._state == "in":
            self._cell = self._cell and tag not in ("td", "th")
            self._state = "after" if tag == "table" else "in"

    def handle_data(self, data: str) -> None:
        if self._state == "in" and self._cell:
            self.rows[-1][-1] += data


def steps_for(episode: Episode) -> str | None:
    """Planner a succeeds in all but one episode, which could not be run; b only in task 33."""
    if episode.planner == "a":
        return None if (episode.task, episode.trial) == ("84_short_can_to_empty_drawer", 2) else GOOD[episode.task]
    return GOOD[episode.task] if episode.task == "33_apple_to_sofa" else BAD


@pytest.fixture
def folder(tmp_path: Path) -> EvaluationFolder:
    path = tmp_path / "run"
    path.mkdir()
    return EvaluationFolder(path)


@pytest.fixture
def results(folder: EvaluationFolder) -> RunResults:
    with finished_run(folder.store, plan(), steps_for) as store:
        return load_results(store)


def html(results: RunResults, folder: EvaluationFolder) -> str:
    path = write_run_report(results, folder)
    assert path == folder.path / "report.html"
    return path.read_text(encoding="utf-8")


def test_the_numbers_are_those_of_results_json(results: RunResults, folder: EvaluationFolder) -> None:
    page = html(results, folder)
    written: dict[str, Any] = as_json(results)
    overview = Tables(page, "overview")
    assert overview.rows[0] == ["", *METRICS]
    for row, values, (label, planner) in zip(
        overview.rows[1:], overview.values[1:], written["planners"].items(), strict=True
    ):
        assert row[0] == label
        numbers = [float(value) if value else None for value in values]
        assert numbers == [planner["metrics"][metric]["value"] for metric in METRICS]
    for row in Tables(page, "skills").rows[1:]:
        assert row[0] in written["planners"]
    found = Tables(page, "differences")
    for row, values, each in zip(found.rows[1:], found.values[1:], written["comparisons"], strict=True):
        assert row[0] == each["metric"]
        assert [float(value) if value else None for value in values] == [each["difference"], each["p"]]
        verdict = "may be chance" if each["is_noise"] else "more than noise"
        assert row[5] == ("" if each["difference"] is None else verdict)


def test_intervals_and_the_best_are_shown(results: RunResults, folder: EvaluationFolder) -> None:
    page = html(results, folder)
    rows = Tables(page, "overview").rows
    assert rows[1][1].startswith("100.00[56.") and rows[2][1].startswith("33.33[9.7, 70.0]")
    assert Page(page).classed("td", "best")


def test_the_head_says_what_was_run(results: RunResults, folder: EvaluationFolder) -> None:
    page = Page(html(results, folder))
    for text in (
        "EMMOE, run",
        "finished",
        "2 planners, 3 tasks, 2 trials",
        "Seed of the run 5",
        "a expert 5 5 1 0 6",  # done, judged, could not be run, not finished, of
        "b expert 6 6 0 0 6",
        "Configuration of a",
    ):
        assert text in page.text
    for line in remarks(results):
        assert " ".join(line.split()) in page.text


def test_differences_that_may_be_chance_are_warned_of(results: RunResults, folder: EvaluationFolder) -> None:
    noisy = [each.metric for each in results.comparisons if each.is_noise and not math.isnan(each.difference)]
    assert noisy
    text = Page(html(results, folder)).text
    assert f"Differences that may be chance a and b: {', '.join(noisy)}" in text


def test_errors_are_drawn_for_successful_and_failed_trajectories(results: RunResults, folder: EvaluationFolder) -> None:
    page = Page(html(results, folder))
    assert len(page.classed("rect", "piece")) == 1  # b's failed trajectories, one code
    assert "E1: 4 of 4 errors" in page.text
    assert "1.00 each (4 in 4)" in page.text


def test_links_lead_to_pages_that_are_there(results: RunResults, folder: EvaluationFolder) -> None:
    assert not [link for link in Page(html(results, folder)).of("a") if "episodes/" in str(link["href"])]
    write_episode_pages(results, folder, Pages.ALL, workers=1)
    write_results(results, folder.path)
    page = Page(html(results, folder))
    ids = {str(each["id"]) for _, each in page.tags if "id" in each}
    links = [str(link["href"]) for link in page.of("a")]
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids
        else:
            assert (folder.path / unquote(link)).is_file(), link
    pages = {link for link in links if link.startswith("episodes/")}
    assert len(pages) == 11  # the one that could not be run left nothing
    for each in results.episodes:
        if each.trajectory is not None:
            assert f"episodes/{each.episode.id}/report.html" in pages
    assert {"metrics.csv", "episodes.csv", "tables.tex", "results.json"} <= set(links)


def test_every_episode_is_in_the_strips_and_in_the_table_of_tasks(
    results: RunResults, folder: EvaluationFolder
) -> None:
    page = Page(html(results, folder))
    assert len(page.classed("rect", "cell")) == len(page.classed("span", "mark")) == 12
    assert len(page.classed("rect", "cell", "success")) == len(page.classed("span", "mark", "success")) == 7
    assert len(page.classed("rect", "cell", "lost")) == len(page.classed("span", "mark", "lost")) == 1
    assert len(page.classed("tr", "failed")) == 2 and len(page.classed("tr", "differs")) == 2
    assert "only where planners differ (2)" in page.text
    assert "5 episodes" in page.text  # without success


def test_hostile_text_is_text(folder: EvaluationFolder) -> None:
    tasks = (TASKS[0].model_copy(update={"instruction": EVIL}), *TASKS[1:])
    hostile = plan().model_copy(
        update={
            "tasks": tasks,
            "planners": tuple(Planner(label=label, settings={"planner": EVIL, EVIL: EVIL}) for label in "ab"),
            "settings": {"setting": EVIL, EVIL: EVIL},
            "versions": {EVIL: EVIL},
        }
    )
    with RunStore.create(folder.store, RunPlan.model_validate(hostile.model_dump())) as store:
        while (episode := store.claim("w", 1.0)) is not None:
            if episode.trial == 2:
                store.fail(episode, "w", EVIL, 2.0, max_tries=1)
                continue
            trajectory = trajectory_of(episode, BAD)
            steps = [replace(step, feedback=EVIL, analysis=EVIL, raw_output=EVIL) for step in trajectory.steps]
            info = replace(trajectory.info, configuration_json=json.dumps({"planner": {EVIL: EVIL}}))
            store.finish(episode, replace(trajectory, info=info, steps=tuple(steps)), "", 2.0, 1.0)
        results = load_results(store)
    page = Page(html(results, folder))
    page.assert_self_contained()
    assert page.of("img") == []
    assert page.text.count(EVIL) > 10


def test_nothing_comes_from_elsewhere(results: RunResults, folder: EvaluationFolder) -> None:
    content = html(results, folder)
    Page(content).assert_self_contained()
    assert "http:" not in content and "https:" not in content and "url(" not in content and "@import" not in content


def test_an_unfinished_run_says_so(folder: EvaluationFolder) -> None:
    with finished_run(folder.store, plan(), steps_for) as store:
        first, second, *_ = store.records()
        store.put(replace(first, state=State.PENDING, trajectory_json="", live_scores_json=""))
        store.put(replace(second, state=State.RUNNING, trajectory_json="", live_scores_json=""))
        results = load_results(store)
    page = Page(html(results, folder))
    assert "unfinished: 2 of 12 episodes are missing" in page.text
    assert len(page.classed("rect", "cell", "open")) == 2
    assert "note: 2 of 12 episodes are not finished" in page.text


def test_a_run_that_has_just_begun_has_a_report_too(folder: EvaluationFolder) -> None:
    with RunStore.create(folder.store, plan()) as store:
        results = load_results(store)
    page = Page(html(results, folder))
    assert "unfinished: 12 of 12 episodes are missing" in page.text
    assert "not defined" in page.text


def test_a_shard_shows_the_rest_as_open(folder: EvaluationFolder) -> None:
    with finished_run(folder.store, plan(Shard(number=1, count=2)), steps_for) as store:
        results = load_results(store)
    page = Page(html(results, folder))
    assert "Shard 1 of 2" in page.text
    assert "in another shard" in page.text
    assert len(page.classed("rect", "cell", "open")) == 6 and len(page.classed("rect", "cell")) == 12


def test_one_planner_has_no_differences(folder: EvaluationFolder) -> None:
    with finished_run(folder.store, plan(planners=("a",)), steps_for) as store:
        results = load_results(store)
    page = Page(html(results, folder))
    assert "Differences" not in page.text and "may be chance" not in page.text
    assert page.classed("td", "best") == []


def test_the_published_table_is_folded_away(results: RunResults, folder: EvaluationFolder) -> None:
    content = html(results, folder)
    assert Tables(content, "as_published").rows[0] == ["", "SR", "PLWSR", "TP", "SRR", "SER"]
    assert content.index("as the published notebooks count</summary>") < content.index('id="as_published"')


def test_cost_is_shown_where_there_is_one(folder: EvaluationFolder) -> None:
    with RunStore.create(folder.store, plan(trials=1)) as store:
        while (episode := store.claim("w", 1.0)) is not None:
            trajectory = trajectory_of(episode, BAD)
            steps = [replace(step, tokens_in=10, tokens_out=2, requests=1, cost_usd=0.5) for step in trajectory.steps]
            store.finish(episode, replace(trajectory, steps=tuple(steps)), "", 2.0, 1.0)
        results = load_results(store)
    costs = Tables(html(results, folder), "costs")
    row = dict(zip(costs.rows[0], costs.rows[1], strict=True))
    assert (row["tokens in"], row["requests"], row["USD"]) == ("90", "9", "4.5000")


def test_an_outcome_that_judges_nobody_is_counted_as_not_run(folder: EvaluationFolder) -> None:
    with finished_run(folder.store, plan(), steps_for) as store:
        record = next(store.records([State.FAILED]))
        cut = trajectory_of(record.episode, BAD)
        assert cut.result is not None
        broken = replace(cut, result=replace(cut.result, outcome=Outcome.INFRASTRUCTURE_FAILURE, cause="it broke"))
        store.put(replace(record, trajectory_json=to_json(broken)))
        results = load_results(store)
    page = Page(html(results, folder))
    assert len(page.classed("rect", "cell", "lost")) == 1
    assert "infrastructure failure after 3 steps" in page.text
