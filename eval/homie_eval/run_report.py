"""The report of a whole run: one HTML file with every number, every plot, and a link to every episode's own page.

It runs no script and loads nothing. The numbers are those of `results.json` and of the tables; each is in a ``data``
element that has its full digits as its value.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from pydantic import JsonValue

from homie_core.errors import ErrorCode
from homie_eval.emmoe.costs import cost_table
from homie_eval.emmoe.results import NOISE_LEVEL, Comparison, PlannerResults, RunEpisode, RunResults
from homie_eval.emmoe.results_files import published_table, remarks
from homie_eval.emmoe.tables import all_tables
from homie_eval.emmoe.tasks import Task
from homie_eval.page import pretty_json, render_page, write_page
from homie_eval.plots import Bar, CellKind, Piece, Stack, StripCell, bar_chart, stacked_chart, strip
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import TERMINAL, State
from homie_eval.score import format_errors, format_outcome
from homie_eval.spending import format_seconds
from homie_eval.tables import Cell, Table

FILES = ("metrics.csv", "episodes.csv", "tables.tex", "results.json")
"""Of the same run, linked where they are there."""

MAY_BE_CHANCE = "may be chance"
MORE_THAN_NOISE = "more than noise"

_CHARTS = ("overview", "splits", "attributes", "skills")
"""Tables whose every column is a share, so that a chart can show it."""

_COLOURS = {
    ErrorCode.HAND_FULL: "#2a8fcc",
    ErrorCode.HAND_EMPTY: "#5fb0e0",
    ErrorCode.CONTAINER_CLOSED: "#93cdf0",
    ErrorCode.NOT_INTERACTIVE: "#c3e4f8",
    ErrorCode.TOO_FAR: "#e69f00",
    ErrorCode.TOO_CLOSE: "#f5cf7d",
    ErrorCode.NOT_IN_LIST: "#cc79a7",
    ErrorCode.UNKNOWN_TARGET: "#e5bcd3",
    ErrorCode.TOO_DIFFICULT: "#009e73",
    ErrorCode.OBJECT_MISSING: "#7fceb9",
}
"""A colour near one of Okabe and Ito's for each class of errors (L, D, F, E), lighter from code to code."""

_SIGNS = {CellKind.SUCCESS: "✓", CellKind.FAILURE: "✗", CellKind.LOST: "!", CellKind.OPEN: "·"}


def write_run_report(results: RunResults, folder: EvaluationFolder) -> Path:
    """Write the report into the run's folder and return its path. Links go to the pages that are there now.

    Raises:
        OSError: the file cannot be written.
    """
    write_page(folder.report, render_run(results, folder))
    return folder.report


def render_run(results: RunResults, folder: EvaluationFolder) -> str:
    """The page itself."""
    plan, states = results.plan, Counter(each.state for each in results.episodes)
    links = {each.episode.id: _link(each, folder) for each in results.episodes}
    tables = all_tables(results)
    open_count = states[State.PENDING] + states[State.RUNNING]
    return render_page(
        "run_report.html.j2",
        ["report.css", "run_report.css"],
        title=f"{plan.benchmark.upper()}, {folder.path.resolve().name}",
        benchmark=plan.benchmark,
        unfinished=f"unfinished: {open_count} of {len(results.episodes)} episodes are missing" if open_count else "",
        facts=_facts(results),
        planners=[_planner(planner, results) for planner in results.planners],
        versions=sorted(plan.versions.items()),
        settings=pretty_json(json.dumps(plan.settings)),
        remarks=remarks(results),
        chance=_chance(results.comparisons),
        comparisons=_pairs(results.comparisons),
        noise_level=NOISE_LEVEL,
        tables=[_table(table) for table in tables],
        published=_table(published_table(results.planners)),
        costs=_table(cost_table(results.planners)),
        errors=_error_chart(results.planners),
        strips=[_strip(planner, results, links) for planner in results.planners],
        tasks=[_task(task, results, links) for task in plan.tasks],
        failures=[_failure(each, links) for planner in results.planners for each in _failures(planner, results)],
        files=[name for name in FILES if (folder.path / name).is_file()],
        linked=sum(map(bool, links.values())),
    )


def _link(episode: RunEpisode, folder: EvaluationFolder) -> str:
    """Address of the episode's page from the run's report; empty where there is none."""
    page = folder.page(episode.episode)
    is_there = episode.state in TERMINAL and page.is_file()
    return quote(page.relative_to(folder.path).as_posix()) if is_there else ""


def _facts(results: RunResults) -> list[tuple[str, str]]:
    plan = results.plan
    facts = [
        ("Episodes", f"{len(plan.planners)} planners, {len(plan.tasks)} tasks, {plan.trials} trials"),
        ("Seed of the run", str(plan.seed)),
        *((name.replace("_", " ").capitalize(), _plain(value)) for name, value in plan.settings.items()),
        ("Time in episodes", format_seconds(math.fsum(each.seconds for each in results.episodes))),
    ]
    if plan.shard.count > 1:
        facts.append(("Shard", f"{plan.shard.number} of {plan.shard.count}"))
    return facts


