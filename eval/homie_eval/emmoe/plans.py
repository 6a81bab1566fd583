"""Recorded plans: what the replay planner says, step by step.

Two forms are read. JSON, a list of ``{"analysis": ..., "subtask": "[Put, green_can, fridge]", "model": "M3"}``, where
analysis and model may be left out, or of raw outputs, each a text that is replayed as it is, right or wrong; and the
``info.txt`` of EMMOE-100, whose feedback and inventory lines are not used.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from homie_core.subtask import Subtask, SubtaskError, parse_brackets

_SUBTASK_LINE = re.compile(r"Subtask\s*\d+\s*:\s*(?P<subtask>\[.*)", re.IGNORECASE)
_ANALYSIS_LINE = re.compile(r"Analysis\s*:\s*(?P<analysis>.*)", re.IGNORECASE)
_FIELDS = {"analysis", "subtask", "model"}


class PlanError(ValueError):
    """A plan that does not exist or cannot be read, in one line."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of a plan. The model is part of the subtask."""

    subtask: Subtask
    analysis: str = ""


def shipped_plans() -> dict[str, Path]:
    """The files of the plans that come with the package, by name."""
    folder = Path(str(files("homie_eval"))) / "emmoe" / "plans"
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


def load_plan(reference: str | Path) -> tuple[PlannedStep | str, ...]:
    """A plan by the name of a shipped one, or by the path of a ``.json`` or ``.txt`` file. Raw outputs are texts.

    Raises:
        PlanError: there is no such plan, or it cannot be read.
    """
    text = str(reference).strip()
    shipped = shipped_plans()
    path = shipped.get(text, Path(text))
    if path.suffix not in (".json", ".txt"):
        raise PlanError(f"unknown plan {text!r}; there are: {', '.join(shipped)}; or give a .json or .txt file")
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"cannot read plan {path}: {error}") from error
    steps = _from_json(content, path) if path.suffix == ".json" else _from_info(content, path)
    if not steps:
        raise PlanError(f"{path}: the plan has no step")
    return steps


def _from_json(content: str, path: Path) -> tuple[PlannedStep | str, ...]:
    try:
        data = json.loads(content)
    except json.JSONDecodeError as error:
        raise PlanError(f"{path}: not JSON: {error}") from error
    if not isinstance(data, list):
        raise PlanError(f"{path}: must be a list of steps, not {type(data).__name__}")
    return tuple(_step(item, f"{path}: step {number}") for number, item in enumerate(data, start=1))


def _step(item: Any, where: str) -> PlannedStep | str:
    if isinstance(item, str):
        return item
    if not isinstance(item, dict) or "subtask" not in item or not set(item) <= _FIELDS:
        raise PlanError(f"{where} must be a text, or have a subtask and maybe analysis and model, not {item!r}")
    if not all(isinstance(value, str) for value in item.values()):
        raise PlanError(f"{where}: every field must be a text, not {item!r}")
    return PlannedStep(_subtask(item["subtask"], item.get("model", ""), where), item.get("analysis", ""))


def _from_info(content: str, path: Path) -> tuple[PlannedStep, ...]:
    steps: list[PlannedStep] = []
    for number, line in enumerate(content.splitlines(), start=1):
        if match := _SUBTASK_LINE.match(line.strip()):
            steps.append(PlannedStep(_subtask(match["subtask"], "", f"{path} line {number}")))
        elif steps and (match := _ANALYSIS_LINE.match(line.strip())):
            steps[-1] = PlannedStep(steps[-1].subtask, match["analysis"].strip())
    return tuple(steps)


def _subtask(text: str, model: str, where: str) -> Subtask:
    try:
        subtask = parse_brackets(text)
    except SubtaskError as error:
        raise PlanError(f"{where}: {error}") from error
    return Subtask(subtask.action, subtask.target, subtask.destination, model or subtask.model)
