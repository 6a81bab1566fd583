"""What is told of what is seen: only what the views show, by names that are understood, always in the same words."""

from __future__ import annotations

import math
import re

import mujoco
import pytest

from homie_core import names
from homie_core.skill import SkillTry
from homie_sim.house import House, load_house
from homie_sim.native.skills import NativeSkills
from homie_sim.rendering import VIEW_HEADINGS
from homie_sim.world import MujocoWorld

ENTRY = re.compile(r"(?:(?P<count>\d+) )?(?P<name>[a-z_]+)(?: \((?P<facts>[^()]+)\))? (?P<distance>[\d.]+) m")
CLOSED_AWAY = ("orange", "tuna_fish_can")
"""In house_1: in the fridge, and in a drawer."""


def stand(world: MujocoWorld, x: float, y: float, yaw: float) -> None:
    world.set_joint_positions({"base_x": x, "base_y": y, "base_yaw": yaw})


def told(world: MujocoWorld) -> dict[str, list[re.Match[str]]]:
    """The entries of each view."""
    room, *lines = world.description().splitlines()
    assert room.startswith("room: ")
    views = dict(line.split(": ", 1) for line in lines)
    assert list(views) == list(VIEW_HEADINGS)
    found: dict[str, list[re.Match[str]]] = {}
    for view, text in views.items():
        matches = [ENTRY.fullmatch(entry) for entry in text.split("; ")] if text != "nothing" else []
        found[view] = [match for match in matches if match is not None]
        assert len(found[view]) == len(matches), text
    return found


def test_every_name_is_understood_and_near_things_come_first(drawn: MujocoWorld) -> None:
    drawn.reset(0)
    state = drawn.world_state()
    entries = told(drawn)
    assert sum(map(len, entries.values())) > 8
    for found in entries.values():
        assert [float(entry["distance"]) for entry in found] == sorted(float(entry["distance"]) for entry in found)
        for entry in found:
            thing = names.resolve(entry["name"], state)
            assert thing is not None and thing.category == entry["name"]


def test_what_is_shut_away_is_never_told(drawn: MujocoWorld) -> None:
    drawn.reset(0)
    for x in (0.8, 1.75, 2.9, 4.0, 7.0):
        for yaw in (0.0, 0.8, math.pi / 2):
            stand(drawn, x, 2.6, yaw)
            text = drawn.description()
            assert "fridge (closed)" in text or x == 7.0
            assert not any(name in text for name in CLOSED_AWAY)


def test_what_is_in_the_fridge_is_told_once_it_is_open_and_looked_into(drawn: MujocoWorld) -> None:
    drawn.reset(0)
    skills = NativeSkills(drawn)
    assert skills.execute(SkillTry("go_to", "fridge")).success
    assert "orange" not in drawn.description()
    assert skills.execute(SkillTry("open", "fridge")).success
    stand(drawn, 1.75, 2.6, 0.0)
    assert "fridge (open)" in drawn.description()
    assert [entry["facts"] for entry in told(drawn)["left"] if entry["name"] == "orange"] == ["in fridge"]
    # From its side the inside is not seen, though it is open.
    stand(drawn, 0.5, 3.9, math.pi)
    assert "orange" not in drawn.description()


@pytest.mark.parametrize(("view", "yaw"), [("front", 0.0), ("right", 90.0), ("back", 180.0), ("left", 270.0)])
def test_a_thing_is_told_in_the_view_that_it_is_in(drawn: MujocoWorld, view: str, yaw: float) -> None:
    drawn.reset(0)
    stand(drawn, 5.2, 1.75, math.radians(yaw))  # the table with can, banana and mug stands to the east
    entries = told(drawn)
    with_can = [name for name, found in entries.items() if any(entry["name"] == "potted_meat_can" for entry in found)]
    assert with_can == [view]
    (can,) = [entry for entry in entries[view] if entry["name"] == "potted_meat_can"]
    assert can["facts"] == "on brown_table"
    thing = drawn.world_state()["potted_meat_can_1"]
    assert float(can["distance"]) == pytest.approx(names.distance(thing, drawn.base_pose()), abs=0.3)


def test_alike_things_are_counted(drawn: MujocoWorld) -> None:
    drawn.reset(0)
    stand(drawn, 2.9, 2.4, math.pi / 2)
    drawers = [entry for entry in told(drawn)["front"] if entry["name"] == "drawer"]
    assert sum(int(entry["count"] or 1) for entry in drawers) == 3
    assert {entry["facts"] for entry in drawers} == {"closed"}


def test_what_is_in_the_hand_and_on_the_floor(drawn: MujocoWorld) -> None:
    drawn.reset(0)
    skills = NativeSkills(drawn)
    assert skills.execute(SkillTry("go_to", "mug_1")).success
    assert skills.execute(SkillTry("pick", "mug_1")).success
    held = [entry["facts"] for found in told(drawn).values() for entry in found if entry["name"] == "mug"]
    assert set(held) == {"in your hand"}
    drawn.reset(0)
    x, y, _ = drawn.base_pose()
    joint = drawn.model.joint("apple_1")
    drawn.data.qpos[joint.qposadr[0] : joint.qposadr[0] + 3] = (x + 1.0, y, 0.04)
    mujoco.mj_forward(drawn.model, drawn.data)
    (apple,) = [entry for entry in told(drawn)["front"] if entry["name"] == "apple"]
    assert apple["facts"] == "on the floor"


def test_the_room_is_the_one_it_stands_in(drawn: MujocoWorld) -> None:
    for x, room in ((3.4, "kitchen"), (8.0, "living_room")):
        stand(drawn, x, 1.0, 0.0)
        assert drawn.description().startswith(f"room: {room}\n")


def test_the_same_state_is_told_in_the_same_words(drawn: MujocoWorld, house: House) -> None:
    drawn.reset(3)
    stand(drawn, 5.2, 1.75, 0.4)
    text = drawn.description()
    assert drawn.description() == text
    drawn.views()
    other = MujocoWorld(house, render=True)
    try:
        other.reset(3)
        stand(other, 5.2, 1.75, 0.4)
        assert other.description() == text
    finally:
        other.close()


def test_telling_changes_neither_the_pictures_nor_the_physics(drawn: MujocoWorld) -> None:
    drawn.reset(1)
    views, positions = drawn.views(), drawn.data.qpos.copy()
    drawn.description()
    again = drawn.views()
    assert all((views[name] == again[name]).all() for name in views)
    assert (drawn.data.qpos == positions).all()


def test_the_second_floor_is_a_room() -> None:
    world = MujocoWorld(load_house("house_3"), render=True)
    try:
        world.reset(0)
        (upstairs,) = [room for room in world.house.rooms if room.id == "second_floor"]
        stand(world, sum(upstairs.x) / 2, sum(upstairs.y) / 2, 0.0)
        assert world.description().startswith("room: second_floor\n")
    finally:
        world.close()
