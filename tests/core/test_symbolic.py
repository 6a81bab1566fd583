"""The symbolic domain: preconditions in the paper's order, effects, and search over it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core import goals
from homie_core.errors import ErrorCode
from homie_core.symbolic import END, Act, Domain, State, SymbolicScene, from_world
from homie_core.world_state import WorldState, top_of
from support.worlds import changed, kitchen, thing

CAN = "potted_meat_can_1"


def run(world: WorldState, *acts: Act) -> tuple[Domain, State]:
    """The state after ``acts``, each of which must be possible."""
    domain, state = from_world(world)
    for act in acts:
        assert domain.check(state, act) is None, act
        state = domain.apply(state, act)
    return domain, state


@pytest.mark.parametrize(
    ("before", "act", "code"),
    [
        ([], Act("Fetch", CAN), ErrorCode.NOT_IN_LIST),
        ([], Act("Pick", "unicorn_1"), ErrorCode.UNKNOWN_TARGET),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Pick", "unicorn_1"), ErrorCode.UNKNOWN_TARGET),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Put", CAN, "moon"), ErrorCode.UNKNOWN_TARGET),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Pick", "apple_1"), ErrorCode.HAND_FULL),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Open", "fridge"), ErrorCode.HAND_FULL),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Close", "sofa"), ErrorCode.HAND_FULL),
        ([], Act("Put", CAN, "fridge"), ErrorCode.HAND_EMPTY),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Put", CAN, "fridge"), ErrorCode.CONTAINER_CLOSED),
        ([Act("Go to", "sofa")], Act("Open", "sofa"), ErrorCode.NOT_INTERACTIVE),
        ([Act("Go to", "sofa")], Act("Pick", "sofa"), ErrorCode.NOT_INTERACTIVE),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Put", CAN, "kitchen"), ErrorCode.NOT_INTERACTIVE),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Put", "apple_1", "sofa"), ErrorCode.NOT_INTERACTIVE),
        ([], Act("Pick", CAN), ErrorCode.TOO_FAR),
        ([], Act("Open", "fridge"), ErrorCode.TOO_FAR),
        ([Act("Go to", CAN), Act("Pick", CAN)], Act("Put", CAN, "sofa"), ErrorCode.TOO_FAR),
    ],
)
def test_why_an_act_cannot_be_done(before: list[Act], act: Act, code: ErrorCode) -> None:
    domain, state = run(kitchen(), *before)
    assert domain.check(state, act) is code


def test_an_appliance_stops_when_it_is_opened_and_does_not_start_again() -> None:
    world = changed(kitchen(), "fridge", states=("on",))
    condition = goals.parse([{"object": "fridge", "state": "on", "count": "none"}])[0]
    assert not condition.holds(SymbolicScene(*from_world(world)))
    opened = run(world, Act("Go to", "fridge"), Act("Open", "fridge"))
    assert condition.holds(SymbolicScene(*opened))
    closed = run(world, Act("Go to", "fridge"), Act("Open", "fridge"), Act("Close", "fridge"))
    assert condition.holds(SymbolicScene(*closed))


def test_picking_from_a_closed_container() -> None:
    domain, state = run(kitchen(can_in="fridge"), Act("Go to", "fridge"))
    assert domain.check(state, Act("Pick", CAN)) is ErrorCode.CONTAINER_CLOSED
    state = domain.apply(state, Act("Open", "fridge"))
    assert domain.check(state, Act("Pick", CAN)) is None


def test_what_stands_on_a_closed_container_can_be_taken_and_is_not_in_it() -> None:
    world = kitchen(can_in=top_of("fridge"))
    assert world.closed_container_of(CAN) is None
    domain, state = run(world, Act("Go to", "fridge"))
    conditions = goals.parse([{"object": "potted_meat_can", "in": "fridge"}])
    assert not goals.satisfied(conditions, SymbolicScene(domain, state))
    assert not goals.satisfied(conditions, goals.WorldScene(world))
    assert domain.check(state, Act("Pick", CAN)) is None
    state = domain.apply(state, Act("Pick", CAN))
    assert state.near == "fridge"
    domain, state = run(
        world, Act("Go to", "fridge"), Act("Open", "fridge"), Act("Pick", CAN), Act("Put", CAN, "fridge")
    )
    assert domain.parent(state, CAN) == "fridge"
    assert goals.satisfied(conditions, SymbolicScene(domain, state))


def test_a_bowl_takes_things_and_takes_them_along() -> None:
    bowl = thing("bowl_1", "bowl", at=(0.2, 3.0, 0.9), parent="brown_table")
    world = replace(kitchen(), objects=(*kitchen().objects, bowl))
    domain, state = run(world, Act("Go to", CAN), Act("Pick", CAN))
    assert domain.receptacles[-1] == "bowl_1"
    assert domain.check(state, Act("Put", CAN, CAN)) is ErrorCode.NOT_INTERACTIVE
    plan = [Act("Put", CAN, "bowl_1"), Act("Pick", "bowl_1"), Act("Go to", "fridge")]
    domain, state = run(world, Act("Go to", CAN), Act("Pick", CAN), *plan)
    assert domain.parent(state, CAN) == "bowl_1"
    assert domain.check(state, Act("Put", "bowl_1", "bowl_1")) is ErrorCode.NOT_INTERACTIVE
    assert domain.check(state, Act("Put", "bowl_1", "fridge")) is ErrorCode.CONTAINER_CLOSED


def test_near_is_what_the_robot_went_to_and_all_in_or_on_it() -> None:
    domain, state = run(kitchen(), Act("Go to", "brown_table"))
    assert domain.is_near(state, CAN)
    assert not domain.is_near(state, "sofa")
    domain, state = run(kitchen(), Act("Go to", CAN))
    assert domain.is_near(state, CAN)
    assert not domain.is_near(state, "brown_table")


def test_after_a_pick_the_robot_is_where_the_object_was() -> None:
    domain, state = run(kitchen(), Act("Go to", CAN), Act("Pick", CAN))
    assert (state.near, state.held, domain.parent(state, CAN)) == ("brown_table", CAN, "gripper")
    state = domain.apply(state, Act("Put", CAN, "brown_table"))
    assert (state.held, domain.parent(state, CAN)) == ("", "brown_table")


def test_an_object_from_the_floor_leaves_the_robot_near_nothing() -> None:
    _, state = run(kitchen(can_in="floor"), Act("Go to", CAN), Act("Pick", CAN))
    assert state.near == ""


def test_end_is_always_possible_and_changes_nothing() -> None:
    domain, state = run(kitchen())
    assert domain.check(state, END) is None
    assert domain.apply(state, END) == state


def test_an_unknown_verb_has_no_effect_to_apply() -> None:
    domain, state = from_world(kitchen())
    with pytest.raises(ValueError, match="no such verb: 'Fetch'"):
        domain.apply(state, Act("Fetch", CAN))


def test_only_what_matters_is_kept() -> None:
    domain, state = from_world(kitchen(can_in="kitchen_counter/drawer_1"), {"potted_meat_can", "fridge"})
    assert list(domain.categories) == [CAN, "fridge", "kitchen_counter/drawer_1"]
    assert state.parents == ("kitchen_counter/drawer_1",)
    everything, _ = from_world(kitchen(), {"any"})
    assert everything.movable == (CAN, "apple_1", "apple_2")
    held, held_state = from_world(kitchen(held="apple_1"), {"sofa"})
    assert held_state.held == "apple_1" and "apple_1" in held.categories


def shortest(world: WorldState, goal: list[object], relevant: set[str] | None = None) -> list[Act]:
    """Breadth-first search: the plan, or an empty one if there is none."""
    domain, start = from_world(world, relevant)
    conditions = goals.parse(goal)
    queue, before = deque([start]), {start: None}
    step: dict[State, tuple[State, Act]] = {}
    while queue:
        state = queue.popleft()
        if goals.satisfied(conditions, SymbolicScene(domain, state)):
            acts: list[Act] = []
            while state in step:
                state, act = step[state]
                acts.append(act)
            return acts[::-1]
        for act, after in domain.successors(state):
            if after not in before:
                before[after] = None
                step[after] = (state, act)
                queue.append(after)
    return []


def test_search_finds_the_short_plan_for_the_papers_case_1() -> None:
    plan = shortest(kitchen(), [{"object": "potted_meat_can", "in": "fridge"}], {"potted_meat_can", "fridge"})
    assert [act.verb for act in plan] == ["Go to", "Open", "Go to", "Pick", "Go to", "Put"]


def test_search_from_a_full_hand_at_the_closed_fridge() -> None:
    world = kitchen(held=CAN)
    plan = shortest(world, [{"object": CAN, "in": "fridge"}], {CAN, "fridge", "brown_table"})
    assert [act.verb for act in plan] == ["Go to", "Put", "Go to", "Open", "Go to", "Pick", "Go to", "Put"]


@given(st.lists(st.integers(0, 200), max_size=30))
def test_any_walk_keeps_the_state_consistent(choices: list[int]) -> None:
    domain, state = from_world(kitchen())
    for choice in choices:
        options = list(domain.successors(state))
        act, after = options[choice % len(options)]
        assert domain.check(state, act) is None
        assert after != state
        held = [id for id, parent in zip(domain.movable, after.parents, strict=True) if parent == "gripper"]
        assert held == ([after.held] if after.held else [])
        state = after


def two_bowls() -> WorldState:
    bowls = [thing(f"bowl_{number}", "bowl", at=(0.2, 3.0, 0.9), parent="brown_table") for number in (1, 2)]
    return replace(kitchen(), objects=(*kitchen().objects, *bowls))


def test_what_is_in_the_hand_goes_into_nothing_that_it_holds() -> None:
    plan = [Act("Go to", "brown_table"), Act("Pick", "bowl_2"), Act("Put", "bowl_2", "bowl_1"), Act("Pick", "bowl_1")]
    domain, state = run(two_bowls(), *plan)
    assert domain.check(state, Act("Put", "bowl_1", "bowl_2")) is ErrorCode.NOT_INTERACTIVE
    assert domain.check(state, Act("Put", "bowl_1", "brown_table")) is None


@given(st.lists(st.integers(0, 10_000), max_size=40))
def test_nothing_is_ever_inside_itself(choices: list[int]) -> None:
    domain, state = from_world(two_bowls())
    for choice in choices:
        following = list(domain.successors(state))
        _, state = following[choice % len(following)]
        for id in domain.movable:
            above = domain.parent(state, id)
            for _ in range(len(domain.movable)):
                assert above != id
                above = domain.parent(state, above) if above else ""
