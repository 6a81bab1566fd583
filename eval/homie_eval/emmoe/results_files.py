"""A run's results as files that other programs read, and as the text that a terminal shows.

metrics.csv    one number a line: table, row, column, value, low, high; depends on the trajectories alone
episodes.csv   one episode a line
tables.tex     every table, for a paper that uses booktabs
results.json   metrics, comparisons, and what went wrong beside the planners ("format_version": 1)
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from homie_eval.emmoe.metrics import METRICS
from homie_eval.emmoe.published import published_score, published_summary
from homie_eval.emmoe.results import NOISE_LEVEL, Comparison, Estimate, PlannerResults, RunEpisode, RunResults
from homie_eval.emmoe.tables import all_tables, overview
from homie_eval.runs.store import State
from homie_eval.tables import Cell, Table, mark_best, to_csv, to_latex, to_text

FORMAT_VERSION = 1

EPISODE_COLUMNS = (
    *("planner", "task", "trial", "seed", "state", "outcome", "tries", "cause", "steps"),
    *METRICS,
    *("errors", "tokens_in", "tokens_out", "cost_usd", "planner_seconds", "seconds"),
)


def write_results(results: RunResults, folder: Path) -> tuple[Path, ...]:
    """Write the files into ``folder``; their paths."""
    tables = all_tables(results)
    texts = {
        "metrics.csv": _one_header([to_csv(table) for table in tables]),
        "episodes.csv": episodes_csv(results),
        "tables.tex": "\n".join(map(to_latex, tables)),
        "results.json": json.dumps(as_json(results), indent=2) + "\n",
    }
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return tuple(paths)


def format_results(results: RunResults, *, as_published: bool = False) -> str:
    """What a terminal shows of a finished or unfinished run."""
    parts = [to_text(overview(results.planners))]
    if as_published:
        parts.append(to_text(published_table(results.planners)))
    if results.comparisons:
        parts.append("\n".join(map(comparison_text, results.comparisons)))
    parts += filter(None, ["\n".join(remarks(results))])
    return "\n\n".join(parts)


def comparison_text(comparison: Comparison) -> str:
    """One comparison in words."""
    head = f"{comparison.metric:<6}{comparison.first} - {comparison.second}:"
    if math.isnan(comparison.difference):
        return f"{head} not defined"
    interval = ""
    if comparison.interval is not None:
        interval = f" [{100 * comparison.interval.low:+.1f}, {100 * comparison.interval.high:+.1f}]"
    verdict = "may be chance" if comparison.is_noise else "more than noise"
    return (
        f"{head} {100 * comparison.difference:+.2f}{interval}, p = {comparison.p:.4f} over {comparison.pairs} pairs: "
        f"{verdict}"
    )


def published_table(planners: Sequence[PlannerResults]) -> Table:
    """The paper's table 2 as the published notebooks compute it."""
    rows = []
    columns: tuple[str, ...] = ()
    for planner in planners:
        judged = [each for each in planner.episodes if each.judged]
        scores = [published_score(each.trajectory, each.task) for each in judged if each.trajectory is not None]
        ratios = published_summary(scores)
        columns = tuple(ratios)
        values = [ratio.value for ratio in ratios.values()]
        rows.append((planner.label, tuple(Cell(value.number if value.defined else None) for value in values)))
    note = "Percent. See homie_eval.emmoe.published for where this differs from the paper's text."
    return Table("as_published", "As the published notebooks count", columns, mark_best(rows), note)


