"""Writing a LeRobotDataset, version 3.0: what LeRobot 0.4 and later load.

meta/info.json                                           features, frame rate, totals, splits
meta/tasks.parquet                                       the sentences, and their numbers
meta/stats.json                                          statistics of the whole data set
meta/episodes/chunk-000/file-000.parquet                 a row each episode: frames, files, statistics
data/chunk-<c>/file-<f>.parquet                          a row each frame
videos/observation.images.head/chunk-<c>/file-<f>.mp4    the frames' pictures

The format lets a file hold many episodes; here each has its own, so that one can be looked at, copied or removed.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homie_eval.feature_statistics import (
    Statistics,
    column_statistics,
    merged,
    picture_statistics,
    reduced,
    sampled_frames,
)
from homie_eval.images import Picture
from homie_eval.video import write_pictures

VERSION = "v3.0"
CHUNK_SIZE = 1000
"""Files in a folder."""

VIDEO_KEY = "observation.images.head"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-000/file-000.parquet"

_DATA_MB, _VIDEO_MB = 100, 200
_KEYFRAME_INTERVAL = 2
"""Training reads single frames in any order: LeRobot's own choice."""

_TASK_COLUMN = "__index_level_0__"
"""The index of the table of tasks, as pandas names one that has no name."""

Column = NDArray[np.generic]


class ParquetMissing(ValueError):
    """The library that writes Parquet is not installed. The text names the command that installs it."""


@dataclass(frozen=True, slots=True)
class LeRobotEpisode:
    """One episode. ``columns`` by feature: (frames,) or (frames, n), alike in all episodes.

    ``pictures`` are as many as there are frames, all of the data set's size.
    """

    task: str
    split: str
    columns: Mapping[str, Column]
    pictures: Iterator[Picture]

    @property
    def length(self) -> int:
        return len(next(iter(self.columns.values())))


