"""Names: the original's table, its extensions, and which thing is meant."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from homie_core import names
from homie_core.names import Role, canonical, name_of, parse, resolve, unresolved_reason
from homie_core.world_state import Kind, WorldState
from support.worlds import changed, kitchen, thing

ORIGINAL_TABLE = {
    "master_chef_can": "blue can, blue_can, master_chef_can, master chef can, 002_master_chef_can",
    "cracker_box": "red_box, red box, cracker_box, cracker box, 003_cracker_box",
    "sugar_box": "yellow_box, yellow box, sugar_box, sugar box, suger_box",
    "tomato_soup_can": "red_can, red can, soup_can, soup can, tomato_soup_can, tomato soup can",
    "tuna_fish_can": "fish_can, fish can, short_can, short can, tuna_fish_can, tuna fish can",
    "pudding_box": "pudding_box, pudding box",
    "gelatin_box": "gelation_box, gelatin_box, gelation box, box",
    "potted_meat_can": "green_can, green can, potted_meat_can, meat_can, can, 010_potted_meat_can",
    "banana": "banana",
    "strawberry": "strawberry",
    "apple": "apple, red_apple",
    "lemon": "lemon",
    "peach": "peach",
    "pear": "pear",
    "orange": "orange",
    "plum": "plum",
    "bleach_cleanser": "bleach_cleanser, bleach cleanser",
    "bowl": "bowl, red_bowl, red bowl",
    "mug": "mug",
    "sponge": "sponge",
    "chair": "chair",
    "sofa": "sofa, blue_sofa",
    "brown_table": "table, brown_table, brown table",
    "yellow_table": "yellow_table, yellow table, beige_table, beige table, wood_table, wood table, dark table",
    "white_desk": "white_desk, white desk, white_table",
    "tv_stand": "tvstand, tv_stand, tv stand, blue_desk, blue desk, blue_table, blue table, TV stand",
    "tv": "tv, TV",
    "white_shelf": "white_shelf, white shelf",
    "white_cabinet": "white_cabinet, white cabinet",
    "fridge": "fridge, refrigerator",
    "kitchen_counter": "kitchen_counter, kitchen counter, kitchen countertop",
    "sink": "sink, kitchen_sink, kitchen sink",
    "drawer": "drawer, kitchen_drawer, kitchen drawer",
    "kitchen": "kitchen, kitchen area",
    "living_room": "living room, living_room",
    "stairs": "stairs",
    "second_floor": "second_floor, second floor",
    "door": "door",
}
EXTENSIONS = {
    "potted_meat_can": "the green can, A Green_Can, green cans, potted meat can, GREEN-CAN., meat cans",
    "gelatin_box": "gelatin box, boxes",
    "strawberry": "strawberries, some strawberries",
    "peach": "peaches",
    "apple": "an apple, apples, red apple",
    "sofa": "blue sofa, the sofa",
    "white_desk": "white table",
    "kitchen_counter": "counter, countertop, counter top, kitchen_countertop",
    "kitchen": "kitchen_area, the kitchen",
    "second_floor": "floor 2, the second floor",
    "sugar_box": "suger box",
    "drawer": "drawers, kitchen drawers",
}


def _cases(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(alias.strip(), category) for category, aliases in table.items() for alias in aliases.split(",")]


@pytest.mark.parametrize(("alias", "category"), _cases(ORIGINAL_TABLE) + _cases(EXTENSIONS))
def test_alias_means_its_category(alias: str, category: str) -> None:
    assert canonical(alias) == category


@pytest.mark.parametrize("text", ["", " ", "the", "_", "...", "\n\t", "[]"])
def test_an_empty_text_names_nothing(text: str) -> None:
    assert parse(text).categories == ()
    assert resolve(text, kitchen()) is None
    assert unresolved_reason(text, kitchen()) == "no name given"


@given(st.text())
@example("0:0:0")
@example("002 003 the box 1 2")
def test_any_text_is_read_without_an_error_and_stably(text: str) -> None:
    category = canonical(text)
    assert canonical(category) == category or not category
    for role in Role:
        found = resolve(text, kitchen(), role)
        assert found is None or kitchen()[found.id].category == found.category


@given(st.sampled_from(_cases(ORIGINAL_TABLE)), st.data())
def test_spelling_makes_no_difference(case: tuple[str, str], data: st.DataObject) -> None:
    alias, category = case
    article = data.draw(st.sampled_from(["", "the ", "a ", "The ", "some "]))
    separator = data.draw(st.sampled_from([" ", "_", "-", "  "]))
    word = separator.join(alias.replace("_", " ").split())
    cased = data.draw(st.sampled_from([word, word.upper(), word.title()]))
    assert canonical(article + cased + data.draw(st.sampled_from(["", "."]))) == category


def test_an_unknown_name_is_its_own_category() -> None:
    assert canonical("stack of Papers") == canonical("the stack_of_papers") == "stack_of_papers"
    assert not parse("stack of papers").known


def test_an_ambiguous_name_means_what_is_in_the_scene() -> None:
    can_only = resolve("can", kitchen())
    assert can_only is not None
    assert can_only.id == "potted_meat_can_1"
    assert "only potted_meat_can is in the scene" in can_only.note
    soup = WorldState("s", 0, (thing("tomato_soup_can_1", "tomato_soup_can"),), (0, 0, 0))
    found = resolve("can", soup)
    assert found is not None and found.category == "tomato_soup_can"


def test_of_several_present_candidates_the_first_of_the_table_is_meant_for_execution_and_scoring_alike() -> None:
    objects = (thing("master_chef_can_1", "master_chef_can"), thing("tuna_fish_can_1", "tuna_fish_can", at=(9, 0, 0)))
    state = WorldState("s", 0, objects, (0, 0, 0))
    found = resolve("can", state)
    assert found is not None and found.category == "tuna_fish_can"
    assert canonical("can", {"master_chef_can", "tuna_fish_can"}) == "tuna_fish_can"
    assert found.note == "'can' is ambiguous; of tuna_fish_can, master_chef_can it means tuna_fish_can"


def test_the_nearest_of_several_is_meant_and_the_others_are_named() -> None:
    found = resolve("apple", kitchen(), Role.PICK)
    assert found is not None
    assert (found.id, found.others) == ("apple_2", ("apple_1",))
    assert found.note == "apple_2 is the nearest of 2"


def test_put_takes_the_held_one_and_pick_takes_another() -> None:
    state = changed(kitchen(held="apple_1"), "apple_1", parent="gripper")
    put = resolve("apple", state, Role.PUT_OBJECT)
    pick = resolve("apple", state, Role.PICK)
    assert put is not None and put.id == "apple_1"
    assert pick is not None and pick.id == "apple_2"


def test_put_takes_the_held_one_for_an_ambiguous_name_too() -> None:
    objects = (thing("master_chef_can_1", "master_chef_can"), thing("tuna_fish_can_1", "tuna_fish_can"))
    found = resolve("can", WorldState("s", 0, objects, (0, 0, 0), "master_chef_can_1"), Role.PUT_OBJECT)
    assert found is not None and found.id == "master_chef_can_1"


def test_a_drawer_without_a_number_is_the_nearest_in_the_useful_state() -> None:
    state = changed(kitchen(), "kitchen_counter/drawer_2", open_fraction=1.0)
    to_open, to_put = resolve("drawer", state, Role.OPEN), resolve("drawer", state, Role.PUT_PLACE)
    assert to_open is not None and to_open.id == "kitchen_counter/drawer_1"
    assert to_open.note == "kitchen_counter/drawer_1 is the nearest closed one of 2"
    assert to_put is not None and to_put.id == "kitchen_counter/drawer_2"
    nearest = resolve("drawer", kitchen(), Role.CLOSE)
    assert nearest is not None and nearest.id == "kitchen_counter/drawer_1"


def test_an_instance_number_and_an_id_are_exact() -> None:
    for text in ("drawer_2", "the drawer 2", "kitchen_counter/drawer_2", "Kitchen drawer 2"):
        found = resolve(text, kitchen())
        assert found is not None and found.id == "kitchen_counter/drawer_2"
    assert resolve("drawer 7", kitchen()) is None
    assert unresolved_reason("drawer 7", kitchen()) == "no drawer number 7 in flat"


def test_the_kitchen_is_a_room_to_go_to_and_its_counter_to_put_on() -> None:
    visit, put = resolve("kitchen", kitchen()), resolve("kitchen", kitchen(), Role.PUT_PLACE)
    assert visit is not None and visit.id == "kitchen"
    assert put is not None and put.id == "kitchen_counter"
    assert put.note == "'kitchen' means the kitchen_counter here"


def test_absent_things_are_not_found_and_the_reason_says_so() -> None:
    assert resolve("banana", kitchen()) is None
    assert unresolved_reason("banana", kitchen()) == "no banana in flat"
    assert unresolved_reason("stack of papers", kitchen()) == "no thing is called 'stack of papers'"


def test_a_category_of_the_scene_needs_no_table() -> None:
    state = WorldState("s", 0, (thing("toy_duck_1", "toy_duck"),), (0, 0, 0))
    found = resolve("the toy duck", state)
    assert found is not None and found.id == "toy_duck_1"


def test_the_name_of_a_thing_leads_back_to_it() -> None:
    state = kitchen()
    assert name_of("fridge", state) == "fridge"
    assert name_of("kitchen_counter/drawer_2", state) == "drawer_2"
    for each in state.objects:
        for role in Role:
            if role is Role.PUT_PLACE and each.kind is Kind.PLACE:
                continue
            found = resolve(name_of(each.id, state), state, role)
            assert found is not None and found.id == each.id


def test_two_drawers_of_the_same_number_are_named_by_id() -> None:
    objects = tuple(thing(f"{owner}/drawer_1", "drawer", Kind.CONTAINER) for owner in ("left", "right"))
    assert name_of("left/drawer_1", WorldState("s", 0, objects, (0, 0, 0))) == "left/drawer_1"


def test_one_place_for_going() -> None:
    assert {names.place(category) for category in ("kitchen", "kitchen_counter", "sink", "drawer")} == {"kitchen"}
    assert names.place("fridge") == ""


def test_a_skills_goal_may_name_things() -> None:
    state = kitchen(fridge_open=1.0, held="apple_1")
    assert names.resolve_goal("go_to", "potted_meat_can", "", state) == ("potted_meat_can_1", "")
    assert names.resolve_goal("put", "apple", "fridge", state) == ("apple_1", "fridge")
    assert names.resolve_goal("pick", "apple", "", state) == ("apple_2", "")
    assert names.resolve_goal("put", "apple", "kitchen area", state) == ("apple_1", "kitchen_counter")
    assert names.resolve_goal("put", "apple", "kitchen", state) == ("apple_1", "kitchen")  # a room's id
    # Ids mean themselves, and what means nothing is left for the skill to refuse.
    assert names.resolve_goal("put", "apple_2", "kitchen_counter/drawer_2", state) == (
        "apple_2", "kitchen_counter/drawer_2"
    )  # fmt: skip
    assert names.resolve_goal("go_to", "dragon", "", state) == ("dragon", "")
    assert names.resolve_goal("reset_arm", "", "", state) == ("", "")
