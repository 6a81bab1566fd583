"""Training records of successful subtasks (paper, section 4.1 and appendix F.1), in the original script's form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from homie_core import inventory as inventories
from homie_core.episode import Step
from homie_core.errors import SUCCESS_FEEDBACK
from homie_eval.emmoe.data.info_file import NOTHING, Demonstration, decision

_CLOSING = "Now, please output Analysis, Subtask and Model, according to the instruction above."


@dataclass(frozen=True, slots=True)
class Turn:
    """One subtask of a demonstration as a question and its answer. ``images`` are paths, front, left, back, right."""

    id: str
    prompt: str
    analysis: str
    choice: str
    """Subtask and model, as DPO compares them."""
    step: Step
    images: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """The SFT record."""
        return {
            "id": self.id,
            "image": list(self.images),
            "conversations": [
                {"from": "human", "value": self.prompt},
                {"from": "gpt", "value": f"Analysis: {self.analysis}\n{self.choice}"},
            ],
        }


def turns(demonstration: Demonstration, id: str, images: Sequence[Sequence[str]] = ()) -> tuple[Turn, ...]:
    """Every subtask of a demonstration, failed ones too, each with all that happened before it.

    ``id`` begins the ids of the records; ``images`` are the paths of each step's pictures.
    """
    return tuple(_turns(demonstration, id, images))


def sft_records(turns: Sequence[Turn]) -> list[dict[str, object]]:
    """The records of the subtasks that succeeded, End included; failed ones are junk for this purpose."""
    return [turn.record() for turn in turns if turn.step.success]


def answer_choice(step: Step) -> str:
    """Subtask and model, two lines."""
    model = NOTHING if step.subtask.is_end else step.subtask.model or NOTHING
    return f"Subtask: {step.subtask.brackets()}\nModel: {model}"


def _turns(demonstration: Demonstration, id: str, images: Sequence[Sequence[str]]) -> Iterator[Turn]:
    history = ""
    feedback, held = SUCCESS_FEEDBACK, NOTHING
    for number, step in enumerate(demonstration.steps):
        lines = (
            f"Task: {demonstration.task}",
            f"Inventory: {held}",
            f"Historical Execution:{history or f' {NOTHING}'}",
            f"Feedback: {feedback}",
            _CLOSING,
        )
        yield Turn(
            id=f"{id}_info_subtask{step.index}",
            prompt="\n".join(lines),
            analysis=step.analysis,
            choice=answer_choice(step),
            step=step,
            images=tuple(images[number]) if number < len(images) else (),
        )
        history += f"({step.index}){decision(step.subtask)} ({'success' if step.success else 'fail'})\n"
        feedback, held = step.feedback, inventories.text(step.inventory_after)
