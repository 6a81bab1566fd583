"""``info.txt`` of EMMOE-100: the task, and four lines for every subtask (paper, appendices B.3 and F.1).

Feedback and inventory of a subtask are those after it. The readers of the original count lines with "Subtask" and split
at blank lines, so every text is kept on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from homie_core import inventory as inventories
from homie_core.episode import Step
from homie_core.errors import SUCCESS_FEEDBACK, code_of_feedback
from homie_core.subtask import Subtask, SubtaskError, parse_brackets

NOTHING = "None"

_HEAD = re.compile(r"Subtask(?P<number>\d+):\s*(?P<decision>\[.*\])\s*(?:\((?P<model>[^()]*)\))?\s*")


class InfoFileError(ValueError):
    """The text is no ``info.txt``. One line that says where it is not."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A task and how it was done, as ``info.txt`` tells it."""

    task: str
    steps: tuple[Step, ...]

    @property
    def length(self) -> int:
        """The expert's length as the original counts it: failed subtasks and End included."""
        return len(self.steps)


def format_info(demonstration: Demonstration) -> str:
    """The text of an ``info.txt``."""
    blocks = [f"Task: {_line(demonstration.task)}"]
    for step in demonstration.steps:
        lines = (
            f"Subtask{step.index}: {decision(step.subtask)}",
            f"Analysis: {_line(step.analysis)}",
            f"Feedback: {_line(step.feedback)}",
            f"Inventory: {inventories.text(step.inventory_after)}",
        )
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def parse_info(text: str) -> Demonstration:
    """Read an ``info.txt``; Windows line ends and blank lines in number are no matter.

    Raises:
        InfoFileError: it is none.
    """
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip("\ufeff\n "))]
    head = blocks[0].partition(":")
    if head[0].strip() != "Task" or not head[2].strip():
        raise InfoFileError(f"the first line must be 'Task: ...', not {blocks[0][:60]!r}")
    return Demonstration(head[2].strip(), tuple(_steps(filter(None, blocks[1:]))))


def decision(subtask: Subtask) -> str:
    """A subtask as the original writes it, e.g. ``[Pick, mug] (RT-1-X)``; End has no model."""
    written = _line(subtask.brackets())
    return written if subtask.is_end else f"{written} ({_line(subtask.model) or NOTHING})"


def parse_decision(text: str, model: str) -> Subtask:
    """The inverse of `decision`. What is no subtask is an action that no vocabulary knows."""
    model = "" if model.strip() in ("", NOTHING) else model.strip()
    try:
        subtask = parse_brackets(text)
    except SubtaskError:
        return Subtask(text.strip().removeprefix("[").removesuffix("]").strip(), model=model)
    return Subtask(subtask.action, subtask.target, subtask.destination, model)


def _steps(blocks: Iterator[str]) -> Iterator[Step]:
    before: inventories.Inventory = ()
    for index, block in enumerate(blocks, start=1):
        lines = block.split("\n")
        match = _HEAD.fullmatch(lines[0].strip())
        if match is None:
            raise InfoFileError(f"subtask {index}: {lines[0][:60]!r} is not 'Subtask{index}: [action, ...] (model)'")
        analysis, feedback, held = (_value(lines, name, index) for name in ("Analysis", "Feedback", "Inventory"))
        after = () if held == NOTHING else (held,)
        success = feedback == SUCCESS_FEEDBACK
        yield Step(
            index=index,
            subtask=parse_decision(match["decision"], match["model"] or ""),
            success=success,
            error_code=None if success else code_of_feedback(feedback),
            feedback=feedback,
            analysis=analysis,
            inventory_before=before,
            inventory_after=after,
        )
        before = after


def _value(lines: Sequence[str], name: str, index: int) -> str:
    for line in lines[1:]:
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    raise InfoFileError(f"subtask {index} has no line '{name}: ...'")


def _line(text: str) -> str:
    return " ".join(text.split())