def _texts(value: JsonValue) -> list[str]:
    """A list of texts in a plan's settings; empty if there is none."""
    return [str(item) for item in value] if isinstance(value, list) else []


def _plain(value: object) -> str:
    return "none" if value in ("", None, []) else str(value).replace("_", " ")


def _planner(planner: PlannerResults, results: RunResults) -> dict[str, object]:
    states = Counter(each.state for each in planner.episodes)
    settings = results.plan.planner_of[planner.label].settings
    return {
        "label": planner.label,
        "name": " ".join([str(settings.get("planner", "")), *_texts(settings.get("planner_options"))]),
        "total": len(planner.episodes),
        "done": states[State.DONE],
        "failed": states[State.FAILED],
        "open": states[State.PENDING] + states[State.RUNNING],
        "judged": len(planner.scores),
        "configuration": _configuration(planner) or pretty_json(json.dumps(settings)),
    }


def _configuration(planner: PlannerResults) -> str:
    """The planner's whole configuration, as the first of its episodes recorded it; empty if none did."""
    for each in planner.episodes:
        if each.trajectory is None:
            continue
        try:
            recorded = json.loads(each.trajectory.info.configuration_json or "{}")
        except json.JSONDecodeError:
            continue
        if isinstance(recorded, dict) and "planner" in recorded:
            return pretty_json(json.dumps(recorded["planner"]))
    return ""


def _table(table: Table) -> dict[str, object]:
    return {
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "columns": table.columns,
        "rows": [(label, [(cell, _exact(cell.number)) for cell in cells]) for label, cells in table.rows],
        "starred": any(cell.best for _, cells in table.rows for cell in cells),
        "charts": _charts(table) if table.name in _CHARTS else [],
    }


def _exact(number: float | None) -> str:
    """All digits, for programs; empty where a number is not defined."""
    return "" if number is None else repr(float(number))


def _charts(table: Table) -> list[tuple[str, Markup]]:
    """One for each column that has a number, with its name."""
    charts = []
    for column, name in enumerate(table.columns):
        bars = [_bar(label, cells[column]) for label, cells in table.rows]
        if all(bar.share is None for bar in bars):
            continue
        said = "; ".join(f"{bar.label} {bar.text}" for bar in bars)
        charts.append((name, bar_chart(f"{table.title}: {name}", f"Percent. {said}.", bars)))
    return charts


def _bar(label: str, cell: Cell) -> Bar:
    return Bar(label, cell.number, " ".join(filter(None, (cell.text, cell.interval_text))), cell.interval, cell.best)


def _chance(comparisons: Iterable[Comparison]) -> list[str]:
    """Which differences may be chance, a line for each pair."""
    found: dict[str, list[str]] = {}
    for each in comparisons:
        if each.is_noise and not math.isnan(each.difference):
            found.setdefault(f"{each.first} and {each.second}", []).append(each.metric)
    return [f"{pair}: {', '.join(metrics)}" for pair, metrics in found.items()]


def _pairs(comparisons: Iterable[Comparison]) -> dict[str, list[dict[str, object]]]:
    """The comparisons of each pair of planners, in words."""
    pairs: dict[str, list[dict[str, object]]] = {}
    for each in comparisons:
        pairs.setdefault(f"{each.first} - {each.second}", []).append(_comparison(each))
    return pairs


def _comparison(each: Comparison) -> dict[str, object]:
    defined = not math.isnan(each.difference)
    interval = each.interval
    return {
        "metric": each.metric,
        "exact": _exact(each.difference if defined else None),
        "difference": f"{100 * each.difference:+.2f}" if defined else "not defined",
        "interval": f"[{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]" if interval and defined else "",
        "p": "" if not defined else f"{each.p:.4f}" if each.p >= 0.0001 else "< 0.0001",
        "p_exact": repr(each.p),
        "pairs": each.pairs,
        "defined": defined,
        "is_noise": each.is_noise,
        "verdict": MAY_BE_CHANCE if each.is_noise else MORE_THAN_NOISE,
    }


def _error_chart(planners: Sequence[PlannerResults]) -> Markup:
    """Errors by code for each planner, in successful and in failed trajectories, as errors per trajectory."""
    stacks = []
    for planner in planners:
        successes = sum(score.success for score in planner.scores)
        summary = planner.summary
        for kind, errors, count in (
            ("successful", summary.successful_errors, successes),
            ("failed", summary.failed_errors, len(planner.scores) - successes),
        ):
            pieces = tuple(
                Piece(
                    code.value,
                    errors.counts[code] / count,
                    _COLOURS[code],
                    f"{code.value}: {errors.counts[code]} of {errors.total} errors",
                )
                for code in ErrorCode
                if count and errors.counts[code]
            )
            rate = f"{errors.total / count:.2f} each ({errors.total} in {count})" if count else "no trajectory"
            stacks.append(Stack(f"{planner.label}, {kind}", pieces, rate))
    said = "; ".join(f"{stack.label}: {', '.join(piece.title for piece in stack.pieces) or 'none'}" for stack in stacks)
    return stacked_chart("Errors per trajectory, by code", f"{said}.", stacks)


