"""Sentences in which the expert explains a step, in the manner of the paper's case 1 (appendix I)."""

from __future__ import annotations

from homie_core.episode import Step
from homie_core.subtask import Subtask
from homie_core.vocabulary import CLOSE, GO_TO, OPEN, PICK, PUT


def sentence(last: Step | None, subtask: Subtask, purpose: Subtask | None) -> str:
    """Why ``subtask`` comes after ``last``. ``purpose`` is what a Go to is made for, or None."""
    return f"{_past(last)}{_intent(subtask, purpose)}."


def _past(last: Step | None) -> str:
    if last is None:
        return "According to my final task, "
    done = last.subtask
    match done.action:
        case GO_TO.name:
            happened = f"arrived at the {done.target}", f"go to the {done.target}"
        case PICK.name:
            happened = f"picked the {done.target}", f"pick the {done.target}"
        case PUT.name:
            happened = (
                f"put the {done.target} in or on the {done.destination}",
                f"put the {done.target} in or on the {done.destination}",
            )
        case OPEN.name:
            happened = f"opened the {done.target}", f"open the {done.target}"
        case CLOSE.name:
            happened = f"closed the {done.target}", f"close the {done.target}"
        case _:
            happened = f"did {done.brackets()}", f"do {done.brackets()}"
    if last.success:
        return f"I successfully {happened[0]}, so "
    return f"I failed to {happened[1]} ({last.feedback}), so "


def _intent(subtask: Subtask, purpose: Subtask | None) -> str:
    match subtask.action:
        case GO_TO.name:
            return f"I should go to the {subtask.target}{_to(purpose)} next"
        case PICK.name:
            return f"I should pick the {subtask.target} next"
        case PUT.name:
            return f"I should put the {subtask.target} in or on the {subtask.destination} next"
        case OPEN.name:
            return f"I should open the {subtask.target} now, while my hand is empty"
        case CLOSE.name:
            return f"I should close the {subtask.target} next"
        case _:
            return "the task is done and it is time to end"


def _to(purpose: Subtask | None) -> str:
    if purpose is None:
        return ""
    match purpose.action:
        case PICK.name:
            return f" to pick the {purpose.target}"
        case PUT.name:
            return f" to put the {purpose.target} there"
        case OPEN.name:
            return " to open it"
        case CLOSE.name:
            return " to close it"
        case _:
            return ""
