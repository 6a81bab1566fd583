"""The folder format of EMMOE-100: read, written, and the score that survives both."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from homie_core.world_state import Kind, ObjectState, WorldState
from homie_eval.emmoe.data.emmoe100 import (
    VIEWS,
    Emmoe100Error,
    WrittenSample,
    read_emmoe100,
    read_sample,
    write_emmoe100,
)
from homie_eval.emmoe.metrics import score_episode
from homie_eval.emmoe.tasks import load_task
from support.demonstrations import CLEAN_SOFA
from support.finished_run import trajectory_of
from support.run_plans import plan

KEY_PATHS = [["[Pick, cracker_box]", "[Put, cracker_box, kitchen_counter]", "[End]"]]


def write_original(folder: Path, number: str, split: str = "train", **files: str) -> Path:
    path = folder / "data" / split / number
    path.mkdir(parents=True)
    texts = {"info": CLEAN_SOFA, "keypath": json.dumps(KEY_PATHS), "scene": json.dumps({"episodes": [{}]}), **files}
    for name, text in texts.items():
        (path / (f"{name}.txt" if name == "info" else f"{name}.json")).write_text(text, encoding="utf-8")
    return path


def test_a_sample_of_the_original(tmp_path: Path) -> None:
    sample = read_sample(write_original(tmp_path, "21"), "train")
    assert (sample.id, sample.split, sample.demonstration.length) == ("21", "train", 6)
    assert sample.task is None and sample.final_state is None
    score = score_episode(sample.trajectory(), sample.scored_task())
    assert score.success
    assert score.path_weight.number == 1.0
    assert score.replans == 1
    assert sample.scored_task().attributes == ("short_horizon",)


def test_samples_come_in_the_order_of_their_numbers_and_wrong_ones_are_listed(tmp_path: Path) -> None:
    for number in ("10", "9"):
        write_original(tmp_path, number)
    write_original(tmp_path, "91", split="test")
    write_original(tmp_path, "3", keypath="[")
    write_original(tmp_path, "4", info="nothing")
    found = read_emmoe100(tmp_path)
    assert [(sample.split, sample.id) for sample in found.samples] == [("train", "9"), ("train", "10"), ("test", "91")]
    assert len(found.problems) == 2
    assert "3/keypath.json is not JSON" in found.problems[0]
    assert "4/info.txt: the first line must be" in found.problems[1]
    with pytest.raises(Emmoe100Error, match="holds no folder data/train"):
        read_emmoe100(tmp_path / "elsewhere")


def world() -> WorldState:
    can = ObjectState("potted_meat_can_1", "potted_meat_can", Kind.OBJECT, (0.1, 0.2, 0.3), parent="fridge")
    fridge = ObjectState("fridge", "fridge", Kind.CONTAINER, (1.0, 0.0, 0.0), open_fraction=1.0)
    return WorldState("house_1", 5, (can, fridge), (0.0, 0.0, 0.0))


def test_a_written_sample_scores_the_same(tmp_path: Path) -> None:
    task = load_task("100")
    episode = next(each for each in plan().episodes if each.task == task.id)
    steps = (
        "(1) [Pick, green_can](fail)\n(2) [Pick, green_can](success)\n(3) [Open, fridge](success)\n"
        "(4) [Put, green_can, fridge](success)\n(5) [End]"
    )
    trajectory = replace(trajectory_of(episode, steps), final_state=world())
    picture = np.full((256, 256, 3), 7, np.uint8)
    pictures = [{view: picture + index for index, view in enumerate(VIEWS)}] * 5
    (path,) = write_emmoe100([WrittenSample(trajectory, task, pictures)], tmp_path)
    assert path == tmp_path / "data" / "train" / "1"
    assert sorted(file.name for file in path.glob("subtask3_*")) == [f"subtask3_{view}.png" for view in sorted(VIEWS)]
    (sample,) = read_emmoe100(tmp_path).samples
    before, after = score_episode(trajectory, task), score_episode(sample.trajectory(), sample.scored_task())
    assert {name: value.number for name, value in before.values.items() if value.defined} == {
        name: value.number for name, value in after.values.items() if value.defined
    }
    assert before.errors == after.errors
    assert after.goal is not None and after.goal.share == 1.0
    assert set(sample.images[4]) == set(VIEWS)
    with pytest.raises(Emmoe100Error, match="exists already"):
        write_emmoe100([WrittenSample(trajectory, task)], tmp_path)


def test_key_paths_are_written_one_by_one(tmp_path: Path) -> None:
    task = load_task("84")
    episode = next(each for each in plan().episodes if each.task == task.id)
    (path,) = write_emmoe100([WrittenSample(trajectory_of(episode, "(1) [End]"), task)], tmp_path)
    written = json.loads((path / "keypath.json").read_text())
    assert len(written) == 4  # the four of the paper's appendix C.1
    assert all(nodes[-1] == "[End]" for nodes in written)
