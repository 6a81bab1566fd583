"""What happens during a try is told with what was measured."""

from dataclasses import replace

import pytest

from homie_core.skill import SkillErrorCode
from homie_core.world_state import FLOOR, ObjectState, WorldState
from homie_monitor.checks import Claim, Targets
from homie_monitor.incidents import incidents
from support.toy_house import change, house, put, stand_at

CAN = "potted_meat_can_1"
START = stand_at(house(), "brown_table")
DONE = Claim(True)


def shifted(state: WorldState, id: str, x: float) -> WorldState:
    thing: ObjectState = state[id]
    return change(state, replace(thing, position=(thing.position[0] + x, *thing.position[1:])))


def test_nothing_happened() -> None:
    assert incidents(Targets(CAN), DONE, START, START) == ()


@pytest.mark.parametrize(("shift", "told"), [(0.02, False), (0.04, True)])
def test_an_object_that_the_subtask_is_not_about_was_pushed(shift: float, told: bool) -> None:
    found = incidents(Targets(CAN), DONE, START, shifted(START, "bowl_1", shift))
    assert found == (("collision: bowl_1 was pushed 0.04 m; it is in or on brown_table",) if told else ())


def test_an_object_that_was_knocked_down_lies_on_the_floor() -> None:
    (found,) = incidents(Targets(CAN), DONE, START, put(START, "bowl_1", FLOOR))
    assert found.startswith("collision: bowl_1 was pushed")
    assert found.endswith("in or on floor")


def test_what_is_meant_to_move_is_no_collision() -> None:
    held = stand_at(house(held=CAN), "brown_table")
    assert incidents(Targets(CAN), DONE, START, shifted(START, CAN, 1.0)) == ()
    assert incidents(Targets("sofa"), DONE, held, shifted(held, CAN, 1.0)) == ()


def test_what_lies_in_a_drawer_rides_with_it() -> None:
    drawer = "kitchen_counter/drawer_1"
    before = put(START, "bowl_1", drawer)
    after = shifted(change(before, replace(before[drawer], open_fraction=1.0)), "bowl_1", 0.4)
    assert incidents(Targets(drawer), DONE, before, after) == ()


def test_what_lies_in_a_bowl_rides_with_it() -> None:
    before = change(START, replace(START["lemon_1"], parent="bowl_1"))
    after = shifted(shifted(before, "bowl_1", 1.0), "lemon_1", 1.0)
    assert incidents(Targets("bowl_1"), DONE, before, after) == ()
    (spilled,) = incidents(Targets("bowl_1"), DONE, before, put(after, "lemon_1", FLOOR))
    assert spilled.startswith("collision: lemon_1 was pushed")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (SkillErrorCode.OBJECT_LOST, ("loss: it fell",)),
        (SkillErrorCode.STALLED, ("stall: it fell",)),
        (SkillErrorCode.NO_GRASP, ()),
    ],
)
@pytest.mark.parametrize("state", [START, None])
def test_what_the_skill_server_measured_is_told_in_both_settings(
    code: SkillErrorCode, found: tuple[str, ...], state: WorldState | None
) -> None:
    assert incidents(Targets(CAN), Claim(False, "it fell", code), state, state) == found
