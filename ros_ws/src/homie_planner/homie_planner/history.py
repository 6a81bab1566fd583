"""What the planner is told about the past: the execution history and the last feedback (paper, appendix D)."""

from __future__ import annotations

from collections.abc import Sequence

from homie_core.episode import Step
from homie_core.errors import SUCCESS_FEEDBACK


def line(steps: Sequence[Step], window: int = 0) -> str:
    """The history line, e.g. ``(1) Go to, mug(success) (2) Pick, mug(fail) ``; empty without steps.

    ``window`` is how many of the last steps are told, under their own numbers; 0 for all of them.
    Each entry ends in a space, the last one too: this is the text that the original planners were trained on.
    """
    return "".join(_entry(step) for step in steps[-window:])


def feedback(steps: Sequence[Step]) -> str:
    """The sentence about the last step; ``None`` before the first step and after a success."""
    return steps[-1].feedback if steps else SUCCESS_FEEDBACK


def _entry(step: Step) -> str:
    subtask = step.subtask
    parts = [part for part in (subtask.action, subtask.target, subtask.destination) if part]
    return f"({step.index}) {', '.join(parts)}({'success' if step.success else 'fail'}) "
