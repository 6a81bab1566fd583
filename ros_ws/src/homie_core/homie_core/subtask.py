"""A subtask, and the bracket form in which the papers write it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from homie_core.vocabulary import EMMOE, Vocabulary

_BRACKETS = re.compile(r"^\s*\[(?P<inside>[^\[\]]*)\]\s*(?:\((?P<model>[^()]*)\))?\s*$")


class SubtaskError(ValueError):
    """A text is not a subtask."""


@dataclass(frozen=True, slots=True)
class Subtask:
    """One step of a plan (paper, equation 5): an action, what it is done to, and with which model.

    ``action`` keeps the planner's spelling; an unknown one is an F1 error later, not an exception here.
    ``destination`` is used by Put alone.
    """

    action: str
    target: str = ""
    destination: str = ""
    model: str = ""

    @property
    def is_end(self) -> bool:
        """Whether this is the End action: the verb itself, never the word inside another text."""
        return self.action.strip().lower() == "end"

    def brackets(self) -> str:
        """The form of the papers, e.g. ``[Put, green_can, fridge]``."""
        parts = [part for part in (self.action, self.target, self.destination) if part]
        return f"[{', '.join(parts)}]"

    def __str__(self) -> str:
        return f"{self.brackets()} ({self.model})" if self.model else self.brackets()


def parse_brackets(text: str, vocabulary: Vocabulary = EMMOE) -> Subtask:
    """Read ``[Put, green_can, fridge] (RT-1-X)``; the model is optional.

    A known verb is spelled canonically and its number of arguments is checked; an unknown verb is kept as it is.

    Raises:
        SubtaskError: ``text`` is not in brackets, is empty, or has the wrong number of arguments for its verb.
    """
    match = _BRACKETS.match(text)
    if match is None:
        raise SubtaskError(f"not a subtask in brackets: {text!r}")
    action, *arguments = (part.strip() for part in match["inside"].split(","))
    if not action:
        raise SubtaskError(f"no action in {text!r}")
    verb = vocabulary.verb(action)
    if verb is not None:
        action = verb.name
        if len(arguments) != len(verb.arguments) or not all(arguments):
            raise SubtaskError(f"{action} takes {len(verb.arguments)} arguments, {len(arguments)} given: {text!r}")
    if len(arguments) > 2:
        raise SubtaskError(f"at most two arguments, {len(arguments)} given: {text!r}")
    target, destination = (*arguments, "", "")[:2]
    return Subtask(action, target, destination, (match["model"] or "").strip())
