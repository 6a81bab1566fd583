"""What a planner's model was given and took: requests, tokens, time and money, from recorded steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from homie_core.episode import Step


@dataclass(frozen=True, slots=True)
class Spending:
    """Sums over the steps for which a model was asked. ``cost_usd`` is None where one of them has no price.

    ``latency`` is the mean wall time of planning such a step, in seconds, with retries and the repair turn.
    """

    steps: int
    requests: int
    tokens_in: int
    tokens_out: int
    latency: float
    cost_usd: float | None


def spending(steps: Iterable[Step]) -> Spending | None:
    """What ``steps`` took; None if no model was asked."""
    asked = [step for step in steps if step.requests or step.tokens_in or step.tokens_out]
    if not asked:
        return None
    costs = [step.cost_usd for step in asked if step.cost_usd is not None]
    return Spending(
        steps=len(asked),
        requests=sum(step.requests for step in asked),
        tokens_in=sum(step.tokens_in for step in asked),
        tokens_out=sum(step.tokens_out for step in asked),
        latency=math.fsum(step.planner_wall_seconds for step in asked) / len(asked),
        cost_usd=math.fsum(costs) if len(costs) == len(asked) else None,
    )


def spending_rows(spent: Spending | None) -> list[tuple[str, str]]:
    """Names and texts of what was spent, for people; empty if nothing was."""
    if spent is None:
        return []
    return [
        ("tokens", format_tokens(spent)),
        ("requests", format_requests(spent)),
        ("latency", f"{format_seconds(spent.latency)} a step on average"),
        ("cost", format_cost(spent)),
    ]


def format_tokens(spent: Spending) -> str:
    """Tokens read and written."""
    return f"{spent.tokens_in} in, {spent.tokens_out} out"


def format_requests(spent: Spending) -> str:
    """Requests, and for how many steps they were needed."""
    return f"{spent.requests} for {spent.steps} {'step' if spent.steps == 1 else 'steps'}"


def format_cost(spent: Spending) -> str:
    """US dollars; a cost that is not known is not nothing."""
    if spent.cost_usd is None:
        return "not known, the configuration has no prices"
    return f"${spent.cost_usd:.4f}" if spent.cost_usd >= 0.0001 or not spent.cost_usd else f"${spent.cost_usd:.2g}"


def format_seconds(seconds: float) -> str:
    """A duration in the unit that suits it."""
    if seconds >= 60:
        return f"{int(seconds // 60)} min {seconds % 60:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"
