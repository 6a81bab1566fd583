"""Plans found by search: they keep the order of a key path, reach the goal, and are as short as can be."""

from collections import deque
from collections.abc import Sequence

import pytest

from homie_core import goals, key_path, names
from homie_core.subtask import parse_brackets
from homie_core.symbolic import END, Act, SymbolicScene, from_world
from homie_core.world_state import WorldState
from homie_planner.search import NoPlan, Problem, search
from support.toy_house import house

CAN = "potted_meat_can_1"
TO_FRIDGE = ["[Pick, green_can]", "[Put, green_can, fridge]", "[End]"]
IN_FRIDGE = [{"object": "potted_meat_can", "in": "fridge"}]


def problem(
    world: WorldState, paths: Sequence[Sequence[str]], goal: list[dict[str, str]], relevant: set[str]
) -> Problem:
    present = frozenset(thing.category for thing in world.objects)
    domain, start = from_world(world, relevant)
    rests = [tuple(key_path.pattern(parse_brackets(node), present) for node in path) for path in paths]
    spoken = {thing.id: names.name_of(thing.id, world) for thing in world.objects}
    return Problem(domain, start, rests, goals.parse(goal), spoken, present)


def to_fridge(world: WorldState) -> Problem:
    return problem(world, [TO_FRIDGE], IN_FRIDGE, {"potted_meat_can", "fridge", "brown_table"})


def test_opens_the_fridge_before_it_picks() -> None:
    assert search(to_fridge(house())) == (
        Act("Go to", "fridge"),
        Act("Open", "fridge"),
        Act("Go to", CAN),
        Act("Pick", CAN),
        Act("Go to", "fridge"),
        Act("Put", CAN, "fridge"),
        END,
    )


def test_does_not_open_what_is_open() -> None:
    acts = search(to_fridge(house(opened=("fridge",))))
    assert [act.verb for act in acts] == ["Go to", "Pick", "Go to", "Put", "End"]


def test_puts_down_what_it_holds_when_a_container_must_be_opened() -> None:
    acts = search(to_fridge(house(held=CAN)))
    assert acts[1] == Act("Put", CAN, "brown_table")
    assert acts[-2] == Act("Put", CAN, "fridge")


def test_takes_out_what_is_already_there_because_the_key_path_wants_it_put() -> None:
    acts = search(to_fridge(house({CAN: "fridge"}, opened=("fridge",))))
    assert [act.verb for act in acts] == ["Go to", "Pick", "Put", "End"]


def test_does_again_what_the_key_path_wants_although_it_changes_nothing() -> None:
    world = house(opened=("fridge",))
    acts = search(problem(world, [["[Open, fridge]", "[End]"]], [{"open": "fridge"}], {"fridge"}))
    assert acts == (Act("Go to", "fridge"), Act("Open", "fridge"), END)


def test_takes_the_shortest_key_path() -> None:
    paths = [["[Open, fridge]", "[Close, fridge]", "[End]"], ["[Open, fridge]", "[End]"]]
    acts = search(problem(house(), paths, [], {"fridge"}))
    assert [act.verb for act in acts] == ["Go to", "Open", "End"]


def test_goes_on_to_the_goal_behind_the_key_path() -> None:
    acts = search(problem(house(), [["[Open, fridge]", "[End]"]], [{"closed": "fridge"}], {"fridge"}))
    assert [act.verb for act in acts] == ["Go to", "Open", "Close", "End"]


def test_says_when_there_is_no_plan() -> None:
    with pytest.raises(NoPlan, match="no plan reaches the goal"):
        search(problem(house(), [["[Pick, banana]", "[End]"]], [], {"fridge"}))


def test_gives_up_at_its_limit() -> None:
    with pytest.raises(NoPlan, match="no plan found within 3 search steps"):
        search(to_fridge(house()), limit=3)


def shortest(wanted: Problem) -> int:
    """Length of a shortest plan, by breadth-first search without any estimate."""
    queue = deque((wanted.start, rest, 0) for rest in wanted.rests)
    seen = {(wanted.start, rest) for rest in wanted.rests}
    while queue:
        state, rest, length = queue.popleft()
        scene = SymbolicScene(wanted.domain, state)
        if [node.verb for node in rest] == ["End"] and goals.satisfied(wanted.conditions, scene):
            return length + 1
        again = [act for act in wanted.acts_for(rest[0]) if wanted.domain.check(state, act) is None]
        repeated = [(act, wanted.domain.apply(state, act)) for act in again]
        for act, after in (*wanted.domain.successors(state), *repeated):
            left = rest[1:] if rest[0].accepts(wanted.pattern(act)) else rest
            if (after, left) not in seen:
                seen.add((after, left))
                queue.append((after, left, length + 1))
    raise NoPlan


@pytest.mark.parametrize("held", ["", CAN, "apple_1"])
@pytest.mark.parametrize("opened", [(), ("fridge",)])
@pytest.mark.parametrize("can_at", ["brown_table", "fridge", "kitchen_counter", "kitchen_counter/drawer_1"])
@pytest.mark.parametrize(
    "path",
    [
        ["[Pick, green_can]", "[Put, green_can, fridge]", "[End]"],
        ["[Open, fridge]", "[Put, green_can, fridge]", "[Close, fridge]", "[End]"],
        ["[Pick, apple]", "[Put, apple, brown_table]", "[Pick, green_can]", "[Put, green_can, fridge]", "[End]"],
        ["[Go to, kitchen]", "[Put, apple, fridge]", "[Put, green_can, fridge]", "[End]"],
    ],
    ids=["pick put", "open put close", "two objects", "two puts"],
)
def test_plans_are_shortest(path: list[str], can_at: str, opened: tuple[str, ...], held: str) -> None:
    world = house({CAN: can_at}, opened, held)
    relevant = {"potted_meat_can", "apple", "fridge", "brown_table", "kitchen", "kitchen_counter"}
    wanted = problem(world, [path], IN_FRIDGE, relevant)
    assert len(search(wanted)) == shortest(wanted)