def remarks(results: RunResults) -> list[str]:
    """What a reader must know beside the numbers: episodes that are missing, failed, or scored differently live."""
    states = Counter(episode.state for episode in results.episodes)
    found = []
    unfinished = states[State.PENDING] + states[State.RUNNING]
    if unfinished:
        found.append(f"note: {unfinished} of {len(results.episodes)} episodes are not finished")
    failed = [episode for episode in results.episodes if episode.state is State.FAILED]
    if failed:
        found.append(f"note: {len(failed)} episodes could not be run and count for no planner:")
        found += [f"  {each.episode.id}, {each.tries} tries: {each.cause}" for each in failed[:10]]
        found += [f"  and {len(failed) - 10} more, see episodes.csv"] if len(failed) > 10 else []
    retried = sum(episode.tries > 0 for episode in results.episodes if episode.state is State.DONE)
    if retried:
        found.append(f"note: {retried} episodes needed more than one try")
    if results.disagreements:
        ids = ", ".join(each.episode.id for each in results.disagreements[:5])
        found.append(f"warning: {len(results.disagreements)} episodes were scored differently while they ran: {ids}")
    return found


def episodes_csv(results: RunResults) -> str:
    """One line an episode. Metrics are shares, empty where they are not defined."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(EPISODE_COLUMNS)
    for each in results.episodes:
        writer.writerow(_episode_row(each))
    return output.getvalue()


def as_json(results: RunResults) -> dict[str, object]:
    """All of it. Numbers that are not defined are null."""
    return {
        "format_version": FORMAT_VERSION,
        "benchmark": results.plan.benchmark,
        "plan": results.plan.fingerprint,
        "settings": results.plan.settings,
        "versions": results.plan.versions,
        "planners": {
            planner.label: {
                "settings": results.plan.planner_of[planner.label].settings,
                "judged": len(planner.scores),
                "metrics": {name: _estimate_json(estimate) for name, estimate in planner.estimates.items()},
                "skills": {name: _estimate_json(estimate) for name, estimate in planner.skills.items()},
            }
            for planner in results.planners
        },
        "comparisons": [
            {
                "metric": each.metric,
                "first": each.first,
                "second": each.second,
                "pairs": each.pairs,
                "difference": _or_null(each.difference),
                "low": None if each.interval is None else each.interval.low,
                "high": None if each.interval is None else each.interval.high,
                "p": each.p,
                "noise_level": NOISE_LEVEL,
                "is_noise": each.is_noise,
            }
            for each in results.comparisons
        ],
        "states": dict(Counter(episode.state.value for episode in results.episodes)),
        "remarks": remarks(results),
    }


def _episode_row(each: RunEpisode) -> list[object]:
    steps = each.trajectory.steps if each.trajectory else ()
    costs = [step.cost_usd for step in steps if step.cost_usd is not None]
    values = each.score.values if each.score else {}
    numbers = [repr(values[name].number) if name in values and values[name].defined else "" for name in METRICS]
    counts = sorted(each.score.errors.items()) if each.score else []
    errors = " ".join(f"{code.value}:{count}" for code, count in counts)
    outcome = each.score.outcome.value if each.score and each.score.outcome else ""
    return [
        *(each.episode.planner, each.episode.task, each.episode.trial, each.episode.seed, each.state.value),
        *(outcome, each.tries, each.cause, len(steps)),
        *numbers,
        errors,
        sum(step.tokens_in for step in steps),
        sum(step.tokens_out for step in steps),
        repr(math.fsum(costs)) if costs else "",
        repr(math.fsum(step.planner_wall_seconds for step in steps)),
        repr(each.seconds),
    ]


def _estimate_json(estimate: Estimate) -> dict[str, float | None]:
    return {
        "value": _or_null(estimate.value.number),
        "low": None if estimate.interval is None else estimate.interval.low,
        "high": None if estimate.interval is None else estimate.interval.high,
        "numerator": estimate.numerator,
        "denominator": estimate.denominator,
    }


def _or_null(number: float) -> float | None:
    return None if math.isnan(number) else number


def _one_header(texts: Sequence[str]) -> str:
    """CSV texts of the same columns as one."""
    header, _, _ = texts[0].partition("\n")
    return "\n".join([header, *(text.partition("\n")[2].rstrip("\n") for text in texts)]) + "\n"
