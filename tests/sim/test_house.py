"""A house is checked before anything is built from it; every refusal is one line that says what is allowed."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from homie_sim.house import HouseError, house_names, load_house, parse_house

HUT: dict[str, Any] = {
    "name": "hut",
    "rooms": [{"id": "room", "x": [0, 4], "y": [0, 4]}],
    "furniture": [
        {"type": "table", "id": "desk", "at": [2, 2]},
        {"type": "fridge", "id": "icebox", "at": [1, 3.5]},
    ],
    "objects": [{"object": "apple_1", "on": "desk"}],
    "robot": {"x": 1, "y": 1},
}


def changed(path: str, value: object) -> dict[str, Any]:
    """HUT with the value at a dotted path replaced."""
    data = deepcopy(HUT)
    target: Any = data
    *parents, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
    for key in parents:
        target = target[key]
    target[last] = value
    return data


def test_the_built_in_house_has_what_the_tasks_need() -> None:
    house = load_house("house_1")
    assert [room.id for room in house.rooms] == ["kitchen", "living_room"]
    expected = {"fridge", "kitchen_counter", "sink", "sofa", "brown_table", "tv_stand"}
    assert {piece.id for piece in house.furniture} == expected
    drawers = {f"kitchen_counter/drawer_{number}" for number in (1, 2, 3)}
    assert set(house.receptacles) == expected | drawers
    can = next(entry for entry in house.objects if entry.object == "potted_meat_can_1")
    assert can.on == "brown_table"
    assert len(house.objects) >= 12


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("furniture.0.at", [3.9, 2], ["furniture.0", "desk", "inside a room"]),
        ("furniture.0.at", [1, 3.4], ["furniture.1", "icebox", "overlaps desk"]),
        ("furniture.0.type", "bed", ["furniture.0", "bed", "fridge", "table"]),
        ("furniture.0.facing", "up", ["furniture.0", "facing", "'up'", "north"]),
        ("furniture.0.depth", -1, ["furniture.0", "depth", "-1", "greater than 0"]),
        ("furniture.0.wheels", 4, ["furniture.0", "wheels", "4"]),
        ("furniture.1.hinge", "top", ["furniture.1", "hinge", "'top'", "left"]),
        ("furniture.1.shelf_heights", [0.6, 0.7], ["shelf_heights", "0.2 m"]),
        ("furniture.1.id", "desk", ["'desk'", "more than once"]),
        ("objects.0.object", "unicorn_1", ["objects.0.object", "'unicorn_1'", "apple", "<category>_<number>"]),
        ("objects.0.object", "apple", ["objects.0.object", "'apple'"]),
        ("objects.0.on", "cupboard", ["objects.0.on", "'cupboard'", "desk, icebox"]),
        ("robot.x", 9, ["robot", "9", "inside a room"]),
        ("rooms.0.x", [4, 0], ["rooms.0", "rise"]),
        ("rooms", [], ["rooms", "at least 1"]),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(path: str, value: object, words: list[str]) -> None:
    with pytest.raises(HouseError) as caught:
        parse_house(changed(path, value), "hut.yaml")
    line = str(caught.value)
    assert "\n" not in line and line.startswith("hut.yaml: ")
    for word in words:
        assert word in line


def test_unknown_house_names_the_known_ones() -> None:
    with pytest.raises(HouseError, match=r"'castle' is unknown; allowed: house_1"):
        load_house("castle")
    assert house_names()[0] == "house_1"


def test_a_file_that_is_not_there_or_not_yaml(tmp_path: Path) -> None:
    with pytest.raises(HouseError, match="is no file"):
        load_house(tmp_path / "none.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: [", encoding="utf-8")
    with pytest.raises(HouseError, match=r"broken\.yaml line 1: not YAML"):
        load_house(broken)


def test_yaml_may_say_on(tmp_path: Path) -> None:
    file = tmp_path / "hut.yaml"
    file.write_text(yaml.safe_dump(HUT).replace("'on'", "on"), encoding="utf-8")
    assert load_house(file).objects[0].on == "desk"
