"""Replays recorded outputs: of a plan (see `homie_eval.emmoe.plans`), or of a recorded episode.

A bag gives the raw outputs of its steps, or their subtasks where those were not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from homie_eval.bag import BagError, read_bag
from homie_eval.emmoe.plans import PlanError, load_plan
from homie_planner.backend import Capabilities, Deadline, PlannerError, PlanReply, PlanRequest
from homie_planner.parsing import reply_text


class Options(BaseModel):
    """It has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Replay:
    """Answers step after step with what was recorded, whatever the question is."""

    capabilities = Capabilities()

    def __init__(self, name: str, outputs: Sequence[str]) -> None:
        self.name = name
        self._outputs = tuple(outputs)

    def reset(self) -> None:
        """Nothing to forget: the step's number says which output comes next."""

    def close(self) -> None:
        """Nothing to give back."""

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        if request.step > len(self._outputs):
            raise PlannerError(f"the recording has {len(self._outputs)} steps and does not end the episode")
        return PlanReply(self._outputs[request.step - 1])


def make(reference: str, options: Options) -> Replay:
    """A replay of a plan (a shipped one by its name, or a file) or of a bag's only episode.

    Raises:
        PlannerError: there is no such plan or bag, or it holds no plan.
    """
    is_bag = Path(reference).is_dir() or Path(reference).suffix == ".mcap"
    return Replay(f"replay:{reference}", _from_bag(reference) if is_bag else _from_plan(reference))


def _from_plan(reference: str) -> list[str]:
    try:
        plan = load_plan(reference)
    except PlanError as error:
        raise PlannerError(f"replay: {error}") from error
    return [step if isinstance(step, str) else reply_text(step.analysis, step.subtask) for step in plan]


def _from_bag(path: str) -> list[str]:
    try:
        trajectories = read_bag(path).trajectories
    except BagError as error:
        raise PlannerError(f"replay: {error}") from error
    if len(trajectories) != 1:
        raise PlannerError(f"replay: {path} holds {len(trajectories)} episodes, wanted is one")
    steps = trajectories[0].steps
    if not steps:
        raise PlannerError(f"replay: the episode in {path} has no steps")
    return [step.raw_output or reply_text(step.analysis, step.subtask) for step in steps]
