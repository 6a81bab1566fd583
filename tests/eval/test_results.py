"""The results of a run: pooled metrics, recorded tries, comparisons, and what is said beside the numbers."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from homie_eval.emmoe.results import RunResults, load_results
from homie_eval.emmoe.results_files import as_json, episodes_csv, format_results, write_results
from homie_eval.emmoe.tables import all_tables, overview
from homie_eval.runs.plan import Episode
from homie_eval.runs.store import RunStore, State
from homie_eval.statistics import wilson
from support.finished_run import finished_run
from support.run_plans import plan

GOOD = {
    "33_apple_to_sofa": "(1) [Pick, apple](success)\n(2) [Put, apple, sofa](success)\n(3) [End]",
    "84_short_can_to_empty_drawer": "(1) [Open, drawer](success)\n(2) [Put, short_can, drawer](success)\n(3) [End]",
    "100_green_can_to_fridge": (
        "(1) [Open, fridge](success)\n(2) [Pick, green_can](success)\n(3) [Put, green_can, fridge](success)\n(4) [End]"
    ),
}
BAD = "(1) [Open, sofa](fail)\n(2) [Go to, sofa](success)\n(3) [End]"


def steps_for(episode: Episode) -> str | None:
    """Planner a succeeds in all but one episode, which could not be run; b only in task 33."""
    if episode.planner == "a":
        return None if (episode.task, episode.trial) == ("84_short_can_to_empty_drawer", 2) else GOOD[episode.task]
    return GOOD[episode.task] if episode.task == "33_apple_to_sofa" else BAD


@pytest.fixture
def results(tmp_path: Path) -> RunResults:
    with finished_run(tmp_path / "run.sqlite", plan(), steps_for) as store:
        return load_results(store)


def test_metrics_are_pooled_over_what_judges_the_planner(results: RunResults) -> None:
    a, b = results.planners
    assert (a.estimates["SR"].numerator, a.estimates["SR"].denominator) == (5, 5)
    assert (b.estimates["SR"].numerator, b.estimates["SR"].denominator) == (2, 6)
    assert b.estimates["SR"].interval == wilson(2, 6)
    assert (b.estimates["SER"].numerator, b.estimates["SER"].denominator) == (2, 6)
    assert b.estimates["SRR"].value.number == 0.0
    assert not a.estimates["SRR"].value.defined
    assert b.estimates["TP"].interval is not None
    assert 0 <= b.estimates["TP"].interval.low < b.estimates["TP"].value.number < b.estimates["TP"].interval.high <= 1


def test_planners_are_compared_over_the_episodes_that_both_have(results: RunResults) -> None:
    (success,) = [each for each in results.comparisons if each.metric == "SR"]
    assert (success.first, success.second, success.pairs) == ("a", "b", 5)
    # Three pairs differ, all in favour of a: 2 / 2**3.
    assert success.p == pytest.approx(0.25)
    assert success.is_noise
    assert success.difference == pytest.approx(1 - 2 / 5)


def test_a_live_score_that_differs_is_told(tmp_path: Path) -> None:
    with finished_run(tmp_path / "run.sqlite", plan(), steps_for) as store:
        record = next(store.records([State.DONE]))
        other = json.dumps(json.loads(record.live_scores_json) | {"TP": 0.123})
        store.put(replace(record, live_scores_json=other))
        results = load_results(store)
    assert [each.episode for each in results.disagreements] == [record.episode]
    assert "warning: 1 episodes were scored differently while they ran" in format_results(results)


def test_what_failed_is_neither_a_failure_of_the_task_nor_hidden(results: RunResults) -> None:
    text = format_results(results)
    assert "note: 1 episodes could not be run and count for no planner:" in text
    assert "a/84_short_can_to_empty_drawer/trial2, 1 tries: the bridge died" in text
    lines = csv.DictReader(io.StringIO(episodes_csv(results)))
    rows = {(line["planner"], line["task"], line["trial"]): line for line in lines}
    assert len(rows) == 12
    lost = rows["a", "84_short_can_to_empty_drawer", "2"]
    assert (lost["state"], lost["cause"], lost["SR"]) == ("failed", "the bridge died", "")
    assert rows["b", "100_green_can_to_fridge", "1"]["errors"]


def test_files(results: RunResults, tmp_path: Path) -> None:
    paths = write_results(results, tmp_path)
    assert [path.name for path in paths] == ["metrics.csv", "episodes.csv", "tables.tex", "results.json"]
    metrics = list(csv.DictReader(io.StringIO((tmp_path / "metrics.csv").read_text())))
    (success,) = [row for row in metrics if (row["table"], row["row"], row["column"]) == ("overview", "b", "SR")]
    assert float(success["value"]) == 2 / 6
    loaded = json.loads((tmp_path / "results.json").read_text())
    assert loaded == json.loads(json.dumps(as_json(results)))
    assert loaded["planners"]["b"]["metrics"]["SR"]["numerator"] == 2
    assert loaded["planners"]["a"]["metrics"]["SRR"]["value"] is None
    assert loaded["states"] == {"done": 11, "failed": 1}


def test_every_table_has_a_row_for_every_planner(results: RunResults) -> None:
    for table in all_tables(results):
        labels = [label for label, _ in table.rows]
        assert any(label.startswith("a") for label in labels) and any(label.startswith("b") for label in labels)
    assert overview(results.planners).rows[0][1][0].best


def test_a_run_that_has_just_begun_has_a_table_too(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run.sqlite", plan()) as store:
        results = load_results(store)
    text = format_results(results, as_published=True)
    assert "note: 12 of 12 episodes are not finished" in text
    assert "SR    a - b: not defined" in text
