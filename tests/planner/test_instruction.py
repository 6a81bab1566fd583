"""The texts for the planner, against the paper's appendix D."""

import difflib

import pytest
from pydantic import ValidationError

from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE_VERBS
from homie_planner import parsing
from homie_planner.instruction import (
    SYSTEM_TEXT,
    VIEW_ORDER,
    InstructionOptions,
    ObservationKind,
    instruction,
    response,
    system_text,
)

CLOSING = "Now based on the instruction above, please output Analysis, Subtask and Model in mentioned format.\n"


def test_first_step_says_none_everywhere() -> None:
    assert instruction("bring the mug", (), "", "ignored") == (
        "Task: bring the mug\nInventory: None\nHistorical Execution: None\nFeedback: None\n" + CLOSING
    )


def test_later_steps_carry_inventory_history_and_feedback() -> None:
    text = instruction("bring the mug", ("mug",), "(1) Pick, mug(success) ", "Unable to open, the hand is full")
    assert text == (
        "Task: bring the mug\nInventory: mug\nHistorical Execution: (1) Pick, mug(success) \n"
        "Feedback: Unable to open, the hand is full\n" + CLOSING
    )


def test_system_text_names_all_verbs_and_the_views_in_order() -> None:
    assert f"[{', '.join(verb.name for verb in EMMOE_VERBS)}]" in SYSTEM_TEXT
    assert "in the order of front, left, back, and right" in SYSTEM_TEXT
    assert VIEW_ORDER == ("front", "left", "back", "right")
    assert "[NoMaD, PixNav, octo, RT-1-X]" in SYSTEM_TEXT
    assert SYSTEM_TEXT.isascii()


def test_a_text_observation_changes_one_line_of_the_system_text() -> None:
    assert system_text(ObservationKind.IMAGES) == SYSTEM_TEXT
    text = system_text(ObservationKind.TEXT)
    changed = [line for line in difflib.ndiff(SYSTEM_TEXT.splitlines(), text.splitlines()) if line[0] in "-+"]
    assert [line[:17] for line in changed] == ["- (1) Observation", "+ (1) Observation"]
    assert "image" not in text


def test_a_text_observation_stands_before_the_papers_text() -> None:
    told = instruction("bring the mug", (), "", "None", "room: kitchen\nfront: mug 1 m")
    assert told == "Observation:\nroom: kitchen\nfront: mug 1 m\n" + instruction("bring the mug", (), "", "None")


@pytest.mark.parametrize(
    "subtask", [Subtask("Go to", "mug", model="NoMaD"), Subtask("Put", "mug", "sofa", "M3"), Subtask("End")]
)
def test_a_response_is_in_the_template_that_is_read(subtask: Subtask) -> None:
    text = response("it is there", subtask)
    decision = parsing.parse(text)
    assert (decision.analysis, decision.subtask) == ("it is there", subtask)
    assert ("Model:" in text) == bool(subtask.model)


def test_retrieval_needs_a_memory() -> None:
    with pytest.raises(ValidationError, match="retrieve needs memory"):
        InstructionOptions(retrieve=2)
    assert InstructionOptions(retrieve=2, memory="runs").memory == "runs"
