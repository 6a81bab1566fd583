"""Pairs of a chosen and a rejected answer (paper, section 4.1 and appendix F.2).

Four kinds: a failed answer and the successful one after it (re-plan); a successful answer and, as rejected, the next
one (order), the same with a verb that is not in the list (action), the same with the other model of its kind (model).
End is never chosen: whoever ends too early loses more than whoever does a step too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from homie_eval.emmoe.data.info_file import NOTHING
from homie_eval.emmoe.data.sft import Turn


class PairKind(StrEnum):
    """Why the rejected answer is worse."""

    REPLAN = "replan"
    ORDER = "order"
    ACTION = "action"
    MODEL = "model"


OTHER_VERB = {"Pick": "Fetch", "Put": "Place", "Go to": "Move", "Open": "Pull", "Close": "Push"}
OTHER_MODEL = {"NoMaD": "PixNav", "PixNav": "NoMaD", "octo": "RT-1-X", "RT-1-X": "octo"}


@dataclass(frozen=True, slots=True)
class Pair:
    """One DPO record and what kind it is."""

    kind: PairKind
    prompt: str
    chosen: str
    rejected: str

    def record(self) -> dict[str, str]:
        """The record in the original's form."""
        return {"prompt": self.prompt, "chosen": self.chosen, "rejected": self.rejected}


def replan_pairs(turns: Sequence[Turn]) -> list[Pair]:
    """A failed answer and the successful one right after it, at the question that the failed one answered."""
    return [
        Pair(PairKind.REPLAN, failed.prompt, better.choice, failed.choice)
        for failed, better in pairwise(turns)
        if not failed.step.success and better.step.success and not better.step.subtask.is_end
    ]


def changed_pairs(turns: Sequence[Turn]) -> list[Pair]:
    """Order, action and model changes of every successful subtask but End.

    A change that changes nothing is left out: an order change where the next answer is the same one, a model change
    where the model has no counterpart.
    """
    successful = [turn for turn in turns if turn.step.success]
    pairs: list[Pair] = []
    for place, turn in enumerate(successful):
        if turn.step.subtask.is_end:
            continue
        following = successful[place + 1].choice if place + 1 < len(successful) else turn.choice
        for kind, rejected in (
            (PairKind.MODEL, _other_model(turn)),
            (PairKind.ORDER, following),
            (PairKind.ACTION, _other_verb(turn)),
        ):
            if rejected != turn.choice:
                pairs.append(Pair(kind, turn.prompt, turn.choice, rejected))
    return pairs


def dpo_pairs(turns: Sequence[Turn]) -> list[Pair]:
    """All pairs of one demonstration."""
    return [*replan_pairs(turns), *changed_pairs(turns)]


def _other_model(turn: Turn) -> str:
    model = turn.step.subtask.model
    head, _, _ = turn.choice.rpartition("Model: ")
    return f"{head}Model: {OTHER_MODEL.get(model, model or NOTHING)}"


def _other_verb(turn: Turn) -> str:
    action = turn.step.subtask.action
    return turn.choice.replace(f"[{action}", f"[{OTHER_VERB.get(action, action)}", 1)
