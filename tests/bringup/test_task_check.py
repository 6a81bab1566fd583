"""Every shipped task fits its house, and what does not is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from homie_bringup.task_check import check_task, faults
from homie_core import goals, names
from homie_core.episode import Step
from homie_core.key_path import task_progress
from homie_core.subtask import Subtask
from homie_core.symbolic import Act, SymbolicScene, from_world
from homie_core.world_state import WorldState
from homie_eval.emmoe.suite import load_suite
from homie_eval.emmoe.tasks import Task, TaskError, load_task
from homie_planner.backends.expert import find_plan
from support.suite_episodes import house_world, initial_state

SUITE = load_suite().tasks


each_task = pytest.mark.parametrize("task", SUITE, ids=lambda task: task.id)


@each_task
def test_a_shipped_task_fits_its_house(task: Task) -> None:
    check_task(task, house_world(task.scene))


@each_task
def test_carrying_out_a_key_path_is_a_success_and_reaches_the_goal(task: Task) -> None:
    start = initial_state(task)
    for path in {task.paths[0], task.paths[-1]}:
        acts, _ = find_plan(task, start, paths=[path])
        domain, state = from_world(start)
        for act in acts:
            assert domain.check(state, act) is None, act
            state = domain.apply(state, act)
        assert task_progress(task.paths, steps(acts, start), start.categories).success
        assert goals.evaluate(task.conditions, SymbolicScene(domain, state)).share == 1


def steps(acts: Iterable[Act], start: WorldState) -> list[Step]:
    """An episode in which ``acts`` all succeeded."""
    spoken = {"": "", **{thing.id: names.name_of(thing.id, start) for thing in start.objects}}
    return [
        Step(index, Subtask(verb, spoken[target], spoken[place]), True, target_id=target, destination_id=place)
        for index, (verb, target, place) in enumerate(acts, start=1)
    ]


CAN = {
    "id": "7_mine",
    "instruction": "put the green can into the fridge",
    "scene": "house_1",
    "key_paths": [["[Pick, green_can]", "[Put, green_can, fridge]", "[End]"]],
    "goal": [{"object": "potted_meat_can", "in": "fridge"}],
    "attributes": ["short_horizon"],
    "expert_length": 7,
}


def changed(fields: Mapping[str, object]) -> Task:
    return Task.model_validate({**CAN, **fields})


def test_an_own_task_that_fits() -> None:
    check_task(changed({}))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"key_paths": [["[Pick, pear]", "[End]"]]}, "key_paths: [Pick, pear]: no pear in house_1"),
        ({"key_paths": [["[Open, drawer_9]", "[End]"]]}, "key_paths: [Open, drawer_9]: no drawer number 9 in house_1"),
        ({"key_paths": [["[Go to, moon]", "[End]"]]}, "key_paths: [Go to, moon]: no thing is called 'moon'"),
        (
            {"key_paths": [["[Put, green_can, microwave]", "[End]"]]},
            "key_paths: [Put, green_can, microwave]: no microwave in house_1",
        ),
        (
            {"goal": [{"object": "green_can", "in": "fridge"}]},
            "goal: at least 1 green_can in fridge: 'green_can' is neither an id nor a category in house_1",
        ),
        ({"goal": [{"at": "attic"}]}, "goal: robot at attic: 'attic' is neither an id nor a category in house_1"),
        (
            {"goal": [{"object": "potted_meat_can", "in": "brown_table"}, {"closed": "fridge"}]},
            "goal: at least 1 potted_meat_can in brown_table; fridge closed: it holds already at the start",
        ),
        (
            {"key_paths": [["[Open, sofa]", "[End]"]]},
            "key_paths: [Open, sofa], [End]: cannot be carried out: no plan reaches the goal through a key path",
        ),
        ({"expert_length": 8}, "expert_length: 8; the expert needs 7 steps"),
        ({"scene": "house_9"}, "house: 'house_9' is unknown; allowed: house_1, "),
        (
            {"placements": [{"object": "pear_1", "on": "sofa"}]},
            "placements.0.object: 'pear_1'; allowed: potted_meat_can_1, ",
        ),
        (
            {"placements": [{"object": "cracker_box_1", "on": "kitchen_counter/drawer_1"}]},
            "placements.0 (cracker_box_1).on: 'kitchen_counter/drawer_1' has no room for cracker_box",
        ),
    ],
)
def test_a_task_that_does_not_fit_is_refused_in_one_line(fields: Mapping[str, object], message: str) -> None:
    with pytest.raises(TaskError) as caught:
        check_task(changed(fields))
    assert str(caught.value).startswith(f"task 7_mine: {message}")
    assert "\n" not in str(caught.value)


def test_a_task_that_is_longer_than_an_episode() -> None:
    paths = [["[Go to, sofa]", "[Go to, fridge]"] * 10 + ["[End]"]]
    long = changed({"key_paths": paths, "goal": [], "expert_length": 21})
    assert list(faults(long, initial_state(long))) == ["the expert needs 21 steps; an episode has 20"]


def test_every_fault_is_found() -> None:
    broken = changed({"goal": [{"at": "attic"}], "key_paths": [["[Pick, pear]", "[Put, pear, moon]", "[End]"]]})
    found = list(faults(broken, initial_state(broken)))
    assert [line.partition(":")[0] for line in found] == ["key_paths", "key_paths", "key_paths", "goal"]


def test_one_task_of_the_suite_as_a_check_of_the_check() -> None:
    """Were the can in the fridge at the start, the task would be refused."""
    task = load_task("100")
    start = {"placements": [{"object": "potted_meat_can_1", "on": "fridge"}]}
    with pytest.raises(TaskError, match="holds already at the start"):
        check_task(Task.model_validate({**task.model_dump(), **start}), house_world("house_1"))
