"""Goal conditions: each form, what it explains, and what is refused."""

from __future__ import annotations

import pytest

from homie_core import goals, symbolic
from homie_core.goals import GoalError, WorldScene
from homie_core.world_state import WorldState
from support.worlds import changed, kitchen, thing


def holds(condition: dict[str, object], state: WorldState) -> bool:
    return goals.parse([condition])[0].holds(WorldScene(state))


FULL = changed(kitchen(fridge_open=1.0, can_in="fridge"), "apple_1", parent="fridge")


@pytest.mark.parametrize(
    ("condition", "state", "expected"),
    [
        ({"object": "potted_meat_can", "in": "fridge"}, kitchen(), False),
        ({"object": "potted_meat_can", "in": "fridge"}, kitchen(can_in="fridge"), True),
        ({"object": "potted_meat_can_1", "in": "brown_table"}, kitchen(), True),
        ({"object": "apple", "in": "kitchen_counter", "count": 2}, kitchen(), True),
        ({"object": "apple", "in": "kitchen_counter", "count": 3}, kitchen(), False),
        ({"object": "apple", "in": "kitchen_counter", "count": {"exactly": 1}}, kitchen(), False),
        ({"object": "apple", "in": "fridge", "count": "all"}, FULL, False),
        ({"object": ["apple", "potted_meat_can"], "in": "fridge", "count": 2}, FULL, True),
        ({"object": "banana", "in": "fridge", "count": "all"}, FULL, False),
        ({"object": "any", "in": "brown_table", "count": "none"}, kitchen(), False),
        ({"object": "any", "in": "brown_table", "count": "none"}, FULL, True),
        ({"object": "any", "in": "fridge", "count": {"exactly": 0}}, kitchen(), True),
        ({"object": "apple", "in": ["fridge", "sink"]}, FULL, True),
        ({"object": "apple", "in": ["brown_table", "sink"]}, FULL, False),
        ({"object": "apple", "in": ["fridge", "kitchen_counter"], "count": "all"}, FULL, True),
        ({"object": ["apple", "potted_meat_can"], "in": "fridge", "kinds": 2}, FULL, True),
        ({"object": ["apple", "potted_meat_can"], "in": "kitchen_counter", "kinds": 1}, FULL, True),
        ({"object": ["apple", "potted_meat_can"], "in": "kitchen_counter", "kinds": 2}, kitchen(), False),
        ({"object": ["apple_1", "apple_2"], "in": ["fridge", "kitchen_counter"], "kinds": 2}, FULL, True),
        ({"open": "fridge"}, kitchen(fridge_open=0.6), True),
        ({"open": "fridge"}, kitchen(fridge_open=0.4), False),
        ({"closed": "drawer"}, kitchen(), True),
        ({"closed": "drawer"}, changed(kitchen(), "kitchen_counter/drawer_2", open_fraction=1.0), False),
        ({"open": "drawer"}, changed(kitchen(), "kitchen_counter/drawer_2", open_fraction=1.0), True),
        ({"closed": "microwave"}, kitchen(), False),
        ({"held": "apple"}, kitchen(), False),
        ({"held": "apple"}, kitchen(held="apple_2"), True),
        ({"at": "kitchen"}, kitchen(), True),
        ({"at": "living_room"}, kitchen(), False),
        ({"at": "fridge"}, kitchen(), False),
        ({"at": "brown_table"}, kitchen(), False),
        ({"object": "apple", "state": "cold"}, kitchen(), True),
        ({"object": "apple", "state": "cold", "count": "all"}, kitchen(), False),
    ],
)
def test_condition(condition: dict[str, object], state: WorldState, expected: bool) -> None:
    assert holds(condition, state) is expected


def test_an_object_in_a_bowl_is_where_the_bowl_is() -> None:
    objects = (thing("lemon_1", "lemon", parent="bowl_1"), thing("bowl_1", "bowl", parent="sofa"))
    state = WorldState("s", 0, objects, (0, 0, 0))
    assert holds({"object": "lemon", "in": "sofa"}, state)
    assert holds({"object": "lemon", "in": "bowl"}, state)


def test_what_is_in_a_drawer_is_not_on_the_counter_that_holds_the_drawer() -> None:
    state = changed(kitchen(can_in="kitchen_counter/drawer_1"), "kitchen_counter/drawer_1", parent="kitchen_counter")
    assert holds({"object": "potted_meat_can", "in": "drawer"}, state)
    assert not holds({"object": "potted_meat_can", "in": "kitchen_counter"}, state)


