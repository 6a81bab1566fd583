"""Where exported data comes from: the folder of a run, a bag, or a data set in the format of EMMOE-100."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from homie_eval.bag import Bag, BagError
from homie_eval.emmoe.data.emmoe100 import Emmoe100Error, Picture, Sample, read_emmoe100, sample_folders
from homie_eval.emmoe.metrics import EpisodeScore, score_episode
from homie_eval.emmoe.tasks import Task
from homie_eval.observations import episode_views
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import RunStore, State
from homie_eval.score import score_bag
from homie_eval.trajectory import Trajectory


class SourceError(ValueError):
    """There is nothing to export. One line."""


Pictures = tuple[Mapping[str, Picture], ...]
"""For each step the views before it, by name."""


@dataclass(frozen=True, slots=True)
class SourceEpisode:
    """One episode to export. ``bag`` is where it was recorded, if it was; ``load`` reads its pictures."""

    name: str
    trajectory: Trajectory
    task: Task
    bag: Path | None
    load: Callable[[], Pictures] = field(repr=False)

    @property
    def score(self) -> EpisodeScore:
        return score_episode(self.trajectory, self.task)

    @property
    def pictures(self) -> Pictures:
        """The views before each step; empty where none were recorded. Read anew each time.

        Raises:
            SourceError: the pictures cannot be read.
        """
        return self.load()


@dataclass(frozen=True, slots=True)
class Source:
    """All episodes of a source, and one line for each that is left out."""

    episodes: tuple[SourceEpisode, ...]
    problems: tuple[str, ...] = ()


def read_source(path: Path) -> Source:
    """The episodes that came to an end, whatever is at ``path``.

    Raises:
        SourceError: nothing is there that can be exported.
        StoreError, TrajectoryJsonError: a run's file is damaged.
    """
    folder = EvaluationFolder(path)
    if folder.is_run:
        return _from_run(folder)
    if next(sample_folders(path), None) is not None:
        return _from_data_set(path)
    try:
        return _from_bag(path / "bag" if (path / "bag").is_dir() else path)
    except BagError as error:
        raise SourceError(f"{path} is no run, no bag and no data set: {error}") from error


def _from_run(folder: EvaluationFolder) -> Source:
    episodes: list[SourceEpisode] = []
    with RunStore(folder.store) as store:
        for record in store.records([State.DONE]):
            trajectory = record.trajectory
            if trajectory is None:
                continue
            bag = folder.bag(record.episode)
            load = _bag_loader(bag, trajectory.info.episode_id) if bag.is_dir() else tuple
            task = store.plan.task_of[record.episode.task]
            episodes.append(SourceEpisode(record.episode.id, trajectory, task, bag if bag.is_dir() else None, load))
        left = store.counts().total() - len(episodes)
    if not episodes:
        raise SourceError(f"{folder.path} holds no finished episode")
    return Source(tuple(episodes), (f"{left} episodes did not come to an end and are left out",) if left else ())


def _from_data_set(path: Path) -> Source:
    try:
        found = read_emmoe100(path)
    except Emmoe100Error as error:
        raise SourceError(str(error)) from error
    return Source(tuple(map(_from_sample, found.samples)), found.problems)


def _from_sample(sample: Sample) -> SourceEpisode:
    name = f"{sample.split}/{sample.id}"
    return SourceEpisode(name, sample.trajectory(), sample.scored_task(), None, _file_loader(sample))


def _from_bag(path: Path) -> Source:
    scores = score_bag(path)
    episodes = tuple(
        SourceEpisode(
            each.trajectory.info.episode_id,
            each.trajectory,
            each.task,
            path,
            _bag_loader(path, each.trajectory.info.episode_id),
        )
        for each in scores.episodes
        if each.trajectory.complete
    )
    if not episodes:
        raise SourceError(f"{path} holds no finished episode")
    return Source(episodes, scores.problems)


def _bag_loader(bag_path: Path, episode_id: str) -> Callable[[], Pictures]:
    def load() -> Pictures:
        try:
            with Bag(bag_path) as bag:
                views = tuple(views for id, views in episode_views(bag) if id == episode_id)
        except BagError as error:
            raise SourceError(f"{bag_path}: {error}") from error
        return views if any(views) else ()

    return load


def _file_loader(sample: Sample) -> Callable[[], Pictures]:
    def read(path: Path) -> Picture:
        try:
            with Image.open(path) as image:
                return np.asarray(image.convert("RGB"))
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error}") from error

    def load() -> Pictures:
        return tuple({view: read(path) for view, path in views.items()} for views in sample.images)

    return load


def named_images(pictures: Pictures, stem: str) -> Iterator[tuple[str, ...]]:
    """The relative paths of each step's pictures, as the exports write them, in the order of the views."""
    for number, views in enumerate(pictures, start=1):
        yield tuple(f"{stem}/subtask{number}_{view}.png" for view in views)
