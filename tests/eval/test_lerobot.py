"""Data sets of LeRobot: read again as its documentation lays them out, with Parquet, JSON and video readers alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from homie_core.subtask import Subtask
from homie_eval.emmoe.data.export import Exported, ExportError
from homie_eval.emmoe.data.lerobot import export_lerobot, task_sentence
from homie_eval.emmoe.data.sources import read_source
from homie_eval.robot_states import FINGERS, JOINTS, STATE_NAMES
from homie_eval.video import HEAD_CAMERA, THIRD_PERSON
from support.bags import BagFixture
from support.moving_bag import level_at, moving_steps, write_moving_episode

HEAD = "observation.images.head"
TEST_TASK = "18"
"""One of the test split; task 100 is of the train split."""

FRAMES = (6, 8)
"""Of the two subtasks of a moving episode, five a second: from 0 to 1 s, and from 1 to 2.5 s."""


def parquet(path: Path) -> Any:
    return pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing: make extra-lerobot").read_table(path)


def export(folder: Path) -> Exported:
    return export_lerobot(read_source(folder / "bag").episodes, folder / "out")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Two episodes of two subtasks each; the first one is of the test split."""
    pytest.importorskip("pyarrow", reason="pyarrow is missing: make extra-lerobot")
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, "e1", task=TEST_TASK)
        failed = moving_steps("(1) [Go to, fridge](success) (2) [Open, refrigerator](fail)", (1.0, 1.5))
        write_moving_episode(bag, "e2", failed)
    done = export(tmp_path)
    assert (done.episodes, done.records, done.left_out) == (2, 4, ())
    return done.path


def info(out: Path) -> Any:
    return json.loads((out / "meta" / "info.json").read_text())


def frames(out: Path) -> dict[str, list[Any]]:
    """All rows of all episodes, by column, found as ``info.json`` and the table of episodes say."""
    found: dict[str, list[Any]] = {}
    for row in parquet(out / "meta/episodes/chunk-000/file-000.parquet").to_pylist():
        where = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
        for name, values in parquet(out / info(out)["data_path"].format(**where)).to_pydict().items():
            found.setdefault(name, []).extend(values)
    return found


