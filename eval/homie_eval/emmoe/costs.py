"""What a run's planners cost: model requests, tokens, money, and time.

Everything that was recorded counts, also the steps of episodes that judge no planner: they were paid for all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from homie_eval.emmoe.results import PlannerResults
from homie_eval.tables import Cell, Table

_UNIT = 1.0
_MILLISECONDS = 1000.0


def cost_table(planners: Sequence[PlannerResults]) -> Table:
    """One row for each planner; a column that no planner has anything for is left out."""
    found = [(planner.label, _cost(planner)) for planner in planners]
    columns = [name for name in found[0][1] if any(cells[name].number is not None for _, cells in found)]
    rows = tuple((label, tuple(cells[name] for name in columns)) for label, cells in found)
    note = "Planning and execution: wall time of one step, its median and the 95 % quantile."
    return Table("costs", "Cost and time", tuple(columns), rows, note)


def _cost(planner: PlannerResults) -> dict[str, Cell]:
    recorded = [each for each in planner.episodes if each.trajectory is not None]
    steps = [step for each in recorded if each.trajectory for step in each.trajectory.steps]
    prices = [step.cost_usd for step in steps if step.cost_usd is not None]
    spent = math.fsum(prices) if prices else None
    tokens_in, tokens_out = sum(step.tokens_in for step in steps), sum(step.tokens_out for step in steps)
    planning = [step.planner_wall_seconds for step in steps]
    # End is planned, but there is nothing to execute.
    execution = [step.execution_wall_seconds for step in steps if not step.subtask.is_end]
    return {
        "episodes": _count(len(recorded)),
        "steps": _count(len(steps)),
        "requests": _count(sum(step.requests for step in steps)),
        "tokens in": _count(tokens_in),
        "tokens out": _count(tokens_out),
        "tokens per step": _count(round((tokens_in + tokens_out) / len(steps)) if steps else 0),
        "USD": Cell(spent, scale=_UNIT, digits=4),
        "USD per episode": Cell(None if spent is None else spent / len(recorded), scale=_UNIT, digits=4),
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
