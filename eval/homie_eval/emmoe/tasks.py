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

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator

from homie_core import goals, key_path, yaml_file

Attribute = Literal["short_horizon", "long_horizon", "open_ended", "logical", "human_style"]
"""Kinds of tasks (paper, section 2.2). A task may have several."""

LONG_HORIZON = 10
"""Subtasks from which on a task is long-horizon (paper, section 2.2)."""

Split = Literal["train", "test"]
"""Parts of the suite: tasks to learn from, and tasks to be tested on."""

_ID = re.compile(r"(?P<number>[0-9]+)_(?P<slug>[a-z0-9]+(?:_[a-z0-9]+)*)")

NonEmpty = Annotated[str, Field(min_length=1)]


class TaskError(ValueError):
    """A task that does not exist or is not valid, in one line."""


class _Strict(BaseModel):
    """Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Placement(_Strict):
    """Where an object is at the start: an object of the scene, and the furniture or container that it is in or on."""

    object: NonEmpty
    on: NonEmpty
    region: str | None = None
    """Which of its surfaces or shelves; None: any."""
    at: tuple[float, float] | None = None
    """Spot in that region, metres from its middle; None: any free one, by the episode's seed."""
    yaw_degrees: float | None = None
    """How it is turned there; None: its front to the region's front."""


class ContainerStart(_Strict):
    """Whether a container is open at the start."""

    container: NonEmpty
    open: bool


class ApplianceStart(_Strict):
    """Whether an appliance runs at the start."""

    appliance: NonEmpty
    running: bool


class Pose(_Strict):
    """Where the base stands: metres in the map, and degrees from east, counterclockwise."""

    x: float
    y: float
    yaw_degrees: float = 0.0


class RobotStart(_Strict):
    """Where the robot starts."""

    robot: Pose


def _form(entry: Any) -> str | None:
    """The tag of what an entry of ``placements`` is: that of its one field that tells."""
    fields = type(entry).model_fields if isinstance(entry, _Strict) else entry if isinstance(entry, Mapping) else ()
    found = set(fields) & {"object", "container", "appliance", "robot"}
    return f"<{found.pop()}>" if len(found) == 1 else None


Start = Annotated[
    Annotated[Placement, Tag("<object>")]
    | Annotated[ContainerStart, Tag("<container>")]
    | Annotated[ApplianceStart, Tag("<appliance>")]
    | Annotated[RobotStart, Tag("<robot>")],
    Discriminator(
        _form,
        custom_error_type="form",
        custom_error_message="must be a mapping with exactly one of object, container, appliance, robot",
    ),
]
"""One thing that is otherwise at the start than the house says."""


class Task(_Strict):
    """One task of the benchmark, valid once made."""

    id: NonEmpty
    """The number in the paper's list and a slug, e.g. ``100_green_can_to_fridge``."""
    instruction: NonEmpty
    """The paper's text, unchanged."""
    scene: NonEmpty
    """Name of the house."""
    placements: tuple[Start, ...] = ()
    """What is otherwise than the house says: where objects are, what is open, what runs, where the robot stands."""
    key_paths: list[Any]
    """As written, with groups; see :mod:`homie_core.key_path`."""
    goal: list[Any] = []
    """As written; see :mod:`homie_core.goals`. Optional, because some tasks are about the way and not the end."""
    attributes: Annotated[tuple[Attribute, ...], Field(min_length=1)]
    expert_length: Annotated[int, Field(ge=1)]
    """Steps of the expert's trajectory, End included (for PLWSR)."""
    split: Split | None = None
    """The part of the suite that it belongs to; None for a task of one's own."""

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
        field = ".".join(str(part) for part in first["loc"] if not str(part).startswith("<"))
        message = first["msg"].removeprefix("Value error, ")
        raise TaskError(f"{where}: {field}: {message}, given {_short(first['input'])}") from error


def _short(value: Any, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}..."
