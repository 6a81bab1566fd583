"""The texts for the planner, against the paper's appendix D."""

from homie_core.vocabulary import EMMOE_VERBS
from homie_planner.instruction import SYSTEM_TEXT, VIEW_ORDER, instruction

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
