"""The metrics as the published notebooks compute them, for who wants the original's numbers.

They differ from `homie_eval.emmoe.metrics`, which follows the paper's text, in these points:

- A run is read from the *prompt* of its last round, so the last step's result is never seen: a useful last step before
  the step limit earns no progress, and its error is not counted.
- The word "End" anywhere in the last round (task, history, analysis or subtask) counts as an End that was done.
- A step is matched with a key path by its words alone, whatever thing it meant.
- A re-plan is a failed step with a following step that is not End; and only one trial of each task is counted (the
  notebook's setting for which one is 3).
- A low-level success rate assumes three tries for every failure and two for every success (paper, tables 4 and H7).

Not inherited are their crashes (an empty run, a name outside the table, no failure at all): such a value is not
defined. Runs without a file left the denominators; here those that do not judge the planner do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from homie_core.errors import ErrorCode
from homie_core.key_path import task_progress
from homie_core.subtask import Subtask
from homie_core.vocabulary import END
from homie_eval.emmoe.metrics import Ratio, error_counts
from homie_eval.emmoe.tasks import Task
from homie_eval.trajectory import Trajectory

SRR_TRIAL = 3
TRIES_OF_A_FAILURE = 3
ASSUMED_TRIES = 2
"""Tries that a success is taken to have needed; with 1 and 3, the bounds of table H7."""


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """What the notebooks make of one run."""

    task_id: str
    trial: int
    progress: float
    ended: bool
    replans: int
    length: int
    expert_length: int
    errors: Counter[ErrorCode]

    @property
    def success(self) -> bool:
        return self.progress == 1.0


def published_score(trajectory: Trajectory, task: Task) -> PublishedScore:
    """One run, by the rules at the head of this file."""
    steps = trajectory.steps
    seen = tuple(replace(step, target_id="", destination_id="") for step in steps[:-1])
    last = steps[-1] if steps else None
    said = (_instruction(last.prompt), last.raw_output, last.subtask.brackets()) if last is not None else ()
    ended = any(END.name in text for text in said)
    followed = seen[:-1] if ended else seen
    if last is not None and ended:
        seen = (*seen, replace(last, subtask=Subtask(END.name), success=True, error_code=None))
    return PublishedScore(
        task_id=task.id,
        trial=trajectory.info.trial,
        progress=task_progress(task.paths, seen).value,
        ended=ended,
        replans=sum(not step.success for step in followed),
        length=len(steps),
        expert_length=task.expert_length,
        errors=error_counts(steps[:-1]),
    )


def _instruction(prompt: str) -> str:
    """A prompt without the system text, which lists the action End and was not part of the original's records."""
    return prompt[max(0, prompt.rfind("Task: ")) :]


def published_summary(scores: Sequence[PublishedScore], srr_trial: int = SRR_TRIAL) -> dict[str, Ratio]:
    """SR, PLWSR, TP, SRR and SER of all runs, each with what it was divided from."""
    successful = [score for score in scores if score.success]
    of_trial = [score for score in scores if score.trial == srr_trial]
    none = "no run"
    return {
        "SR": Ratio(len(successful), len(scores), none),
        "PLWSR": Ratio(
            math.fsum(score.expert_length / max(score.expert_length, score.length) for score in successful),
            len(scores),
            none,
        ),
        "TP": Ratio(math.fsum(score.progress for score in scores), len(scores), none),
        "SRR": Ratio(
            sum(score.replans for score in of_trial if score.success),
            sum(score.replans for score in of_trial),
            f"no failed step in trial {srr_trial}",
        ),
        "SER": Ratio(
            sum(score.ended for score in successful), sum(score.ended for score in scores), "no run has an End"
        ),
    }


def assumed_skill_rate(successes: int, failures: int, tries: int = ASSUMED_TRIES) -> Ratio:
    """Success of a try if every success had taken ``tries`` of them (paper, tables 4 and H7)."""
    return Ratio(successes, TRIES_OF_A_FAILURE * failures + tries * successes, "never tried")
