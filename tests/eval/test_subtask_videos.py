"""Videos of subtasks: cut where the subtask began and ended, under names that are safe."""

import json
import re
from dataclasses import replace
from pathlib import Path

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.subtask import Subtask
from homie_eval.emmoe.data.export import ExportError
from homie_eval.emmoe.data.sources import read_source
from homie_eval.emmoe.data.subtask_videos import export_subtask_videos, safe_name
from homie_eval.video import HEAD_CAMERA, THIRD_PERSON
from support.bags import BagFixture
from support.moving_bag import level_at, moving_steps, write_moving_episode


def levels(path: Path) -> list[int]:
    with av.open(str(path)) as container:
        return [round(float(frame.to_ndarray(format="rgb24").mean())) for frame in container.decode(video=0)]


def near(found: list[int], expected: list[int]) -> bool:
    return len(found) == len(expected) and all(abs(a - b) <= 4 for a, b in zip(found, expected, strict=True))


def test_each_subtask_is_cut_out_by_simulation_time(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag)
    done = export_subtask_videos(read_source(tmp_path / "bag").episodes, tmp_path / "out", rate=5)
    assert (done.episodes, done.records, done.left_out) == (1, 4, ())
    folder = tmp_path / "out" / "1_e1"
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.mp4"))
    assert files == [
        f"{subtask}/video_{camera}.mp4"
        for subtask in ("1_go_to_fridge", "3_open_fridge")
        for camera in ("head", "third")
    ]
    for camera in ("head", "third"):
        # A picture each 0.2 s: from 0 to 1 s the first six, from 1 to 2.5 s those of 1.0, 1.2, … 2.4 s.
        first, second = (levels(folder / name / f"video_{camera}.mp4") for name in ("1_go_to_fridge", "3_open_fridge"))
        assert near(first, [level_at(tick) for tick in range(6)])
        assert near(second, [level_at(tick) for tick in range(5, 13)])


def test_the_index_tells_of_every_step(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag", "/robot_1") as bag:
        write_moving_episode(bag, cameras=[THIRD_PERSON])
    export_subtask_videos(read_source(tmp_path / "bag").episodes, tmp_path / "out", rate=10)
    index = json.loads((tmp_path / "out" / "1_e1" / "subtasks.json").read_text())
    assert index["frames_per_second"] == 10 and index["episode_id"] == "e1"
    steps = index["subtasks"]
    assert [step["index"] for step in steps] == [1, 2, 3, 4]
    assert [step["subtask"] for step in steps[1:]] == ["[Open, fridge]", "[Open, fridge]", "[End]"]
    assert [(step["start"], step["end"]) for step in steps] == [(0.0, 1.0), (None, None), (1.0, 2.5), (None, None)]
    assert [step["success"] for step in steps] == [True, False, True, True]
    assert steps[1]["error_code"] == "E1" and "too difficult" in steps[1]["feedback"]
    assert steps[2]["frames"] == {"3_open_fridge/video_third.mp4": 16} and not steps[1]["frames"]


def test_a_models_words_are_no_path(tmp_path: Path) -> None:
    go, *rest = moving_steps()
    evil = replace(go, subtask=Subtask("Go to", "../../../etc/passwd\x00; rm -rf"))
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, "../e/1", [evil, *rest], [HEAD_CAMERA])
    export_subtask_videos(read_source(tmp_path / "bag").episodes, tmp_path / "out")
    made = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.mp4")]
    assert sorted(made) == [
        "out/1_e_1/1_go_to_etc_passwd_rm_rf/video_head.mp4",
        "out/1_e_1/3_open_fridge/video_head.mp4",
    ]


@given(st.text())
def test_safe_names_are_safe(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9_]{0,60}", safe_name(text))


def test_what_has_nothing_to_show_is_left_out_with_the_reason(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, "moved")
        write_moving_episode(bag, "instant", moving_steps(seconds=(0, 0, 0, 0)))
        write_moving_episode(bag, "blind", cameras=[])
    done = export_subtask_videos(read_source(tmp_path / "bag").episodes, tmp_path / "out")
    assert (done.episodes, done.records) == (1, 4)
    assert done.left_out == (
        "instant is left out: none of its subtasks took simulation time",
        "blind is left out: its bag holds no whole subtask in readable pictures",
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1_moved"]


def test_no_video_shows_a_camera_that_was_interrupted(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, seen_until=1.2)
    done = export_subtask_videos(read_source(tmp_path / "bag").episodes, tmp_path / "out")
    assert (done.episodes, done.records) == (1, 2)
    assert {path.parent.name for path in tmp_path.rglob("*.mp4")} == {"1_go_to_fridge"}


def test_nothing_to_show_at_all_is_one_line(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, "e1", cameras=[])
        write_moving_episode(bag, "e2", cameras=[])
    with pytest.raises(ExportError, match=r"^there is nothing to export: e1 is left out: .* \(and 1 more\)$"):
        export_subtask_videos(read_source(tmp_path / "bag").episodes, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]
