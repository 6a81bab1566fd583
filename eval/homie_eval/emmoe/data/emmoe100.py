"""The folder format of EMMOE-100: read, and written from any trajectories.

data/<split>/<id>/
info.txt                               see `homie_eval.emmoe.data.info_file`
keypath.json                           explicit key paths, a list of lists of "[action, ...]"
scene.json                             the original's: a Habitat episode; ours: see `SceneFile`
subtask<N>_{front,left,back,right}.png what was seen before subtask N, 256 x 256
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome
from homie_core.key_path import KeyPath, KeyPathError, expand
from homie_core.world_state import WorldState
from homie_eval.emmoe.data.info_file import Demonstration, InfoFileError, format_info, parse_info
from homie_eval.emmoe.tasks import LONG_HORIZON, Split, Task, TaskError, from_json
from homie_eval.trajectory import Trajectory

VIEWS = ("front", "left", "back", "right")
SPLITS: tuple[Split, ...] = get_args(Split)
SCENE_KEY = "homie"
"""Where ``scene.json`` holds what is ours, so that it is never taken for a Habitat episode."""

Picture = NDArray[np.uint8]

_STATE = TypeAdapter(WorldState)


class Emmoe100Error(ValueError):
    """A folder is not of this format. One line: the file, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One task of the data set with its demonstration. ``images`` are paths by view, one mapping a step.

    ``task`` and ``final_state`` are there if this project wrote the sample.
    """

    id: str
    split: Split
    demonstration: Demonstration
    key_paths: tuple[KeyPath, ...]
    images: tuple[Mapping[str, Path], ...] = ()
    task: Task | None = None
    final_state: WorldState | None = None

    def trajectory(self) -> Trajectory:
        """The demonstration as a trajectory, so that it can be scored like any other."""
        steps = self.demonstration.steps
        ended = bool(steps) and steps[-1].subtask.is_end
        info = EpisodeInfo(
            episode_id=f"emmoe100_{self.id}",
            benchmark="emmoe",
            task_id=self.task.id if self.task else self.id,
            instruction=self.demonstration.task,
            scene=self.task.scene if self.task else "",
            seed=0,
            trial=1,
            planner="demonstration",
            setting="",
        )
        result = EpisodeResult(Outcome.ENDED if ended else Outcome.STEP_LIMIT, len(steps))
        return Trajectory(info, steps, result, self.final_state)

    def scored_task(self) -> Task:
        """The task that the demonstration is scored by: ours if it is known, else one from the key paths."""
        if self.task is not None:
            return self.task
        return Task(
            id=f"{self.id}_emmoe_100",
            instruction=self.demonstration.task,
            scene="emmoe_100",
            key_paths=[[node.brackets() for node in path] for path in self.key_paths],
            attributes=("long_horizon",) if self.demonstration.length >= LONG_HORIZON else ("short_horizon",),
            expert_length=max(1, self.demonstration.length),
            split=self.split,
        )


@dataclass(frozen=True, slots=True)
class ReadSamples:
    """What a data set holds. ``problems``: one line for each sample that cannot be read."""

    samples: tuple[Sample, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenSample:
    """What is written: a trajectory, its task, and for each step its four pictures, or none."""

    trajectory: Trajectory
    task: Task
    pictures: Sequence[Mapping[str, Picture]] = field(default_factory=tuple)


def read_emmoe100(folder: Path) -> ReadSamples:
    """Every sample below ``folder``, which holds ``data/train`` and ``data/test``, in the order of their numbers.

    Raises:
        Emmoe100Error: there is no sample at all.
    """
    samples: list[Sample] = []
    problems: list[str] = []
    for split, path in sample_folders(folder):
        try:
            samples.append(read_sample(path, split))
        except Emmoe100Error as error:
            problems.append(str(error))
    if not samples and not problems:
        raise Emmoe100Error(f"{folder} holds no folder data/train/<number> or data/test/<number>")
    return ReadSamples(tuple(samples), tuple(problems))


def sample_folders(folder: Path) -> Iterator[tuple[Split, Path]]:
    """The folders of all samples with their splits."""
    for split in SPLITS:
        root = folder / "data" / split
        if root.is_dir():
            numbered = [path for path in root.iterdir() if path.is_dir() and path.name.isdecimal()]
            yield from ((split, path) for path in sorted(numbered, key=lambda path: int(path.name)))


def read_sample(path: Path, split: Split) -> Sample:
    """One sample.

    Raises:
        Emmoe100Error: a file is missing or wrong.
    """
    try:
        demonstration = parse_info(_text(path / "info.txt"))
    except InfoFileError as error:
        raise Emmoe100Error(f"{path / 'info.txt'}: {error}") from error
    paths = _key_paths(path / "keypath.json")
    task, state = _scene(path / "scene.json")
    return Sample(path.name, split, demonstration, paths, _images(path, demonstration.length), task, state)


def write_emmoe100(samples: Sequence[WrittenSample], folder: Path) -> tuple[Path, ...]:
    """Write samples below ``folder``, numbered from 1; the folders of all of them.

    Raises:
        Emmoe100Error: one of the folders exists.
    """
    made = []
    for number, sample in enumerate(samples, start=1):
        path = folder / "data" / (sample.task.split or SPLITS[0]) / str(number)
        try:
            path.mkdir(parents=True)
        except FileExistsError as error:
            raise Emmoe100Error(f"{path} exists already") from error
        _write(sample, path)
        made.append(path)
    return tuple(made)


def _write(sample: WrittenSample, path: Path) -> None:
    trajectory, task = sample.trajectory, sample.task
    info = format_info(Demonstration(trajectory.info.instruction or task.instruction, trajectory.steps))
    (path / "info.txt").write_text(info, encoding="utf-8")
    key_paths = [[node.brackets() for node in nodes] for nodes in task.paths]
    (path / "keypath.json").write_text(json.dumps(key_paths, indent=4) + "\n", encoding="utf-8")
    state = trajectory.final_state
    scene = {
        "task": json.loads(task.to_json()),
        "final_state": None if state is None else _STATE.dump_python(state),
        "seed": trajectory.info.seed,
    }
    (path / "scene.json").write_text(json.dumps({SCENE_KEY: scene}), encoding="utf-8")
    for number, views in enumerate(sample.pictures, start=1):
        for view, picture in views.items():
            Image.fromarray(picture).save(path / f"subtask{number}_{view}.png")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Emmoe100Error(f"cannot read {path}: {error}") from error


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise Emmoe100Error(f"{path} is not JSON: {error}") from error


def _key_paths(path: Path) -> tuple[KeyPath, ...]:
    try:
        return expand(_json(path))
    except KeyPathError as error:
        raise Emmoe100Error(f"{path}: {error}") from error


def _scene(path: Path) -> tuple[Task | None, WorldState | None]:
    """What ``scene.json`` says if it is ours; a Habitat episode says nothing that is needed here."""
    content = _json(path) if path.is_file() else {}
    ours = content.get(SCENE_KEY) if isinstance(content, dict) else None
    if not isinstance(ours, dict):
        return None, None
    try:
        state = ours.get("final_state")
        return from_json(json.dumps(ours.get("task"))), None if state is None else _STATE.validate_python(state)
    except TaskError as error:
        raise Emmoe100Error(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Emmoe100Error(f"{path}: final_state.{place}: {first['msg']}") from error


def _images(path: Path, steps: int) -> tuple[Mapping[str, Path], ...]:
    return tuple(
        {view: file for view in VIEWS if (file := path / f"subtask{number}_{view}.png").is_file()}
        for number in range(1, steps + 1)
    )
