"""Task files: those that are shipped, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from homie_core.key_path import task_progress
from homie_eval.emmoe.plans import PlannedStep, load_plan
from homie_eval.emmoe.tasks import Task, TaskError, from_json, load_task, shipped_tasks
from support.trajectories import steps_of

TASKS = [load_task(id) for id in shipped_tasks()]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)


def write(folder: Path, **fields: object) -> Path:
    content: dict[str, object] = {
        "id": "7_mine",
        "instruction": "pick the mug",
        "scene": "house_1",
        "key_paths": [["[Pick, mug]", "[End]"]],
        "attributes": ["short_horizon"],
        "expert_length": 3,
        **fields,
    }
    path = folder / "7_mine.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in content.items() if value is not None}))
    return path


@each_task
def test_a_task_is_found_by_number_id_and_path(task: Task) -> None:
    assert load_task(str(task.number)) == load_task(task.id) == load_task(shipped_tasks()[task.id]) == task


@each_task
def test_a_task_survives_json(task: Task) -> None:
    assert from_json(task.to_json()) == task
    assert from_json(task.to_json()).paths == task.paths


def test_case_1_as_printed_is_a_plan_for_task_100() -> None:
    plan = [step for step in load_plan("case_1") if isinstance(step, PlannedStep)]
    assert len(plan) == 15
    assert [step.subtask.brackets() for step in plan[3:5]] == ["[Put, green_can, fridge]", "[Open, fridge]"]
    run = " ".join(
        f"({index}) {step.subtask.brackets()}({'fail' if index in (4, 5) else 'success'})"
        for index, step in enumerate(plan, start=1)
    )
    assert task_progress(load_task("100").paths, steps_of(run)).success


def test_placements_travel_as_json() -> None:
    assert json.loads(load_task("84").placements_json) == [{"object": "tuna_fish_can_1", "on": "kitchen_counter"}]
    assert load_task("33").placements_json == ""


def test_a_placement_may_name_its_spot(tmp_path: Path) -> None:
    placement = {"object": "mug_1", "on": "fridge", "region": "shelf_1", "at": [0.1, -0.2], "yaw_degrees": 45.0}
    assert json.loads(load_task(write(tmp_path, placements=[placement])).placements_json) == [placement]


def test_all_that_may_be_otherwise_at_the_start(tmp_path: Path) -> None:
    entries = [
        {"object": "mug_1", "on": "sofa"},
        {"container": "fridge", "open": True},
        {"appliance": "oven", "running": False},
        {"robot": {"x": 1.5, "y": 2.0, "yaw_degrees": 90.0}},
    ]
    task = load_task(write(tmp_path, placements=entries, split="test"))
    assert json.loads(task.placements_json) == entries
    assert from_json(task.to_json()) == task
    assert task.split == "test" and load_task(write(tmp_path)).split is None


def test_an_own_task(tmp_path: Path) -> None:
    task = load_task(write(tmp_path))
    assert task.conditions == ()
    assert len(task.paths) == 1


@pytest.mark.parametrize("reference", ["700", "", "../100", "100_", "green can", "100.json"])
def test_an_unknown_task_names_those_that_exist(reference: str) -> None:
    with pytest.raises(
        TaskError, match=r"unknown task .*; there are: 1_frozen_meat_can_to_counter, .*100_green_can_to_fridge"
    ):
        load_task(reference)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": "mug"}, "id: must be a number and words joined by underscores"),
        ({"id": "8_mine"}, "id is '8_mine', but the file is called '7_mine'"),
        ({"instruction": ""}, "instruction: String should have at least 1 character, given ''"),
        ({"scene": None}, "scene: Field required"),
        ({"key_paths": []}, "key_paths: key paths must be a list with at least one key path, given []"),
        ({"key_paths": [["[Pick, mug]"]]}, "every key path must have one [End], as its last node, unlike: [Pick, mug]"),
        ({"key_paths": [["[End]", "[End]"]]}, "every key path must have one [End]"),
        ({"key_paths": [["[Take, mug]", "[End]"]]}, "key_paths: key path 1, item 1: 'Take' is none of"),
        ({"goal": [{"object": "mug"}]}, "goal: goal condition 1 has the fields object; allowed are"),
        ({"attributes": ["easy"]}, "attributes.0: Input should be 'short_horizon', 'long_horizon'"),
        ({"expert_length": 0}, "expert_length: Input should be greater than or equal to 1"),
        ({"placements": [{"object": "mug_1"}]}, "placements.0.on: Field required"),
        ({"placements": [{"on": "sofa"}]}, "placements.0: must be a mapping with exactly one of object, container, "),
        ({"placements": [{"object": "mug_1", "robot": {}}]}, "placements.0: must be a mapping with exactly one of"),
        (
            {"placements": [{"container": "fridge", "open": "wide"}]},
            "placements.0.open: Input should be a valid boo",
        ),
        ({"placements": [{"robot": {"x": 1}}]}, "placements.0.robot.y: Field required"),
        ({"split": "exam"}, "split: Input should be 'train' or 'test'"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted, given 'red'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    path = write(tmp_path, **fields)
    with pytest.raises(TaskError) as raised:
        load_task(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: [", "7_mine.yaml line 1: "),
        ("- a", "must be a mapping, not list"),
        ("", "must be a mapping, not NoneType"),
        ("\x00", "unacceptable character"),
    ],
)
def test_a_file_that_is_no_task(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "7_mine.yaml"
    path.write_text(content)
    with pytest.raises(TaskError) as raised:
        load_task(path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"cannot read .*7_mine\.yaml"):
        load_task(tmp_path / "7_mine.yaml")


def test_json_that_is_no_task() -> None:
    for text in ("{", "[]", "{}"):
        with pytest.raises(TaskError):
            from_json(text)
