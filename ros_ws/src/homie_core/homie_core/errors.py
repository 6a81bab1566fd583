"""The ten error codes and their feedback sentences (paper, section 3.3 and appendix E)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SUCCESS_FEEDBACK = "None"
"""What the planner is told after a success."""


class ErrorCode(StrEnum):
    """Why a subtask failed. The first letter is the class: logical, distance, format, execution."""

    HAND_FULL = "L1"
    HAND_EMPTY = "L2"
    CONTAINER_CLOSED = "L3"
    NOT_INTERACTIVE = "L4"
    TOO_FAR = "D1"
    TOO_CLOSE = "D2"
    NOT_IN_LIST = "F1"
    UNKNOWN_TARGET = "F2"
    TOO_DIFFICULT = "E1"
    OBJECT_MISSING = "E2"


class Phase(StrEnum):
    """When a check is made, relative to the execution of the skill."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


_SENTENCES = {
    ErrorCode.HAND_FULL: "Unable to {verb}, the hand is full",
    ErrorCode.HAND_EMPTY: "Unable to {verb}, the hand is empty",
    ErrorCode.CONTAINER_CLOSED: "Unable to {verb}, the {name} is closed, you should open it first",
    ErrorCode.NOT_INTERACTIVE: "Can not {verb} {name}! Please choose another object",
    ErrorCode.TOO_FAR: "Unable to {verb}, the target is far away",
    ErrorCode.TOO_CLOSE: "Unable to {verb}, the target is too close",
    ErrorCode.NOT_IN_LIST: "{name} is not in the action list! You should only choose actions in the list.",
    ErrorCode.UNKNOWN_TARGET: "{name} does not exist! Please choose another object",
    ErrorCode.TOO_DIFFICULT: "Unable to {verb}, the subtask is too difficult to perform",
    ErrorCode.OBJECT_MISSING: "Unable to {verb}, and the object is missing",
}


def feedback(code: ErrorCode, action: str, name: str = "") -> str:
    """The sentence that the planner reads for ``code``.

    ``action`` is the verb as the planner wrote it and ``name`` the target, place or model that the sentence is about;
    without a name F1 is about the verb itself.
    """
    if code is ErrorCode.NOT_IN_LIST:
        name = name or action
    return _SENTENCES[code].format(verb=action.strip().lower(), name=name)


_MARKS = (
    ("the target is far away", ErrorCode.TOO_FAR),
    ("the target is too close", ErrorCode.TOO_CLOSE),
    ("is not in the action list! You should only choose actions in the list", ErrorCode.NOT_IN_LIST),
    ("does not exist! Please choose another object", ErrorCode.UNKNOWN_TARGET),
    ("the hand is full", ErrorCode.HAND_FULL),
    ("the hand is empty", ErrorCode.HAND_EMPTY),
    ("is closed, you should open it first", ErrorCode.CONTAINER_CLOSED),
    ("Please choose another object", ErrorCode.NOT_INTERACTIVE),
    ("the subtask is too difficult to perform", ErrorCode.TOO_DIFFICULT),
    ("and the object is missing", ErrorCode.OBJECT_MISSING),
    ("time out", ErrorCode.OBJECT_MISSING),  # the original's E3, which the paper's tables count as E2
)


def code_of_feedback(sentence: str) -> ErrorCode | None:
    """The code that a recorded sentence stands for, or None for a success: what the original's records have instead.

    The parts that tell, and the order in which they are looked for, are those of the published notebooks.
    """
    return next((code for mark, code in _MARKS if mark in sentence), None)


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that was found: its code, the planner's sentence, and the measured reason for people."""

    code: ErrorCode
    feedback: str
    phase: Phase
    detail: str = ""
