"""Shards of a run become one again."""

import sqlite3
from pathlib import Path

import pytest

from homie_eval.emmoe.results import load_results
from homie_eval.emmoe.results_files import as_json, episodes_csv
from homie_eval.runs.merge import MergeError, merge
from homie_eval.runs.plan import Episode, RunPlan, Shard
from homie_eval.runs.store import RunStore, State
from support.finished_run import finished_run
from support.run_plans import plan

STEPS = "(1) [Pick, apple](success)\n(2) [Put, apple, sofa](success)\n(3) [End]"


def steps_for(episode: Episode) -> str | None:
    return None if episode.trial == 2 and episode.planner == "b" else STEPS


def shards(folder: Path, count: int, whole: RunPlan | None = None) -> list[RunStore]:
    of = whole or plan()
    return [
        finished_run(
            folder / f"{number}of{count}.sqlite",
            of.model_copy(update={"shard": Shard(number=number, count=count)}),
            steps_for,
        )
        for number in range(1, count + 1)
    ]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_merged_run_is_the_undivided_one(tmp_path: Path, count: int) -> None:
    undivided = load_results(finished_run(tmp_path / "whole.sqlite", plan(), steps_for))
    merged = load_results(merge(shards(tmp_path, count), tmp_path / "merged.sqlite"))
    assert episodes_csv(merged) == episodes_csv(undivided)
    assert as_json(merged) == as_json(undivided)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    parts = shards(tmp_path, 3)
    (tmp_path / "other").mkdir()
    others = shards(tmp_path / "other", 3, plan(seed=6))
    (tmp_path / "two").mkdir()
    halves = shards(tmp_path / "two", 2)
    target = tmp_path / "merged.sqlite"
    for given, message in (
        ([], "nothing to merge"),
        (parts[:2], "shard 3/3 is missing"),
        ([*parts, parts[1]], "shard 2/3 is given 2 times"),
        ([*parts[:2], others[2]], "their plans differ"),
        ([parts[0], halves[1]], "is one of 2 shards"),
    ):
        with pytest.raises(MergeError, match=message):
            merge(given, target)
        assert not target.exists()


def test_a_file_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    parts = shards(tmp_path, 2)
    connection = sqlite3.connect(parts[1].path)
    connection.execute("DELETE FROM episodes WHERE number = 1")
    connection.commit()
    with pytest.raises(MergeError, match="1 episodes are missing"):
        merge(parts, tmp_path / "merged.sqlite")


def test_an_unfinished_shard(tmp_path: Path) -> None:
    whole = plan()
    first = finished_run(tmp_path / "1.sqlite", whole.model_copy(update={"shard": Shard(number=1, count=2)}), steps_for)
    second = RunStore.create(tmp_path / "2.sqlite", whole.model_copy(update={"shard": Shard(number=2, count=2)}))
    with pytest.raises(MergeError, match="6 episodes are not finished, the first is a/84"):
        merge([first, second], tmp_path / "merged.sqlite")
    merged = merge([first, second], tmp_path / "merged.sqlite", unfinished=True)
    assert merged.counts()[State.PENDING] == 6
    assert merged.claim("w", 1.0) is not None
