"""The replay backend: plan files, and where they are wrong."""

import json
from pathlib import Path

import pytest

from homie_core.episode import Step
from homie_core.subtask import Subtask
from homie_planner.backend import Deadline, PlannerError, PlanRequest
from homie_planner.backends.replay import Options, Replay, make
from homie_planner.parsing import parse
from support.bags import BagFixture
from support.trajectories import info


def load(reference: str) -> Replay:
    return make(reference, Options())


def request(step: int) -> PlanRequest:
    return PlanRequest(task="", system="", prompt="", step=step)


def write(folder: Path, data: object) -> Path:
    path = folder / "plan.json"
    path.write_text(json.dumps(data))
    return path


def test_objects_and_raw_outputs_are_replayed_step_by_step(tmp_path: Path) -> None:
    raw = "Analysis: b\nSubtask: [Pick, mug]\nModel: RT-1-X"
    path = write(tmp_path, [{"analysis": "a", "subtask": "[Go to, mug]", "model": "PixNav"}, raw])
    backend = load(str(path))
    first = parse(backend.plan(request(1), Deadline.after(1)).text)
    assert (first.subtask, first.analysis) == (Subtask("Go to", "mug", model="PixNav"), "a")
    assert backend.plan(request(2), Deadline.after(1)).text == raw


def test_an_exhausted_recording_is_a_planner_failure(tmp_path: Path) -> None:
    backend = load(str(write(tmp_path, ["Subtask: [Go to, mug]"])))
    with pytest.raises(PlannerError, match="the recording has 1 steps and does not end the episode"):
        backend.plan(request(2), Deadline.after(1))


def write_bag(folder: Path, *episodes: str) -> Path:
    raw = Step(1, Subtask("Go to", "mug"), True, raw_output="Analysis: a\nSubtask: [Go to, mug]\nModel: PixNav")
    bare = Step(2, Subtask("Put", "mug", "sofa", "RT-1-X"), True, analysis="b")
    with BagFixture(folder / "bag") as bag:
        for episode in episodes:
            bag.info(info(episode))
            for step in (raw, bare):
                bag.step(episode, step)
    return folder / "bag"


def test_a_recorded_episode_is_replayed(tmp_path: Path) -> None:
    backend = load(str(write_bag(tmp_path, "e1")))
    assert backend.plan(request(1), Deadline.after(1)).text == "Analysis: a\nSubtask: [Go to, mug]\nModel: PixNav"
    second = parse(backend.plan(request(2), Deadline.after(1)).text)
    assert (second.subtask, second.analysis) == (Subtask("Put", "mug", "sofa", "RT-1-X"), "b")


def test_a_bag_of_several_episodes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlannerError, match="holds 2 episodes, wanted is one"):
        load(str(write_bag(tmp_path, "e1", "e2")))


def test_what_is_no_bag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlannerError, match="replay: "):
        load(str(tmp_path))


def test_a_shipped_plan_has_a_name() -> None:
    assert parse(load("case_1").plan(request(1), Deadline.after(1)).text).subtask.target == "green_can"


def test_what_is_no_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlannerError, match=r"replay: .*plan\.json: must be a list"):
        load(str(write(tmp_path, {})))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PlannerError, match="cannot read plan"):
        load(str(tmp_path / "nothing.json"))
