"""What a run's planners cost: model requests, tokens, money, and time.

Everything that was recorded counts, also the steps of episodes that judge no planner: they were paid for all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homie_eval.emmoe.results import PlannerResults
from homie_eval.spending import spending
from homie_eval.tables import Cell, Table

_UNIT = 1.0
_MILLISECONDS = 1000.0


def cost_table(planners: Sequence[PlannerResults]) -> Table:
    """One row for each planner; a column that no planner has anything for is left out."""
    found = [(planner.label, _cost(planner)) for planner in planners]
    columns = [name for name in found[0][1] if any(cells[name].number is not None for _, cells in found)]
    rows = tuple((label, tuple(cells[name] for name in columns)) for label, cells in found)
    note = "Planning, execution: wall time of a step, median and 95 % quantile. USD: only where every price is known."
    return Table("costs", "By planner", tuple(columns), rows, note)


def _cost(planner: PlannerResults) -> dict[str, Cell]:
    recorded = [each for each in planner.episodes if each.trajectory is not None]
    steps = [step for each in recorded if each.trajectory for step in each.trajectory.steps]
    spent = spending(steps)
    price = None if spent is None else spent.cost_usd
    planning = [step.planner_wall_seconds for step in steps]
    # End is planned, but there is nothing to execute.
    execution = [step.execution_wall_seconds for step in steps if not step.subtask.is_end]
    return {
        "episodes": _count(len(recorded)),
        "steps": _count(len(steps)),
        "requests": _count(spent.requests if spent else 0),
        "tokens in": _count(spent.tokens_in if spent else 0),
        "tokens out": _count(spent.tokens_out if spent else 0),
        "tokens per step": _count(round((spent.tokens_in + spent.tokens_out) / spent.steps) if spent else 0),
        "USD": Cell(price, scale=_UNIT, digits=4),
        "USD per episode": Cell(None if price is None else price / len(recorded), scale=_UNIT, digits=4),
        "planning, ms": _quantile(planning, 0.5, _MILLISECONDS),
        "planning 95 %, ms": _quantile(planning, 0.95, _MILLISECONDS),
        "execution, s": _quantile(execution, 0.5, _UNIT),
        "execution 95 %, s": _quantile(execution, 0.95, _UNIT),
        "episode, s": _quantile([each.seconds for each in recorded if each.seconds > 0], 0.5, _UNIT),
    }


def _count(number: int) -> Cell:
    return Cell(float(number) if number else None, scale=_UNIT, digits=0)


def _quantile(numbers: Sequence[float], share: float, scale: float) -> Cell:
    return Cell(float(np.quantile(numbers, share)) if numbers else None, scale=scale, digits=2)
