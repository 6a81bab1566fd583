"""What planners cost: sums, medians, and columns that have something in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from homie_eval.emmoe.costs import cost_table
from homie_eval.emmoe.results import PlannerResults, RunEpisode, load_results
from homie_eval.runs.plan import Episode
from homie_eval.tables import Cell
from support.finished_run import finished_run
from support.run_plans import plan

STEPS = "(1) [Pick, apple](fail)\n(2) [Pick, apple](success)\n(3) [End]"


def planners(folder: Path, *, priced: bool) -> tuple[PlannerResults, ...]:
    def steps(episode: Episode) -> str | None:
        return None if (episode.planner, episode.trial) == ("a", 2) else STEPS

    with finished_run(folder / "run.sqlite", plan(), steps) as store:
        results = load_results(store)
    return tuple(
        PlannerResults(each.label, tuple(map(_paid if priced else _timed, each.episodes))) for each in results.planners
    )


def _timed(episode: RunEpisode) -> RunEpisode:
    if episode.trajectory is None:
        return episode
    steps = [
        replace(step, planner_wall_seconds=0.1 * step.index, execution_wall_seconds=float(step.index))
        for step in episode.trajectory.steps
    ]
    return replace(episode, trajectory=replace(episode.trajectory, steps=tuple(steps)))


def _paid(episode: RunEpisode) -> RunEpisode:
    timed = _timed(episode)
    if timed.trajectory is None or timed.episode.planner == "b":
        return timed
    steps = [replace(step, tokens_in=100, tokens_out=20, requests=2, cost_usd=0.001) for step in timed.trajectory.steps]
    return replace(timed, trajectory=replace(timed.trajectory, steps=tuple(steps)))


def cells(folder: Path, *, priced: bool) -> dict[str, dict[str, Cell]]:
    table = cost_table(planners(folder, priced=priced))
    return {label: dict(zip(table.columns, row, strict=True)) for label, row in table.rows}


def test_tokens_money_and_time(tmp_path: Path) -> None:
    a, b = cells(tmp_path, priced=True).values()
    # Three tasks of three steps; the second trial could not be run.
    assert (a["episodes"].text, a["steps"].text, a["requests"].text) == ("3", "9", "18")
    assert (a["tokens in"].text, a["tokens out"].text, a["tokens per step"].text) == ("900", "180", "120")
    assert a["USD"].number == pytest.approx(0.009)
    assert a["USD per episode"].text == "0.0030"
    assert a["planning, ms"].text == "200.00"
    assert a["execution, s"].text == "1.50"  # End is not executed
    assert a["episode, s"].text == "1.50"
    assert (b["episodes"].text, b["tokens in"].text, b["USD"].text) == ("6", "-", "-")


def test_what_nobody_has_is_left_out(tmp_path: Path) -> None:
    a = cells(tmp_path, priced=False)["a"]
    assert not {"requests", "tokens in", "USD"} & a.keys()
    assert "planning, ms" in a
