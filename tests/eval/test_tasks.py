"""Task files: those that are shipped, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from homie_core import names, yaml_file
from homie_core.key_path import task_progress
from homie_eval.emmoe.plans import PlannedStep, load_plan
from homie_eval.emmoe.tasks import Task, TaskError, from_json, load_task, shipped_tasks
from support.trajectories import steps_of

HOUSES = Path(__file__).parents[2] / "sim_bridges" / "homie_sim" / "houses"
PAPERS_LIST = {
    33: "find an apple and put it on the sofa",
    39: "take a yellow box and put it into the fridge.",
    57: "find a gelation_box and put it in the drawer",
    84: "check if there are anything in the kitchen drawer, if it's empty put a short can into it",
    94: "put all items on the sofa to the tvstand",
    99: "put the bowl on the brown table into the kitchen sink and put the suger_box on the tvstand to the sofa",
    100: "put the green_can on the brown_table to the fridge",
}
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


def test_the_shipped_tasks_have_the_papers_numbers_and_instructions() -> None:
    assert {task.number: task.instruction for task in TASKS} == PAPERS_LIST


@each_task
def test_a_task_is_found_by_number_id_and_path(task: Task) -> None:
    assert load_task(str(task.number)) == load_task(task.id) == load_task(shipped_tasks()[task.id]) == task


@each_task
def test_a_task_survives_json(task: Task) -> None:
    assert from_json(task.to_json()) == task
    assert from_json(task.to_json()).paths == task.paths


@each_task
def test_every_name_of_a_task_is_in_the_table(task: Task) -> None:
    for path in task.paths:
        for node in path:
            assert all(names.parse(text).known for text in (node.target, node.destination) if text), node
    categories = names.known_categories() | {"any"}
    assert {name for condition in task.conditions for name in condition.names()} <= categories


@each_task
def test_a_task_fits_its_house(task: Task) -> None:
    house = yaml_file.load(HOUSES / f"{task.scene}.yaml")
    objects = {entry["object"] for entry in house["objects"]}
    furniture = {entry["id"] for entry in house["furniture"]}
    assert {placement.object for placement in task.placements} <= objects
    assert {placement.on.split("/")[0] for placement in task.placements} <= furniture
    present = {object.rsplit("_", 1)[0] for object in objects} | furniture | {"drawer", "kitchen", "living_room"}
    for path in task.paths:
        used = {names.canonical(text, present) for node in path for text in (node.target, node.destination) if text}
        assert used <= present


@each_task
def test_the_expert_needs_at_least_the_shortest_key_path(task: Task) -> None:
    assert min(len(path) for path in task.paths) <= task.expert_length <= 20


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
    placement = {"object": "mug_1", "on": "fridge", "region": "shelf_1", "at": [0.1, -0.2]}
    assert json.loads(load_task(write(tmp_path, placements=[placement])).placements_json) == [placement]


@pytest.mark.parametrize(
    ("number", "object", "on"),
    [
        ("94", "lemon", "sofa"),
        ("94", "sponge", "sofa"),
        ("99", "bowl", "brown_table"),
        ("99", "sugar_box", "tv_stand"),
        ("100", "potted_meat_can", "brown_table"),
    ],
)
def test_things_are_where_the_instruction_says(number: str, object: str, on: str) -> None:
    task = load_task(number)
    house = yaml_file.load(HOUSES / f"{task.scene}.yaml")
    where = {entry["object"]: entry["on"] for entry in house["objects"]}
    where |= {placement.object: placement.on for placement in task.placements}
    assert [receptacle for id, receptacle in where.items() if id.rsplit("_", 1)[0] == object] == [on]


def test_an_own_task(tmp_path: Path) -> None:
    task = load_task(write(tmp_path))
    assert task.conditions == ()
    assert len(task.paths) == 1


@pytest.mark.parametrize("reference", ["7", "", "../100", "100_", "green can", "100.json"])
def test_an_unknown_task_names_those_that_exist(reference: str) -> None:
    with pytest.raises(TaskError, match=r"unknown task .*; there are: 33_apple_to_sofa, .*100_green_can_to_fridge"):
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