class LeRobotWriter:
    """A data set that is being written into ``folder``: `add` its episodes, those of a split in a row, then `finish`.

    ``names`` are those of the parts of the features that are vectors.

    Raises:
        ParquetMissing: pyarrow is not installed.
    """

    def __init__(self, folder: Path, rate: int, robot_type: str, names: Mapping[str, Sequence[str]]) -> None:
        self.folder = folder
        self.rate = rate
        self._arrow, self._parquet = _library("pyarrow"), _library("pyarrow.parquet")
        self._robot_type = robot_type
        self._names = names
        self._size: tuple[int, int] = (0, 0)
        self._features: dict[str, dict[str, object]] = {}
        self._tasks: dict[str, int] = {}
        self._rows: list[dict[str, object]] = []
        self._statistics: list[dict[str, Statistics]] = []
        self._splits: dict[str, list[int]] = {}
        self._frames = 0

    def add(self, episode: LeRobotEpisode) -> None:
        """Write one episode.

        Raises:
            OSError, VideoError: a file cannot be written.
        """
        number, length = len(self._rows), episode.length
        chunk, file = divmod(number, CHUNK_SIZE)
        task = self._tasks.setdefault(episode.task, len(self._tasks))
        columns: dict[str, Column] = {
            **episode.columns,
            "timestamp": (np.arange(length) / self.rate).astype(np.float32),
            "frame_index": np.arange(length),
            "episode_index": np.full(length, number),
            "index": np.arange(self._frames, self._frames + length),
            "task_index": np.full(length, task),
        }
        path = self.folder / DATA_PATH.format(chunk_index=chunk, file_index=file)
        self._write_table({name: self._array(column) for name, column in columns.items()}, path)
        statistics = {name: column_statistics(column) for name, column in columns.items()}
        statistics[VIDEO_KEY] = self._write_video(episode, chunk, file)
        self._features = {
            **{name: self._feature(name, column) for name, column in columns.items()},
            VIDEO_KEY: self._video_feature(),
        }
        self._rows.append(
            {
                "episode_index": number,
                "tasks": [episode.task],
                "length": length,
                "dataset_from_index": self._frames,
                "dataset_to_index": self._frames + length,
                "data/chunk_index": chunk,
                "data/file_index": file,
                f"videos/{VIDEO_KEY}/chunk_index": chunk,
                f"videos/{VIDEO_KEY}/file_index": file,
                f"videos/{VIDEO_KEY}/from_timestamp": 0.0,
                f"videos/{VIDEO_KEY}/to_timestamp": length / self.rate,
                **{
                    f"stats/{feature}/{name}": _plain(name, value)
                    for feature, found in statistics.items()
                    for name, value in found.items()
                },
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
            }
        )
        self._statistics.append(statistics)
        self._splits.setdefault(episode.split, []).append(number)
        self._frames += length

    def finish(self) -> None:
        """Write what describes the episodes; at least one was added.

        Raises:
            OSError: a file cannot be written.
        """
        rows = {name: [row[name] for row in self._rows] for name in self._rows[0]}
        self._write_table(rows, self.folder / EPISODES_PATH)
        self._write_tasks()
        statistics = {name: merged([each[name] for each in self._statistics]) for name in self._statistics[0]}
        plain = {
            feature: {name: _plain(name, value) for name, value in found.items()}
            for feature, found in statistics.items()
        }
        _write_json(plain, self.folder / "meta" / "stats.json")
        info = {
            "codebase_version": VERSION,
            "robot_type": self._robot_type,
            "total_episodes": len(self._rows),
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": CHUNK_SIZE,
            "data_files_size_in_mb": _DATA_MB,
            "video_files_size_in_mb": _VIDEO_MB,
            "fps": self.rate,
            "splits": {name: f"{numbers[0]}:{numbers[-1] + 1}" for name, numbers in self._splits.items()},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH,
            "features": self._features,
        }
        _write_json(info, self.folder / "meta" / "info.json")

    def _write_video(self, episode: LeRobotEpisode, chunk: int, file: int) -> Statistics:
        path = self.folder / VIDEO_PATH.format(video_key=VIDEO_KEY, chunk_index=chunk, file_index=file)
        path.parent.mkdir(parents=True, exist_ok=True)
        wanted = sampled_frames(episode.length)
        samples: list[Picture] = []

        def sampling() -> Iterator[Picture]:
            for number, picture in enumerate(episode.pictures):
                if number in wanted:
                    samples.append(reduced(picture))
                self._size = self._size if any(self._size) else picture.shape[:2]
                yield picture

        write_pictures(sampling(), path, self.rate, _KEYFRAME_INTERVAL)
        return picture_statistics(samples)

    def _write_tasks(self) -> None:
        """The sentences are the index of a table of pandas, so its note on that belongs to the file."""
        described: list[dict[str, object]] = [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"},
            {"name": None, "field_name": _TASK_COLUMN, "pandas_type": "unicode", "numpy_type": "object"},
        ]
        note = {
            "index_columns": [_TASK_COLUMN],
            "column_indexes": [{"name": None, "field_name": None, "pandas_type": "unicode", "numpy_type": "object"}],
            "columns": [{**column, "metadata": None} for column in described],
        }
        columns = {"task_index": list(self._tasks.values()), _TASK_COLUMN: list(self._tasks)}
        self._write_table(columns, self.folder / "meta" / "tasks.parquet", {"pandas": json.dumps(note)})

    def _write_table(self, columns: Mapping[str, Any], path: Path, note: Mapping[str, str] | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        table = self._arrow.table(dict(columns))
        self._parquet.write_table(table.replace_schema_metadata(note) if note else table, path)

    def _array(self, column: Column) -> Any:
        kind = self._arrow.from_numpy_dtype(column.dtype)
        if column.ndim > 1:
            kind = self._arrow.list_(kind, column.shape[1])
        return self._arrow.array(list(column), kind)

    def _feature(self, name: str, column: Column) -> dict[str, object]:
        shape = [1] if column.ndim == 1 else list(column.shape[1:])
        names = self._names.get(name)
        return {"dtype": str(column.dtype), "shape": shape, "names": None if names is None else list(names)}

    def _video_feature(self) -> dict[str, object]:
        height, width = (length + length % 2 for length in self._size)  # as in the file
        return {
            "dtype": "video",
            "shape": [height, width, 3],
            "names": ["height", "width", "channels"],
            "info": {
                "video.height": height,
                "video.width": width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": self.rate,
                "video.channels": 3,
                "has_audio": False,
            },
        }


def _library(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ParquetMissing("pyarrow is not installed; install it with: make extra-lerobot") from error
    except ImportError as error:
        raise ParquetMissing(f"pyarrow cannot be loaded ({error}); install it anew with: make extra-lerobot") from error


def _plain(name: str, value: NDArray[np.float64]) -> list[Any]:
    """For JSON and Parquet; a count is a whole number."""
    return (value.astype(np.int64) if name == "count" else value).tolist()


def _write_json(content: object, path: Path) -> None:
    path.write_text(json.dumps(content, indent=4, ensure_ascii=False) + "\n", encoding="utf-8")
