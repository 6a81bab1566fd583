"""Planners by name."""

from pathlib import Path

import pytest

from homie_planner.backend import PlannerError
from homie_planner.config import read_config
from homie_planner.registry import make_planner, usage


def test_expert() -> None:
    backend = make_planner(read_config("expert"))
    assert backend.name == "expert"
    assert backend.capabilities.privileged


def test_replay(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('["Subtask: [End]"]')
    backend = make_planner(read_config(f"replay:{plan}"))
    assert backend.name == f"replay:{plan}"
    assert not backend.capabilities.privileged


@pytest.mark.parametrize("text", ["gpt", "", "Expert", "replay", "replay:", "expert:now"])
def test_wrong_names_are_one_clear_line(text: str) -> None:
    with pytest.raises(PlannerError) as error:
        make_planner(read_config(text))
    message = str(error.value)
    assert repr(text) in message
    assert "\n" not in message


def test_unknown_planner_lists_what_is_allowed() -> None:
    with pytest.raises(PlannerError, match="allowed: expert, human, replay:<PLAN>"):
        make_planner(read_config("gpt"))
    assert usage() == "expert, human, replay:<PLAN>"
