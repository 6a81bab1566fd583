"""Replays recorded outputs: of a plan file, or of a recorded episode.

A plan file is a JSON list. An entry is a planner's raw output (a text), or an object with ``subtask`` and, if wanted,
``analysis`` and ``model``. A bag gives the raw outputs of its steps, or their subtasks where those were not kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from homie_eval.bag import BagError, read_bag
from homie_planner.backend import Capabilities, Deadline, PlannerError, PlanReply, PlanRequest
from homie_planner.parsing import reply_text


class Replay:
    """Answers step after step with what was recorded, whatever the question is."""

    capabilities = Capabilities()

    def __init__(self, name: str, outputs: Sequence[str]) -> None:
        self.name = name
        self._outputs = tuple(outputs)

    def reset(self) -> None:
        """Nothing to forget: the step's number says which output comes next."""

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        if request.step > len(self._outputs):
            raise PlannerError(f"the recording has {len(self._outputs)} steps and does not end the episode")
        return PlanReply(self._outputs[request.step - 1])


def load(path: Path) -> Replay:
    """A replay of a plan file or of a bag's only episode.

    Raises:
        PlannerError: there is no such file, or it holds no plan.
    """
    if not path.exists():
        raise PlannerError(f"replay: no such file: {path}")
    outputs = _from_plan(path) if path.suffix == ".json" else _from_bag(path)
    return Replay(f"replay:{path}", outputs)


def _from_plan(path: Path) -> list[str]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise PlannerError(f"replay: {path} is not a JSON file: {error}") from error
    if not isinstance(data, list) or not data:
        raise PlannerError(f"replay: {path} must hold a JSON list with at least one step")
    return [_output(entry, f"{path}, step {number}") for number, entry in enumerate(data, start=1)]


def _output(entry: Any, where: str) -> str:
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, dict) or "subtask" not in entry:
        raise PlannerError(f"replay: {where} must be a text, or an object with the field subtask")
    return json.dumps(entry)


def _from_bag(path: Path) -> list[str]:
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
