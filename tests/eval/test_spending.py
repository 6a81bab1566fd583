"""What planning took: sums over the steps that asked a model."""

from dataclasses import replace

import pytest

from homie_core.episode import Step
from homie_core.subtask import Subtask
from homie_eval.spending import Spending, format_cost, format_seconds, spending, spending_rows

ASKED = Step(
    1,
    Subtask("Pick", "mug"),
    True,
    tokens_in=1000,
    tokens_out=50,
    requests=2,
    planner_wall_seconds=1.5,
    cost_usd=0.0125,
)
UNASKED = Step(2, Subtask("End"), True, planner_wall_seconds=9.0)


def test_sums_over_the_steps_that_asked_a_model() -> None:
    second = replace(ASKED, index=3, tokens_in=500, requests=1, planner_wall_seconds=0.5, cost_usd=0.0075)
    spent = spending([ASKED, UNASKED, second])
    assert spent == Spending(2, requests=3, tokens_in=1500, tokens_out=100, latency=1.0, cost_usd=0.02)
    assert spending_rows(spent) == [
        ("tokens", "1500 in, 100 out"),
        ("requests", "3 for 2 steps"),
        ("latency", "1.0 s a step on average"),
        ("cost", "$0.0200"),
    ]


def test_nothing_is_told_where_no_model_was_asked() -> None:
    assert spending([UNASKED]) is None
    assert spending([]) is None
    assert spending_rows(None) == []


def test_an_unknown_cost_is_not_nothing() -> None:
    unknown = spending([ASKED, replace(ASKED, cost_usd=None)])
    assert unknown is not None and unknown.cost_usd is None
    assert format_cost(unknown) == "not known, the configuration has no prices"
    free = spending([replace(ASKED, cost_usd=0.0)])
    assert free is not None and format_cost(free) == "$0.0000"
    cheap = spending([replace(ASKED, cost_usd=0.0000123)])
    assert cheap is not None and format_cost(cheap) == "$1.2e-05"


@pytest.mark.parametrize(("seconds", "text"), [(0.0, "0 ms"), (0.25, "250 ms"), (1.0, "1.0 s"), (75.0, "1 min 15 s")])
def test_durations(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text
