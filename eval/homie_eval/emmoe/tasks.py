"""EMMOE tasks: what to do, where, and when it counts as done.

A task file is YAML, named after its id. ``load_task("100")`` finds a shipped one by the number that it has in the
paper's list (appendix B.3), ``load_task("path/to/own.yaml")`` reads any other. A task is checked completely when it is
loaded; every error is one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from homie_core import goals, key_path, yaml_file

Attribute = Literal["short_horizon", "long_horizon", "open_ended", "logical", "human_style"]
"""Kinds of tasks (paper, section 2.2). A task may have several."""

Split = Literal["train", "test"]
"""Parts of the suite: tasks to learn from, and tasks to be tested on."""

_ID = re.compile(r"(?P<number>[0-9]+)_(?P<slug>[a-z0-9]+(?:_[a-z0-9]+)*)")

NonEmpty = Annotated[str, Field(min_length=1)]


class TaskError(ValueError):
    """A task that does not exist or is not valid, in one line."""


class Placement(BaseModel):
    """Where an object is at the start: an object of the scene, and the furniture or container that it is in or on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    object: NonEmpty
    on: NonEmpty
    region: str | None = None
    """Which of its surfaces or shelves; None: any."""
    at: tuple[float, float] | None = None
    """Spot in that region, metres from its middle; None: any free one, by the episode's seed."""


class Task(BaseModel):
    """One task of the benchmark, valid once made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: NonEmpty
    """The number in the paper's list and a slug, e.g. ``100_green_can_to_fridge``."""
    instruction: NonEmpty
    """The paper's text, unchanged."""
    scene: NonEmpty
    """Name of the house."""
    placements: tuple[Placement, ...] = ()
    """Objects that are elsewhere than the house says."""
    key_paths: list[Any]
    """As written, with groups; see :mod:`homie_core.key_path`."""
    goal: list[Any] = []
    """As written; see :mod:`homie_core.goals`. Optional, because some tasks are about the way and not the end."""
    attributes: Annotated[tuple[Attribute, ...], Field(min_length=1)]
    expert_length: Annotated[int, Field(ge=1)]
    """Steps of the expert's trajectory, End included (for PLWSR)."""
    split: Split | None = None

    @field_validator("id")
    @classmethod
    def _numbered(cls, value: str) -> str:
        if _ID.fullmatch(value) is None:
            raise ValueError("must be a number and words joined by underscores, like 100_green_can_to_fridge")
        return value

    @field_validator("key_paths")
    @classmethod
    def _expandable(cls, value: list[Any]) -> list[Any]:
        for path in key_path.expand(value):
            if not path[-1].is_end or any(node.is_end for node in path[:-1]):
                written = ", ".join(node.brackets() for node in path)
                raise ValueError(f"every key path must have one [End], as its last node, unlike: {written}")
        return value

    @field_validator("goal")
    @classmethod
    def _parsable(cls, value: list[Any]) -> list[Any]:
        goals.parse(value)
        return value

    @property
    def number(self) -> int:
        """The number in the paper's list."""
        return int(self.id.split("_", 1)[0])

    @cached_property
    def paths(self) -> tuple[key_path.KeyPath, ...]:
        """The explicit key paths."""
        return key_path.expand(self.key_paths)

    @cached_property
    def conditions(self) -> tuple[goals.Condition, ...]:
        return goals.parse(self.goal)

    @property
    def placements_json(self) -> str:
        """The placements as ResetEpisode takes them; empty for the scene's own."""
        if not self.placements:
            return ""
        return json.dumps([placement.model_dump(exclude_none=True) for placement in self.placements])

    def to_json(self) -> str:
        """The whole task in one line, as EpisodeInfo stores it."""
        return self.model_dump_json()


def from_json(text: str) -> Task:
    """The inverse of :meth:`Task.to_json`.

    Raises:
        TaskError: the text is not a task.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise TaskError(f"task is not JSON: {error}") from error
    return _validated(data, "task")


def shipped_tasks() -> dict[str, Path]:
    """The files of the tasks that come with the package, by id, in the order of their numbers."""
    folder = Path(str(files("homie_eval"))) / "emmoe" / "tasks"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: int(path.stem.split("_")[0]))}


def load_task(reference: str | Path) -> Task:
    """A task by its number, its id, or the path of its file.

    Raises:
        TaskError: there is no such task, or its file is not valid.
    """
    text = str(reference).strip()
    if text.endswith((".yaml", ".yml")):
        return _read(Path(text))
    shipped = shipped_tasks()
    matching = [id for id in shipped if text in (id, id.split("_", 1)[0])]
    if not matching:
        raise TaskError(f"unknown task {text!r}; there are: {', '.join(shipped)}; or give the path of a .yaml file")
    return _read(shipped[matching[0]])


def _read(path: Path) -> Task:
    try:
        data = yaml_file.load(path)
    except yaml_file.YamlError as error:
        raise TaskError(str(error)) from error
    task = _validated(data, str(path))
    if task.id != path.stem:
        raise TaskError(f"{path}: id is {task.id!r}, but the file is called {path.stem!r}")
    return task


def _validated(data: Any, where: str) -> Task:
    if not isinstance(data, Mapping):
        raise TaskError(f"{where}: must be a mapping, not {type(data).__name__}")
    try:
        return Task.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise TaskError(f"{where}: {field}: {message}, given {_short(first['input'])}") from error


def _short(value: Any, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}..."
