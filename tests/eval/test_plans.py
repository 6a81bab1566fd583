"""Recorded plans: the shipped one, both forms, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from homie_core.subtask import Subtask
from homie_eval.emmoe.plans import PlanError, PlannedStep, load_plan, shipped_plans

INFO = """Task: bring the mug to the brown table

Subtask1: [Go to, mug] (PixNav)
Analysis: I should reach the mug first
Feedback: None
Inventory: None

Subtask2: [Put, mug, brown_table] (RT-1-X)
Analysis: I am next to it
Feedback: Unable to put, the hand is empty
Inventory: None

Subtask3: [End]
Analysis: the task is done
Feedback: None
Inventory: None
"""


def test_the_shipped_plans_can_be_read() -> None:
    assert "case_1" in shipped_plans()
    for name in shipped_plans():
        last = load_plan(name)[-1]
        assert isinstance(last, PlannedStep) and last.subtask.is_end


def test_the_info_file_of_the_data_set(tmp_path: Path) -> None:
    path = tmp_path / "info.txt"
    path.write_text(INFO)
    assert load_plan(path) == (
        PlannedStep(Subtask("Go to", "mug", model="PixNav"), "I should reach the mug first"),
        PlannedStep(Subtask("Put", "mug", "brown_table", "RT-1-X"), "I am next to it"),
        PlannedStep(Subtask("End"), "the task is done"),
    )


def test_json_with_and_without_the_optional_fields(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('[{"subtask": "[Pick, mug] (octo)"}, {"subtask": "[Fetch, mug]", "model": "M3", "analysis": "so"}]')
    assert load_plan(path) == (
        PlannedStep(Subtask("Pick", "mug", model="octo")),
        PlannedStep(Subtask("Fetch", "mug", model="M3"), "so"),
    )


def test_raw_outputs_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('["I would rather dance", {"subtask": "[End]"}]')
    assert load_plan(path) == ("I would rather dance", PlannedStep(Subtask("End")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "plan.json: not JSON"),
        ("{}", "plan.json: must be a list of steps, not dict"),
        ("[]", "plan.json: the plan has no step"),
        ("[1]", "plan.json: step 1 must be a text, or have a subtask"),
        ('[{"subtask": "[End]"}, {"analysis": "x"}]', "plan.json: step 2 must be a text, or have a subtask"),
        (
            '[{"subtask": "[End]", "note": "x"}]',
            "step 1 must be a text, or have a subtask and maybe analysis and model",
        ),
        ('[{"subtask": "[End]", "model": 3}]', "step 1: every field must be a text"),
        ('[{"subtask": "Pick mug"}]', "step 1: not a subtask in brackets"),
        ("\xff", "cannot read plan"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(PlanError) as raised:
        load_plan(path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_wrong_line_of_an_info_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "info.txt"
    path.write_text("Task: x\n\nSubtask1: [Pick]\n")
    with pytest.raises(PlanError, match=r"info\.txt line 3: Pick takes 1 arguments, 0 given"):
        load_plan(path)


@pytest.mark.parametrize("reference", ["case_2", "", "plan.yaml"])
def test_an_unknown_plan_names_those_that_exist(reference: str) -> None:
    with pytest.raises(PlanError, match=r"unknown plan .*; there are: case_1; or give a \.json or \.txt file"):
        load_plan(reference)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot read plan"):
        load_plan(tmp_path / "plan.json")