def test_the_description(out: Path) -> None:
    found = info(out)
    features = found.pop("features")
    assert found == {
        "codebase_version": "v3.0",
        "robot_type": "fetch",
        "total_episodes": 4,
        "total_frames": 2 * sum(FRAMES),
        "total_tasks": 2,  # both runs have one instruction
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": 5,
        "splits": {"train": "0:2", "test": "2:4"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    vector = {"dtype": "float32", "shape": [14], "names": list(STATE_NAMES)}
    assert features["observation.state"] == features["action"] == vector
    for name in ("frame_index", "episode_index", "index", "task_index"):
        assert features[name] == {"dtype": "int64", "shape": [1], "names": None}
    for name in ("next.done", "next.success"):
        assert features[name] == {"dtype": "bool", "shape": [1], "names": None}
    assert features["timestamp"] == {"dtype": "float32", "shape": [1], "names": None}
    video = features[HEAD]
    assert (video["dtype"], video["shape"], video["names"]) == ("video", [48, 64, 3], ["height", "width", "channels"])
    assert set(frames(out)) == set(features) - {HEAD}


def test_the_table_of_episodes(out: Path) -> None:
    rows = parquet(out / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    first = 0
    for number, row in enumerate(rows):
        length = FRAMES[number % 2]
        assert (row["episode_index"], row["length"]) == (number, length)
        assert (row["dataset_from_index"], row["dataset_to_index"]) == (first, first + length)
        assert (row["data/chunk_index"], row["data/file_index"]) == (0, number)
        assert (row[f"videos/{HEAD}/from_timestamp"], row[f"videos/{HEAD}/to_timestamp"]) == (0.0, length / 5)
        assert row["stats/action/count"] == [length] and len(row["stats/action/mean"]) == 14
        assert np.shape(row[f"stats/{HEAD}/q99"]) == (3, 1, 1)
        first += length
    tasks = parquet(out / "meta/tasks.parquet").to_pydict()
    numbers = dict(zip(tasks["__index_level_0__"], tasks["task_index"], strict=True))
    of_frames = frames(out)
    for number, row in enumerate(rows):
        assert {numbers[row["tasks"][0]]} == set(of_frames["task_index"][slice(*_bounds(row))])
        assert {number} == set(of_frames["episode_index"][slice(*_bounds(row))])
    assert rows[1]["tasks"] == ["Open fridge. Household task: put the green_can on the brown_table to the fridge"]


def _bounds(row: dict[str, int]) -> tuple[int, int]:
    return row["dataset_from_index"], row["dataset_to_index"]


def test_what_a_frame_holds(out: Path) -> None:
    found = frames(out)
    count = 2 * sum(FRAMES)
    assert found["index"] == list(range(count))
    per_episode = [*range(FRAMES[0]), *range(FRAMES[1])] * 2
    assert found["frame_index"] == per_episode
    np.testing.assert_allclose(found["timestamp"], np.array(per_episode) / 5, atol=1e-6)
    # The base stands at x = time, and joints are told of every tenth of a second.
    times = [*np.arange(6) / 5, *(1 + np.arange(8) / 5)] * 2
    x = STATE_NAMES.index("base_x")
    np.testing.assert_allclose(np.array(found["observation.state"])[:, x], times, atol=1e-6)
    # The action is the state a fifth of a second later, at the end of the subtask (1 s, 2.5 s) the last one.
    later = [*np.arange(1, 6) / 5, 1.0, *(1 + np.arange(1, 8) / 5), 2.5] * 2
    np.testing.assert_allclose(np.array(found["action"])[:, x], later, atol=1e-6)
    ends = [5, 13, 19, 27]
    assert [index for index, done in enumerate(found["next.done"]) if done] == ends
    # The train episode, whose second subtask failed, comes first.
    assert [index for index, success in enumerate(found["next.success"]) if success] == [5, 19, 27]


def test_videos_have_a_picture_for_each_row(out: Path) -> None:
    for number in range(4):
        path = out / info(out)["video_path"].format(video_key=HEAD, chunk_index=0, file_index=number)
        with av.open(str(path)) as container:
            pictures = list(container.decode(video=0))
        levels = [frame.to_ndarray(format="rgb24").mean() for frame in pictures]
        first = 0 if number % 2 == 0 else 5
        np.testing.assert_allclose(levels, [level_at(first + tick) for tick in range(FRAMES[number % 2])], atol=4)
        assert all(frame.time == pytest.approx(tick / 5) for tick, frame in enumerate(pictures))
        assert sum(frame.key_frame for frame in pictures) >= len(pictures) / 2


def test_statistics_are_those_of_all_frames(out: Path) -> None:
    stats, found = json.loads((out / "meta" / "stats.json").read_text()), frames(out)
    assert set(stats) == set(info(out)["features"])
    for name in set(stats) - {HEAD}:
        values = np.array(found[name], dtype=float).reshape(len(found[name]), -1)
        assert stats[name]["count"] == [len(values)]
        for which, function in (("min", np.min), ("max", np.max), ("mean", np.mean), ("std", np.std)):
            np.testing.assert_allclose(stats[name][which], function(values, axis=0), atol=1e-6)
    levels = [level_at(tick) / 255 for tick in [*range(6), *range(5, 13)]]
    np.testing.assert_allclose(np.ravel(stats[HEAD]["mean"]), np.mean(levels), atol=1e-6)
    np.testing.assert_allclose(np.ravel(stats[HEAD]["std"]), np.std(levels), atol=1e-6)


def test_where_each_episode_comes_from(out: Path) -> None:
    sources = json.loads((out / "meta" / "sources.json").read_text())
    assert [(each["episode_id"], each["step"], each["success"]) for each in sources] == [
        ("e2", 1, True),
        ("e2", 2, False),
        ("e1", 1, True),
        ("e1", 3, True),
    ]
    assert sources[1]["subtask"] == "[Open, refrigerator]" and sources[1]["error_code"] == "E1"


def test_the_sentence_uses_canonical_names() -> None:
    sentence = task_sentence(Subtask("put", "the green can", "refrigerator"), "Tidy  up\n now")
    assert sentence == "Put potted_meat_can to fridge. Household task: Tidy up now"


def test_what_lacks_something_is_left_out_with_the_reason(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is missing: make extra-lerobot")
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, "whole")
        write_moving_episode(bag, "blind", cameras=[THIRD_PERSON])
        write_moving_episode(bag, "numb", joints=[*JOINTS, FINGERS[0]])
        write_moving_episode(bag, "instant", moving_steps(seconds=(0, 0, 0, 0)))
        write_moving_episode(bag, "wide", size=(96, 48))
    done = export(tmp_path)
    assert (done.episodes, done.records) == (1, 2)
    assert done.left_out == (
        f"blind is left out: its bag holds no two pictures on {HEAD_CAMERA}",
        "numb is left out: /joint_states does not tell of r_gripper_finger_joint",
        "instant is left out: none of its subtasks took simulation time",
        "wide is left out: its pictures are 96x48, those of the others 64x48",
    )


def test_a_subtask_in_which_the_camera_was_interrupted_is_left_out(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is missing: make extra-lerobot")
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, "e1", seen_until=1.2)
        write_moving_episode(bag, "e2", seen_until=0.2, steps=moving_steps(seconds=(0.0, 0.0, 2.5, 0.0)))
    done = export(tmp_path)
    assert (done.episodes, done.records) == (1, 1)
    reason = "its pictures, joint states or odometry were interrupted in every subtask"
    part = "e1: pictures, joint states or odometry were interrupted in step 3, left out"
    assert done.left_out == (part, f"e2 is left out: {reason}")
    (row,) = parquet(done.path / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert row["length"] == FRAMES[0]


def test_nothing_left_or_no_parquet_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, cameras=[])
    with pytest.raises(ExportError, match="there is nothing to export: e1 is left out: its bag holds no two pictures"):
        export(tmp_path)
    with BagFixture(tmp_path / "seen" / "bag") as bag:
        write_moving_episode(bag)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError, match="pyarrow is not installed; install it with: make extra-lerobot"):
        export(tmp_path / "seen")
    assert sorted(path.name for path in tmp_path.rglob("*") if "out" in path.name) == []
