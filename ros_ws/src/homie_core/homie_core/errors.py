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


def feedback(code: ErrorCode, action: str, name: str = "") -> str:
    """The sentence that the planner reads for ``code``.

    ``action`` is the verb as the planner wrote it and ``name`` the target, place or model that the sentence is about.
    """
    verb = action.strip().lower()
    match code:
        case ErrorCode.HAND_FULL:
            return f"Unable to {verb}, the hand is full"
        case ErrorCode.HAND_EMPTY:
            return f"Unable to {verb}, the hand is empty"
        case ErrorCode.CONTAINER_CLOSED:
            return f"Unable to {verb}, the {name} is closed, you should open it first"
        case ErrorCode.NOT_INTERACTIVE:
            return f"Can not {verb} {name}! Please choose another object"
        case ErrorCode.TOO_FAR:
            return f"Unable to {verb}, the target is far away"
        case ErrorCode.TOO_CLOSE:
            return f"Unable to {verb}, the target is too close"
        case ErrorCode.NOT_IN_LIST:
            return f"{name or action} is not in the action list! You should only choose actions in the list."
        case ErrorCode.UNKNOWN_TARGET:
            return f"{name} does not exist! Please choose another object"
        case ErrorCode.TOO_DIFFICULT:
            return f"Unable to {verb}, the subtask is too difficult to perform"
        case ErrorCode.OBJECT_MISSING:
            return f"Unable to {verb}, and the object is missing"


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that was found: its code, the planner's sentence, and the measured reason for people."""

    code: ErrorCode
    feedback: str
    phase: Phase
    detail: str = ""
