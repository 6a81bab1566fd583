"""What an episode changes of its house: each form, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from homie_core.skill import SkillTry
from homie_sim.arrangement import parse
from homie_sim.house import HouseError, load_house
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld


@pytest.fixture(scope="module")
def kitchen() -> MujocoWorld:
    """The house with fridge, oven and microwave; the oven runs."""
    return MujocoWorld(load_house("house_5"))


def test_objects_lie_where_the_episode_says_and_as_it_turns_them(kitchen: MujocoWorld) -> None:
    entry = {"object": "cracker_box_1", "on": "white_desk", "region": "top", "at": [0.1, -0.48], "yaw_degrees": 90}
    kitchen.reset(0, [entry, {"object": "apple_1", "on": "fridge", "region": "shelf_2"}])
    state = kitchen.world_state()
    assert state["cracker_box_1"].parent == "white_desk" and state["apple_1"].parent == "fridge"
    # The desk faces east: its x axis is the map's, and the box turned by 90 degrees is wider in x than in y.
    assert state["cracker_box_1"].box_center[:2] == pytest.approx((0.42, 0.92), abs=0.02)
    assert state["cracker_box_1"].box_size[0] > state["cracker_box_1"].box_size[1]


def test_containers_are_open_or_closed_as_the_episode_says(kitchen: MujocoWorld) -> None:
    kitchen.reset(0, [{"container": id, "open": True} for id in ("fridge", "kitchen_counter/drawer_2")])
    assert {each.id for each in kitchen.world_state().objects if each.is_open} == {"fridge", "kitchen_counter/drawer_2"}
    kitchen.reset(0)
    assert not any(each.is_open for each in kitchen.world_state().objects)


def test_what_a_house_leaves_open_can_be_closed() -> None:
    world = MujocoWorld(load_house("house_3"))
    assert parse([], world.house, world.readout.regions).open_containers(world.house) == ("kitchen_counter/drawer_3",)
    world.reset(0, [{"container": "kitchen_counter/drawer_3", "open": False}])
    assert not world.world_state()["kitchen_counter/drawer_3"].is_open
    assert world.world_state()["bowl_2"].parent == "kitchen_counter/drawer_3"


def test_appliances_run_as_the_episode_says(kitchen: MujocoWorld) -> None:
    def running() -> set[str]:
        return {thing.id for thing in kitchen.world_state().objects if "on" in thing.states}

    kitchen.reset(0, [{"appliance": "microwave", "running": True}, {"appliance": "oven", "running": False}])
    assert running() == {"microwave"}
    kitchen.reset(0)
    assert running() == {"oven"}
    kitchen.reset(0, [{"container": "oven", "open": True}])
    kitchen.tick()
    assert running() == set(), "it stops when its door opens"


def test_the_robot_stands_where_the_episode_says(kitchen: MujocoWorld) -> None:
    kitchen.reset(0, [{"robot": {"x": 6.0, "y": 1.5, "yaw_degrees": 90}}])
    np.testing.assert_allclose(kitchen.base_pose(), (6.0, 1.5, np.pi / 2), atol=1e-3)
    kitchen.reset(0)
    assert kitchen.base_pose()[0] == pytest.approx(kitchen.house.robot.x, abs=1e-3)


def test_the_robot_may_start_on_the_second_floor(kitchen: MujocoWorld) -> None:
    kitchen.reset(0, [{"robot": {"x": 1.5, "y": 2.0}}])
    assert kitchen.base_stance()[0] == pytest.approx(0.32, abs=1e-3)


def test_deep_drawers_take_what_stands_tall(kitchen: MujocoWorld) -> None:
    kitchen.reset(0, [{"object": "bleach_cleanser_1", "on": "kitchen_counter/drawer_2"}])
    skills = NativeSkills(kitchen)
    for skill in ("open", "close"):
        assert skills.execute(SkillTry("go_to", "kitchen_counter/drawer_2")).success
        assert skills.execute(SkillTry(skill, "kitchen_counter/drawer_2")).success
    assert kitchen.world_state()["bleach_cleanser_1"].parent == "kitchen_counter/drawer_2"


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([{"on": "sofa"}], ["placements.0", "exactly one of object, container, appliance, robot"]),
        ([{"object": "apple_1", "container": "fridge"}], ["placements.0", "exactly one of"]),
        ([["apple_1", "sofa"]], ["placements.0", "must be a mapping"]),
        ([{"object": "apple_9", "on": "fridge"}], ["placements.0.object", "'apple_9'", "apple_1"]),
        ([{"object": "apple_1", "on": "shed"}], ["placements.0.on", "'shed'", "white_shelf"]),
        ([{"object": "apple_1", "on": "door"}], ["placements.0.on", "'door'"]),
        (
            [{"object": "apple_1", "on": "white_shelf", "region": "attic"}],
            ["placements.0 (apple_1).region", "'attic'", "shelf_1, shelf_2, shelf_3"],
        ),
        ([{"object": "cracker_box_1", "on": "chair", "at": [0.5, 0]}], ["placements.0 (cracker_box_1).at", "off seat"]),
        (
            [{"object": "apple_1", "on": "yellow_table", "at": [0.11, -0.06]}],
            ["placements.0 (apple_1).at", "overlaps mug_2", "'yellow_table'"],
        ),
        (
            [{"object": f"apple_{n}", "on": "fridge", "region": "shelf_2", "at": [0.0, -0.1]} for n in (1, 2)],
            ["placements.1 (apple_2).at", "overlaps apple_1"],
        ),
        (
            [{"object": "apple_1", "on": "chair"}, {"object": "apple_1", "on": "sink"}],
            ["placements.1: apple_1 is already spoken of in placements.0"],
        ),
        ([{"object": "apple_1", "on": "sink", "under": 1}], ["placements.0.under"]),
        ([{"container": "sink", "open": True}], ["placements.0.container", "'sink'", "kitchen_counter/drawer_1"]),
        ([{"container": "fridge", "open": "wide"}], ["placements.0.open", "'wide'"]),
        ([{"container": "fridge"}], ["placements.0.open", "Field required"]),
        ([{"appliance": "fridge", "running": True}], ["placements.0.appliance", "'fridge'", "oven, microwave"]),
        (
            [{"container": "oven", "open": True}, {"appliance": "oven", "running": True}],
            ["placements.1.running", "'oven' is open"],
        ),
        ([{"robot": {"x": 50, "y": 1}}], ["placements.0.robot", "(50.0, 1.0) is not inside a room"]),
        ([{"robot": {"x": 6.9, "y": 3.0}}], ["placements.0.robot", "0.00 m from brown_table", "0.28 m"]),
        ([{"robot": {"x": 8.0, "y": 0.5}}], ["placements.0.robot", "walls.5"]),
        ([{"robot": {"x": "far", "y": 0}}], ["placements.0.robot.x", "'far'"]),
        ([{"robot": {"x": 6, "y": 1.5}}] * 2, ["placements.1: the robot is already spoken of in placements.0"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(kitchen: MujocoWorld, entries: list[object], words: list[str]) -> None:
    with pytest.raises(HouseError) as caught:
        kitchen.reset(0, entries)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)