def test_objects_that_lie_in_each_other_end() -> None:
    objects = (thing("a_1", "a", parent="b_1"), thing("b_1", "b", parent="a_1"))
    assert not holds({"object": "a", "in": "sofa"}, WorldState("s", 0, objects, (0, 0, 0)))


def test_the_share_and_its_explanation() -> None:
    conditions = goals.parse([{"object": "potted_meat_can", "in": "fridge"}, {"closed": "fridge"}])
    result = goals.evaluate(conditions, WorldScene(kitchen(fridge_open=1.0, can_in="fridge")))
    assert result.share == 0.5
    assert not result.success
    assert [verdict.explanation for verdict in result.verdicts] == [
        "at least 1 potted_meat_can in fridge: yes (1 of 1: potted_meat_can_1)",
        "fridge closed: no (fridge open)",
    ]


def test_every_condition_says_what_it_is_and_what_it_found() -> None:
    conditions = goals.parse(
        [
            {"object": "any", "in": "sofa", "count": "none"},
            {"object": ["apple", "lemon"], "in": "sink", "count": "all"},
            {"object": "apple", "in": "sink", "count": {"exactly": 2}},
            {"object": ["apple", "mug"], "in": ["sink", "kitchen_counter"], "kinds": 2},
            {"object": "apple", "state": "cold"},
            {"closed": "microwave"},
            {"held": "mug"},
            {"at": "sofa"},
            {"at": "kitchen"},
        ]
    )
    found = [verdict.explanation for verdict in goals.evaluate(conditions, WorldScene(kitchen())).verdicts]
    assert found == [
        "no object in sofa: yes (0 of 3)",
        "every apple or lemon in sink: no (0 of 2)",
        "exactly 2 apple in sink: no (0 of 2)",
        "at least 2 kinds of apple or mug in sink or kitchen_counter: no (2 of 2: apple_1, apple_2)",
        "at least 1 apple cold: yes (1 of 2: apple_1)",
        "microwave closed: no (there is none)",
        "mug held: no (the hand holds nothing)",
        "robot at sofa: no (it is elsewhere)",
        "robot at kitchen: yes (it is there)",
    ]


def test_the_symbolic_world_is_judged_like_the_physical_one() -> None:
    conditions = goals.parse(
        [
            {"object": "potted_meat_can", "in": "fridge"},
            {"object": "apple", "in": "kitchen_counter", "count": "all"},
            {"object": "any", "in": "brown_table", "count": "none"},
            {"object": ["apple", "potted_meat_can"], "in": ["fridge", "kitchen_counter"], "kinds": 2},
            {"open": "fridge"},
            {"closed": "drawer"},
            {"held": "apple"},
            {"object": "apple", "state": "cold"},
        ]
    )
    for state in (kitchen(), FULL, kitchen(fridge_open=1.0, held="apple_1")):
        symbols = symbolic.SymbolicScene(*symbolic.from_world(state))
        for condition in conditions:
            assert condition.holds(symbols) == condition.holds(WorldScene(state)), str(condition)


def test_no_condition_has_no_share() -> None:
    with pytest.raises(ValueError, match="at least one condition"):
        goals.evaluate((), WorldScene(kitchen()))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"held": "mug"}, "goal must be a list of conditions"),
        (["mug in sink"], "goal condition 1 must be a mapping, not 'mug in sink'"),
        ([{"held": "mug"}, {"object": "mug"}], "goal condition 2 has the fields object; allowed are: in + object; "),
        ([{}], "has the fields (none)"),
        ([{"object": "mug", "in": "sink", "where": "left"}], "has the fields object, in, where"),
        ([{"object": "", "in": "sink"}], "goal condition 1: object must be a name, not ''"),
        ([{"object": [], "in": "sink"}], "object must be a name or a list of names"),
        ([{"object": "mug", "in": 3}], "in must be a name, not 3"),
        ([{"object": "mug", "in": []}], "in must be a name or a list of names"),
        (
            [{"object": ["mug", "bowl"], "in": "sink", "kinds": 3}],
            "kinds must be a number from 1 to that of the objects, 2",
        ),
        ([{"object": "mug", "in": "sink", "kinds": True}], "kinds must be a number from 1"),
        ([{"object": "mug", "in": "sink", "count": 1, "kinds": 1}], "has the fields object, in, count, kinds"),
        ([{"object": "mug", "in": "sink", "count": 0}], "count must be a number from 1 on (at least), all, none, or"),
        ([{"object": "mug", "in": "sink", "count": True}], "count must be"),
        ([{"object": "mug", "in": "sink", "count": {"exactly": -1}}], "count must be"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(data: object, message: str) -> None:
    with pytest.raises(GoalError) as raised:
        goals.parse(data)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
