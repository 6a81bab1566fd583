"""The suite as a whole: the paper's texts, the parts, the attributes; and that wrong ways do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core import names
from homie_core.episode import Step
from homie_core.key_path import KeyPath, task_progress
from homie_core.subtask import Subtask
from homie_eval.emmoe.suite import faults, load_suite
from homie_eval.emmoe.tasks import LONG_HORIZON, Task

PAPERS_LIST = (Path(__file__).parent / "appendix_b3.txt").read_text().splitlines()
SUITE = load_suite()
each_task = pytest.mark.parametrize("task", SUITE.tasks, ids=lambda task: task.id)
any_task = st.sampled_from(SUITE.tasks)


def score(task: Task, nodes: Sequence[Subtask]) -> float:
    """TP of a trajectory in which these subtasks succeed, by their words."""
    steps = [Step(index, node, True) for index, node in enumerate(nodes, start=1)]
    return task_progress(task.paths, steps).value


def least(task: Task) -> list[KeyPath]:
    """The key paths of which nothing can be left out: those with no optional node."""

    def part_of(shorter: KeyPath, longer: KeyPath) -> bool:
        rest = iter(longer)
        return shorter != longer and all(node in rest for node in shorter)

    shortest = sorted(task.paths, key=len)
    found: list[KeyPath] = []
    for path in shortest:
        if not any(part_of(other, path) for other in found):
            found.append(path)
    return found


def test_the_instructions_are_the_papers_in_its_order() -> None:
    assert [task.instruction for task in SUITE.tasks] == PAPERS_LIST
    assert [task.number for task in SUITE.tasks] == list(range(1, 101))


def test_the_parts() -> None:
    assert len(SUITE.split("train")) == 90 and len(SUITE.split("test")) == 10
    assert {task.scene for task in SUITE.split("test")} == {f"house_{number}" for number in range(1, 6)}


def test_every_house_has_its_share() -> None:
    count = Counter(task.scene for task in SUITE.tasks)
    assert len(count) == 5 and min(count.values()) >= 12


@pytest.mark.parametrize("attribute", ["short_horizon", "long_horizon", "open_ended", "logical", "human_style"])
def test_the_parts_are_alike(attribute: str) -> None:
    train, test = (
        sum(attribute in task.attributes for task in part) / len(part)
        for part in (SUITE.split("train"), SUITE.split("test"))
    )
    assert test > 0 and abs(train - test) < 0.1


@each_task
def test_the_horizon_is_that_of_the_definition(task: Task) -> None:
    assert ("long_horizon" in task.attributes) == (task.expert_length >= LONG_HORIZON)


@each_task
def test_every_name_is_in_the_table(task: Task) -> None:
    for node in {node for path in task.paths for node in path}:
        assert all(names.parse(text).known for text in (node.target, node.destination) if text), node


@each_task
def test_every_task_has_a_goal(task: Task) -> None:
    assert task.conditions


@each_task
def test_the_expert_needs_at_least_the_shortest_key_path(task: Task) -> None:
    assert min(len(path) for path in task.paths) <= task.expert_length <= 20


@given(any_task, st.data())
def test_a_key_path_is_a_success_and_with_anything_between_it_too(task: Task, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(task.paths))
    assert score(task, path) == 1
    wandering = [node for each in path for node in (Subtask("Go to", "tv"), each)]
    assert score(task, wandering) == 1


@given(any_task, st.data())
def test_without_one_required_subtask_it_is_no_success(task: Task, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(least(task)))
    left_out = data.draw(st.integers(0, len(path) - 1))
    assert score(task, path[:left_out] + path[left_out + 1 :]) < 1


@given(any_task, st.data())
def test_a_put_that_comes_before_its_pick_does_not_count(task: Task, data: st.DataObject) -> None:
    path = list(data.draw(st.sampled_from(least(task))))
    pairs = [
        index
        for index, (first, second) in enumerate(pairwise(path))
        if first.action == "Pick" and second.action == "Put" and first.target == second.target
    ]
    if not pairs:
        return
    index = data.draw(st.sampled_from(pairs))
    path[index], path[index + 1] = path[index + 1], path[index]
    assert score(task, path) < 1


@given(any_task)
def test_end_must_come_last(task: Task) -> None:
    path = task.paths[0]
    assert score(task, (path[-1], *path[:-1])) < 1


CHECKED_FIRST = {
    12: "[Open, fridge]",
    51: "[Open, fridge]",
    64: "[Open, fridge]",
    65: "[Open, fridge]",
    84: "[Open, kitchen_drawer]",
    87: "[Open, fridge]",
}


@pytest.mark.parametrize(("number", "check"), CHECKED_FIRST.items())
def test_acting_before_the_check_does_not_count(number: int, check: str) -> None:
    task = SUITE.tasks[number - 1]
    for path in least(task):
        assert path[0].brackets() == check
        assert score(task, [*path[1:-1], path[0], path[-1]]) < 1


@pytest.mark.parametrize("number", [19, 29, 55, 60, 81])
def test_to_refrigerate_is_to_close_the_fridge_at_last(number: int) -> None:
    task = SUITE.tasks[number - 1]
    for path in least(task):
        put = max(index for index, node in enumerate(path) if node.action == "Put")
        (close,) = (index for index, node in enumerate(path) if node.action == "Close")
        assert close > put
        closed_first = [*path[:put], path[close], *path[put:close], *path[close + 1 :]]
        assert score(task, closed_first) < 1


def test_any_order_of_things_that_do_not_depend_on_each_other() -> None:
    task = SUITE.tasks[19]
    *closes, end = least(task)[0]
    assert [node.action for node in closes] == ["Close"] * 4
    assert all(score(task, [*order, end]) == 1 for order in permutations(closes))


def test_what_keeps_tasks_from_being_the_suite() -> None:
    tasks = list(SUITE.tasks)
    assert faults(tasks) == []
    assert faults(tasks[1:]) == ["no task has the number 1", "the split train has 89 tasks; it must have 90"]
    assert faults([*tasks, tasks[0]])[0] == "more than one task has the number 1"
    wrong = tasks[0].model_copy(update={"attributes": ("long_horizon",)})
    assert faults([wrong, *tasks[1:]]) == [
        "task 1_frozen_meat_can_to_counter: attributes: long_horizon; "
        "with an expert_length of 6 it must be short_horizon"
    ]
    missing = tasks[1].model_copy(update={"attributes": ("logical",)})
    (fault,) = faults([tasks[0], missing, *tasks[2:]])
    assert fault.endswith("attributes: no horizon; with an expert_length of 15 it must be long_horizon")
