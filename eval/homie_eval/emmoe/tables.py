"""The paper's tables, of a run's results, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

from homie_core.errors import ErrorCode
from homie_eval.emmoe.metrics import METRICS, ErrorTable, Value
from homie_eval.emmoe.results import Estimate, PlannerResults, RunResults
from homie_eval.emmoe.tasks import Attribute, Task
from homie_eval.tables import Cell, Table, mark_best

_CLASSES = ("L", "D", "F", "E")
_ATTRIBUTES: tuple[str, ...] = get_args(Attribute)

INTERVALS = "Percent, with 95 % intervals: Wilson's for SR and SER, resampled over tasks for the others."


def all_tables(results: RunResults) -> tuple[Table, ...]:
    """Every table that the run has something for."""
    tables = [overview(results.planners)]
    tables += [split_table(results.planners)] if _splits(results) else []
    tables += [
        attribute_table(results.planners),
        skill_table(results.planners),
        error_table(results.planners, successful=True),
        error_table(results.planners, successful=False),
    ]
    return tuple(tables)


def overview(planners: Sequence[PlannerResults]) -> Table:
    """The paper's table 2, and GC."""
    rows = [(planner.label, _metrics(planner)) for planner in planners]
    return Table("overview", "Performance on all tasks (table 2)", METRICS, mark_best(rows), INTERVALS)


def split_table(planners: Sequence[PlannerResults]) -> Table:
    """The paper's table 3: training and test split."""
    rows = []
    for split in ("train", "test"):
        for planner in planners:
            part = planner.subset(_in_split(split))
            rows.append((f"{planner.label}, {split}", _metrics(part)))
    return Table("splits", "Performance on the training and the test split (table 3)", METRICS, tuple(rows), INTERVALS)


def attribute_table(planners: Sequence[PlannerResults]) -> Table:
    """The paper's table 5: success rate by attribute."""
    rows = [
        (planner.label, tuple(_cell(planner.subset(_has(name)).estimates["SR"]) for name in _ATTRIBUTES))
        for planner in planners
    ]
    columns = tuple(name.replace("_", "-") for name in _ATTRIBUTES)
    return Table("attributes", "Success rate by kind of task (table 5)", columns, mark_best(rows), "Percent, Wilson.")


def skill_table(planners: Sequence[PlannerResults]) -> Table:
    """The paper's table 4, from recorded tries: the share of tries that succeeded, by verb."""
    rows = [(planner.label, tuple(map(_cell, planner.skills.values()))) for planner in planners]
    columns = tuple(planners[0].skills)
    note = "Percent of recorded tries; Wilson."
    return Table("skills", "Success of a try, by skill (table 4)", columns, tuple(rows), note)


def error_table(planners: Sequence[PlannerResults], *, successful: bool) -> Table:
    """The paper's table H3 (successful trajectories) or H4 (failed ones): shares of error codes."""
    kind, number = ("successful", "H3") if successful else ("failed", "H4")
    rows = []
    for planner in planners:
        errors = planner.summary.successful_errors if successful else planner.summary.failed_errors
        rows.append((planner.label, error_cells(errors)))
    note = "Percent of all errors; the last column is the share of failed steps among all steps."
    return Table(f"errors_{kind}", f"Errors in {kind} trajectories (table {number})", ERROR_COLUMNS, tuple(rows), note)


ERROR_COLUMNS = ("L1", "L2", "L3", "L4", "L", "D1", "D2", "D", "F1", "F2", "F", "E1", "E2", "E", "All")
"""As in the paper's tables H3 to H6: the codes, each class behind its codes, and all failures."""


def error_cells(errors: ErrorTable) -> tuple[Cell, ...]:
    """One row of table H3 or H4."""
    shares = [
        errors.class_share(column) if column in _CLASSES else errors.share(ErrorCode(column))
        for column in ERROR_COLUMNS[:-1]
    ]
    return tuple(map(_value_cell, (*shares, errors.rate)))


def _metrics(planner: PlannerResults) -> tuple[Cell, ...]:
    return tuple(_cell(planner.estimates[name]) for name in METRICS)


def _cell(estimate: Estimate) -> Cell:
    return Cell(_value_cell(estimate.value).number, estimate.interval)


def _value_cell(value: Value) -> Cell:
    return Cell(value.number if value.defined else None)


def _splits(results: RunResults) -> bool:
    return len({task.split for task in results.plan.tasks}) > 1


def _in_split(split: str) -> Callable[[Task], bool]:
    return lambda task: task.split == split


def _has(attribute: str) -> Callable[[Task], bool]:
    return lambda task: attribute in task.attributes