def _kind(episode: RunEpisode) -> CellKind:
    if episode.state is State.FAILED or (episode.state is State.DONE and not episode.judged):
        return CellKind.LOST
    if episode.score is None or episode.state is not State.DONE:
        return CellKind.OPEN
    return CellKind.SUCCESS if episode.score.success else CellKind.FAILURE


def _strip(planner: PlannerResults, results: RunResults, links: dict[str, str]) -> dict[str, object]:
    """Success by trial (rows) and task (columns) of one planner."""
    found = {(each.episode.task, each.episode.trial): each for each in planner.episodes}
    tasks = results.plan.tasks
    rows = [
        (f"trial {trial}", [_strip_cell(found.get((task.id, trial)), links) for task in tasks])
        for trial in range(1, results.plan.trials + 1)
    ]
    counts = Counter(_kind(each) for each in planner.episodes)
    said = (
        f"{counts[CellKind.SUCCESS]} successful, {counts[CellKind.FAILURE]} not, "
        f"{counts[CellKind.LOST]} could not be run, {counts[CellKind.OPEN]} not finished"
    )
    title = f"{planner.label}: task progress by task and trial"
    return {
        "label": planner.label,
        "text": said,
        "plot": strip(title, f"{said}.", rows, [str(task.number) for task in tasks]),
    }


def _strip_cell(episode: RunEpisode | None, links: dict[str, str]) -> StripCell:
    if episode is None:
        return StripCell(CellKind.OPEN, 0.0, "in another shard")
    share = episode.score.progress.value if episode.score else 0.0
    return StripCell(_kind(episode), share, _said(episode), links[episode.episode.id])


def _said(episode: RunEpisode) -> str:
    """One episode in a line."""
    head = f"{episode.episode.task}, trial {episode.episode.trial}"
    kind = _kind(episode)
    if kind is CellKind.OPEN:
        return f"{head}: {episode.state.value}"
    if kind is CellKind.LOST:
        return f"{head}: could not be run: {episode.cause}"
    assert episode.score is not None  # _kind calls an episode without a score open or lost
    success = "success" if episode.score.success else "not successful"
    return f"{head}: {success}, TP {100 * episode.score.progress.value:.1f} %, {format_outcome(episode.score)}"


def _task(task: Task, results: RunResults, links: dict[str, str]) -> dict[str, object]:
    """One row of the table of tasks and planners."""
    cells: list[dict[str, object]] = []
    rates: set[float] = set()
    for planner in results.planners:
        episodes = [each for each in planner.episodes if each.episode.task == task.id]
        judged = [each.score for each in episodes if each.judged and each.score is not None]
        progress = math.fsum(score.progress.value for score in judged)
        successes = sum(score.success for score in judged)
        if judged:
            rates.add(successes / len(judged))
        cells.append(
            {
                "successes": successes,
                "judged": len(judged),
                "progress": f"{100 * progress / len(judged):.0f} %" if judged else "-",
                "marks": [
                    {
                        "kind": _kind(each).value,
                        "sign": _SIGNS[_kind(each)],
                        "title": _said(each),
                        "link": links[each.episode.id],
                    }
                    for each in episodes
                ],
            }
        )
    return {
        "id": task.id,
        "number": task.number,
        "instruction": task.instruction,
        "kinds": ", ".join(name.replace("_", "-") for name in task.attributes),
        "split": task.split or "",
        "expert_length": task.expert_length,
        "cells": cells,
        "failed": any(rate < 1 for rate in rates),
        "differs": len(rates) > 1,
    }


def _failures(planner: PlannerResults, results: RunResults) -> list[RunEpisode]:
    """The episodes of a planner without success, in the order of the tasks."""
    order = {task.id: number for number, task in enumerate(results.plan.tasks)}
    found = [each for each in planner.episodes if _kind(each) in (CellKind.FAILURE, CellKind.LOST)]
    return sorted(found, key=lambda each: (order[each.episode.task], each.episode.trial))


def _failure(episode: RunEpisode, links: dict[str, str]) -> dict[str, object]:
    """One row of the list of episodes without success."""
    score, trajectory = episode.score, episode.trajectory
    steps = trajectory.steps if trajectory else ()
    last = next((step for step in reversed(steps) if not step.success), None)
    return {
        "id": episode.episode.id,
        "link": links[episode.episode.id],
        "progress": "-" if score is None else f"{100 * score.progress.value:.1f}",
        "outcome": "could not be run" if score is None else format_outcome(score),
        "errors": "" if score is None else format_errors(score.errors),
        "last": episode.cause or ("" if last is None else f"step {last.index}: {last.feedback}"),
    }
