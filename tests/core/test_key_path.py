"""Key paths and task progress: the paper's example, the original's quirks that are gone, and the groups."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.episode import Step
from homie_core.key_path import KeyPath, KeyPathError, expand, load_json, task_progress
from homie_core.subtask import Subtask, parse_brackets
from support.trajectories import APPENDIX_C_1, steps_of

PAPER_PATHS = """[
 ["[Open, kitchen_drawer]", "[Put, short_can, kitchen_drawer]", "[End]"],
 ["[Open, kitchen_drawer]", "[Put, short_can, kitchen_drawer]", "[Close, drawer]", "[End]"],
 ["[Go to, drawer]", "[Open, kitchen_drawer]", "[Put, short_can, kitchen_drawer]", "[End]"],
 ["[Go to, drawer]", "[Open, kitchen_drawer]", "[Put, short_can, kitchen_drawer]", "[Close, drawer]", "[End]"]]"""


def texts(paths: tuple[KeyPath, ...]) -> list[str]:
    return [" ".join(node.brackets() for node in path) for path in paths]


def progress(paths: list[list[str]], run: str, things: dict[str, str] | None = None) -> float:
    return task_progress(expand(paths), steps_of(run), things).value


def scene(*categories: str) -> dict[str, str]:
    """A scene with one thing of each category."""
    return {f"{category}_1": category for category in categories}


def test_the_papers_example() -> None:
    paths, steps = load_json(PAPER_PATHS), steps_of(APPENDIX_C_1)
    assert [task_progress([path], steps).value for path in paths] == [1 / 3, 1 / 4, 1 / 2, 2 / 5]
    best = task_progress(paths, steps)
    assert best.value == 0.5
    assert best.steps == (1, 2)
    assert best.explanation() == (
        "[Go to, drawer] matched at step 1",
        "[Open, kitchen_drawer] matched at step 2",
        "[Put, short_can, kitchen_drawer] not matched",
        "[End] not matched",
    )


def test_groups_write_the_papers_four_paths() -> None:
    grouped = expand(
        [
            [
                {"optional": "[Go to, drawer]"},
                "[Open, kitchen_drawer]",
                "[Put, short_can, kitchen_drawer]",
                {"optional": "[Close, drawer]"},
                "[End]",
            ]
        ]
    )
    assert set(grouped) == set(load_json(PAPER_PATHS))


def test_put_in_the_sink_is_not_put_in_the_drawer() -> None:
    node = [["[Put, mug, drawer]", "[End]"]]
    assert progress(node, "(1) [Put, mug, sink](success) (2) [End]") == 0
    assert progress(node, "(1) [Put, mug, kitchen_counter](success) (2) [End]") == 0
    assert progress(node, "(1) [Put, mug, kitchen_drawer](success) (2) [End]") == 1
    assert progress([["[Open, drawer]"]], "(1) [Open, kitchen_counter](success)") == 0


def test_the_kitchen_is_a_counter_to_put_on() -> None:
    assert progress([["[Put, mug, kitchen]", "[End]"]], "(1) [Put, mug, kitchen counter](success) (2) [End]") == 1


def test_a_step_consumes_one_node_and_order_counts() -> None:
    assert progress([["[Pick, mug]", "[Pick, mug]"]], "(1) [Pick, mug](success)") == 0.5
    assert progress([["[Open, fridge]", "[Go to, fridge]"]], "(1) [Go to, fridge] (2) [Open, fridge]") == 0.5


def test_failed_steps_do_not_count() -> None:
    assert progress([["[Pick, mug]", "[End]"]], "(1) [Pick, mug](fail) (2) [End]") == 0


def test_the_word_end_in_a_name_is_no_end() -> None:
    steps = (Step(1, Subtask("Go to", "end table"), True), Step(2, Subtask("Endeavour"), True))
    assert task_progress(expand([["[End]"]]), steps).value == 0
    assert task_progress(expand([["[End]"]]), (Step(1, Subtask(" END "), True),)).value == 1


def test_case_and_spelling_of_steps_and_nodes() -> None:
    steps = (Step(1, Subtask("go_to", "The Green Can"), True), Step(2, Subtask("PICK", "potted meat cans"), True))
    assert task_progress(expand([["[go to, green_can]", "[Pick, Green_Can]"]]), steps).success


def test_names_nobody_knows_never_raise() -> None:
    steps = (Step(1, Subtask("Pick", "stack of papers"), True), Step(2, Subtask("Fly", "moon", "sun"), True))
    assert task_progress(expand([["[Pick, stack_of_papers]", "[End]"]]), steps).value == 0.5


def test_an_ambiguous_name_means_what_the_scene_holds() -> None:
    node = [["[Pick, tomato_soup_can]"]]
    assert progress(node, "(1) [Pick, can](success)") == 0
    assert progress(node, "(1) [Pick, can](success)", scene("tomato_soup_can", "fridge")) == 1
    assert progress(node, "(1) [Pick, can](success)", scene("tomato_soup_can", "potted_meat_can")) == 0


def test_an_ambiguous_name_in_a_put_means_what_is_in_the_hand() -> None:
    both = scene("tomato_soup_can", "potted_meat_can")
    run = "(1) [Pick, soup_can](success) (2) [Put, can, fridge](success)"
    assert progress([["[Put, soup_can, fridge]"]], run, both) == 1
    assert progress([["[Put, green_can, fridge]"]], run, both) == 0


def test_a_number_asks_for_that_instance() -> None:
    assert progress([["[Open, drawer_2]"]], "(1) [Open, drawer_1](success)") == 0
    assert progress([["[Open, drawer_2]"]], "(1) [Open, kitchen drawer 2](success)") == 1
    assert progress([["[Put, apple_2, sink]"]], "(1) [Put, apple_1, sink](success)") == 0
    assert progress([["[Open, drawer]"]], "(1) [Open, drawer_2](success)") == 1
    assert progress([["[Pick, apple]"]], "(1) [Pick, apple_1](success)") == 1


def test_words_that_do_not_tell_the_instance_may_mean_any() -> None:
    assert progress([["[Open, drawer_2]"]], "(1) [Open, drawer](success)") == 1
    assert progress([["[Put, apple_2, drawer_1]"]], "(1) [Put, apple, drawer](success)") == 1


THINGS = {
    "potted_meat_can_1": "potted_meat_can",
    "tomato_soup_can_1": "tomato_soup_can",
    "apple_1": "apple",
    "apple_2": "apple",
    "fridge": "fridge",
    "sink": "sink",
    "kitchen": "kitchen",
    "kitchen_counter": "kitchen_counter",
    "kitchen_counter/drawer_1": "drawer",
    "kitchen_counter/drawer_2": "drawer",
}


def matches(
    node: str, said: str, target_id: str = "", destination_id: str = "", things: dict[str, str] | None = THINGS
) -> bool:
    """Whether a step with these words, carried out on these things, satisfies the node."""
    step = Step(1, parse_brackets(said), True, target_id=target_id, destination_id=destination_id)
    return task_progress(expand([[node]]), [step], things).success


@pytest.mark.parametrize(
    ("node", "said", "target_id", "destination_id", "expected"),
    [
        ("[Pick, soup_can]", "[Pick, can]", "tomato_soup_can_1", "", True),
        ("[Pick, green_can]", "[Pick, can]", "tomato_soup_can_1", "", False),
        ("[Pick, can]", "[Pick, can]", "tomato_soup_can_1", "", True),
        ("[Pick, can]", "[Pick, soup_can]", "tomato_soup_can_1", "", True),
        ("[Pick, can]", "[Pick, can]", "apple_1", "", False),
        ("[Pick, apple_2]", "[Pick, apple]", "apple_2", "", True),
        ("[Pick, apple_2]", "[Pick, apple]", "apple_1", "", False),
        ("[Put, apple, drawer_2]", "[Put, apple, drawer]", "apple_1", "kitchen_counter/drawer_1", False),
        ("[Open, drawer_2]", "[Open, drawer]", "kitchen_counter/drawer_2", "", True),
        ("[Put, can, fridge]", "[Put, it, there]", "potted_meat_can_1", "fridge", True),
        ("[Put, can, fridge]", "[Put, can, fridge]", "potted_meat_can_1", "sink", False),
        ("[Put, can, drawer_1]", "[Put, can, drawer]", "tomato_soup_can_1", "kitchen_counter/drawer_1", True),
        ("[Put, apple, kitchen]", "[Put, apple, kitchen]", "apple_1", "kitchen_counter", True),
        ("[Go to, can]", "[Go to, soup can]", "tomato_soup_can_1", "", True),
        ("[Go to, can]", "[Go to, fridge]", "fridge", "", False),
    ],
)
def test_what_was_handled_counts_not_what_was_said(
    node: str, said: str, target_id: str, destination_id: str, expected: bool
) -> None:
    assert matches(node, said, target_id, destination_id) is expected


@pytest.mark.parametrize("node", ["kitchen", "drawer", "sink", "kitchen_counter"])
@pytest.mark.parametrize("id", ["kitchen", "kitchen_counter", "sink", "kitchen_counter/drawer_1"])
def test_the_kitchen_is_one_place_for_things_too(node: str, id: str) -> None:
    assert matches(f"[Go to, {node}]", "[Go to, somewhere]", id)
    assert not matches(f"[Open, {node}]", "[Open, something]", "fridge")


@pytest.mark.parametrize("things", [None, {}, {"fridge": "fridge"}])
def test_words_count_where_things_are_not_known(things: dict[str, str] | None) -> None:
    assert matches("[Pick, green_can]", "[Pick, can]", "potted_meat_can", things=things)
    assert not matches("[Pick, soup_can]", "[Pick, can]", "tomato_soup_can_1", things=things)
    assert matches("[Put, mug, fridge]", "[Put, mug, fridge]", "mug", "fridge", things)


def test_one_name_that_is_not_known_makes_the_words_count() -> None:
    assert matches("[Put, green_can, sofa]", "[Put, green_can, sofa]", "tomato_soup_can_1", "sofa")


def test_groups() -> None:
    assert texts(expand([[{"any_of": ["[Pick, a]", ["[Pick, b]", "[Pick, c]"]]}, "[End]"]])) == [
        "[Pick, a] [End]",
        "[Pick, b] [Pick, c] [End]",
    ]
    assert texts(expand([[{"all_of": ["[Pick, a]", ["[Pick, b]", "[Pick, c]"]]}, "[End]"]])) == [
        "[Pick, a] [Pick, b] [Pick, c] [End]",
        "[Pick, b] [Pick, c] [Pick, a] [End]",
    ]
    optional = expand([[{"optional": ["[Pick, a]", "[Pick, b]"]}, "[End]"]])
    assert texts(optional) == ["[End]", "[Pick, a] [Pick, b] [End]"]


def test_some_of_is_every_choice_of_that_many_in_every_order() -> None:
    nodes = ["[Pick, a]", ["[Pick, b]", "[Pick, c]"], "[Pick, d]"]
    assert texts(expand([[{"some_of": nodes, "count": 2}, "[End]"]])) == [
        "[Pick, a] [Pick, b] [Pick, c] [End]",
        "[Pick, b] [Pick, c] [Pick, a] [End]",
        "[Pick, a] [Pick, d] [End]",
        "[Pick, d] [Pick, a] [End]",
        "[Pick, b] [Pick, c] [Pick, d] [End]",
        "[Pick, d] [Pick, b] [Pick, c] [End]",
    ]
    assert expand([[{"some_of": nodes, "count": 3}]]) == expand([[{"all_of": nodes}]])
    assert expand([[{"some_of": nodes, "count": 1}]]) == expand([[{"any_of": nodes}]])


def test_equal_alternatives_are_kept_once() -> None:
    assert len(expand([["[Pick, a]"], ["[Pick, a]"], [{"any_of": ["[Pick, a]", "[Pick, a]"]}]])) == 1


def test_too_many_alternatives_are_refused_before_they_are_made() -> None:
    with pytest.raises(KeyPathError, match="expand to 1307674368000 alternatives, at most 5000 are allowed"):
        expand([[{"all_of": [f"[Pick, object {number}]" for number in range(15)]}, "[End]"]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be a list with at least one key path"),
        ("[End]", "must be a list"),
        ([[]], "key path 1 must be a list with at least one node"),
        ([["[End]"], ["Pick mug"]], "key path 2, item 1: not a subtask in brackets: 'Pick mug'"),
        ([["[Put, mug]"]], "key path 1, item 1: Put takes 2 arguments, 1 given"),
        ([["[Fetch, mug]"]], "key path 1, item 1: 'Fetch' is none of Go to, Pick, Put"),
        ([[{"one_of": ["[End]"]}]], "must be a subtask in brackets, a list, or one of all_of, any_of, optional"),
        ([[{"all_of": "[End]"}]], "key path 1, item 1, all_of must be a list"),
        ([[{"optional": "[End]"}]], "key path 1 can be empty"),
        ([[{"some_of": [{"optional": "[End]"}, "[End]"], "count": 1}]], "key path 1 can be empty"),
        ([[{"some_of": ["[End]"]}]], "must be a subtask in brackets, a list, or one of all_of"),
        ([[{"some_of": ["[End]"], "count": 2}]], "item 1, some_of: count must be a number from 1 to 1, not 2"),
        ([[{"some_of": ["[End]"], "count": True}]], "count must be a number from 1 to 1, not True"),
        ([[{"some_of": [], "count": 1}]], "some_of must be a list with at least one node"),
        ([[7]], "key path 1, item 1 must be a subtask"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(data: object, message: str) -> None:
    with pytest.raises(KeyPathError) as raised:
        expand(data)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_key_paths_that_are_not_json() -> None:
    with pytest.raises(KeyPathError, match="not JSON"):
        load_json("[[")


def test_progress_needs_a_key_path() -> None:
    with pytest.raises(ValueError, match="at least one key path"):
        task_progress([], ())


NODES = [
    "[Go to, drawer]",
    "[Go to, sink]",
    "[Go to, fridge]",
    "[Pick, can]",
    "[Pick, mug]",
    "[Put, mug, sink]",
    "[Put, mug, drawer]",
    "[Open, fridge]",
    "[Close, fridge]",
    "[End]",
]
paths_strategy = st.lists(st.lists(st.sampled_from(NODES), min_size=1, max_size=6), min_size=1, max_size=4)
steps_strategy = st.lists(st.tuples(st.sampled_from(NODES), st.booleans()), max_size=20)


def _steps(drawn: list[tuple[str, bool]]) -> tuple[Step, ...]:
    return tuple(Step(index, parse_brackets(text), success) for index, (text, success) in enumerate(drawn, start=1))


@given(paths_strategy, steps_strategy, steps_strategy)
def test_progress_is_a_share_and_more_steps_never_lower_it(
    paths: list[list[str]], first: list[tuple[str, bool]], more: list[tuple[str, bool]]
) -> None:
    expanded = expand(paths)
    before, after = task_progress(expanded, _steps(first)), task_progress(expanded, _steps(first + more))
    assert 0 <= before.value <= after.value <= 1
    assert before.success == (before.value == 1)


@given(paths_strategy, steps_strategy)
def test_progress_ignores_failed_steps_and_models_and_follows_order(
    paths: list[list[str]], drawn: list[tuple[str, bool]]
) -> None:
    expanded, steps = expand(paths), _steps(drawn)
    best = task_progress(expanded, steps)
    successful = tuple(step for step in steps if step.success)
    renamed = tuple(replace(step, subtask=replace(step.subtask, model="octo")) for step in successful)
    assert task_progress(expanded, renamed) == best
    assert list(best.steps) == sorted(set(best.steps))
    assert best.value == max(task_progress([path], steps).value for path in expanded)


ids_strategy = st.sampled_from(["", "nothing_1", *THINGS])
Handled = tuple[str, str, str, str]
"""A subtask, another one whose names are used instead, and the ids of what was handled."""


def _handled(drawn: list[Handled]) -> tuple[Step, ...]:
    return tuple(
        Step(index, parse_brackets(said), True, target_id=target_id, destination_id=destination_id)
        for index, (said, _, target_id, destination_id) in enumerate(drawn, start=1)
    )


def _reworded(step: Step, text: str) -> Step:
    """The step with the names of ``text``, if its own do not count: all it handled is known."""
    known = step.target_id in THINGS and (step.subtask.action != "Put" or step.destination_id in THINGS)
    return replace(step, subtask=replace(parse_brackets(text), action=step.subtask.action)) if known else step


@given(paths_strategy, st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), ids_strategy, ids_strategy)))
def test_the_words_make_no_difference_once_the_things_are_known(paths: list[list[str]], drawn: list[Handled]) -> None:
    expanded, steps = expand(paths), _handled(drawn)
    reworded = [_reworded(step, text) for step, (_, text, _, _) in zip(steps, drawn, strict=True)]
    assert task_progress(expanded, reworded, THINGS) == task_progress(expanded, steps, THINGS)


@given(paths_strategy)
def test_a_path_followed_to_the_letter_succeeds(paths: list[list[str]]) -> None:
    for path in expand(paths):
        steps = tuple(Step(index, node, True) for index, node in enumerate(path, start=1))
        assert task_progress([path], steps).success


@given(paths_strategy)
def test_the_explicit_list_survives_json(paths: list[list[str]]) -> None:
    expanded = expand(paths)
    written = json.dumps([[node.brackets() for node in path] for path in expanded])
    assert load_json(written) == expanded
