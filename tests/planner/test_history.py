"""The history line and the feedback, as the paper writes them."""

from homie_core.episode import Step
from homie_core.errors import ErrorCode
from homie_core.subtask import Subtask
from homie_planner import history

STEPS = (
    Step(1, Subtask("Go to", "mug", model="NoMaD"), True),
    Step(2, Subtask("Pick", "mug"), False, ErrorCode.TOO_FAR, "Unable to pick, the target is far away"),
    Step(3, Subtask("Put", "mug", "brown_table"), True),
    Step(4, Subtask("End"), True),
)


def test_line_is_that_of_the_paper() -> None:
    assert history.line(STEPS[:2]) == "(1) Go to, mug(success) (2) Pick, mug(fail) "


def test_put_names_object_and_place_and_end_stands_alone() -> None:
    assert history.line(STEPS[2:]) == "(3) Put, mug, brown_table(success) (4) End(success) "


def test_a_window_keeps_the_numbers() -> None:
    assert history.line(STEPS, 2) == "(3) Put, mug, brown_table(success) (4) End(success) "
    assert history.line(STEPS, 9) == history.line(STEPS) == history.line(STEPS, 0)


def test_line_is_empty_at_first() -> None:
    assert history.line(()) == ""


def test_feedback_is_that_of_the_last_step() -> None:
    assert history.feedback(()) == "None"
    assert history.feedback(STEPS[:1]) == "None"
    assert history.feedback(STEPS[:2]) == "Unable to pick, the target is far away"
