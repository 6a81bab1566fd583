"""What only geometry can tell: every refusal names house, item and value, and says what is allowed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from homie_sim.house import HouseError, parse_house

HUT: dict[str, Any] = {
    "name": "hut",
    "rooms": [{"id": "room", "x": [0, 5], "y": [0, 5]}],
    "furniture": [
        {"type": "table", "id": "desk", "at": [2.5, 2.5]},
        {"type": "fridge", "id": "icebox", "at": [1, 4.6]},
        {"type": "counter", "id": "bar", "at": [3, 4.6], "drawers": 2},
    ],
    "objects": [{"object": "apple_1", "on": "desk", "at": [0, 0]}],
    "robot": {"x": 1, "y": 1},
}


def refusal(**changes: list[Any]) -> str:
    """The line that refuses HUT with entries added to its lists."""
    data = deepcopy(HUT)
    for key, entries in changes.items():
        data[key] = [*data.get(key, []), *entries]
    with pytest.raises(HouseError) as caught:
        parse_house(data, "hut.yaml")
    line = str(caught.value)
    assert "\n" not in line and line.startswith("hut.yaml: ")
    return line


def test_the_hut_itself_is_fine() -> None:
    assert parse_house(HUT).name == "hut"


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        (
            {"object": "lemon_1", "on": "desk", "at": [0, 0.6]},
            ["objects.1 (lemon_1).at", "(0.0, 0.6)", "'desk'", "y within"],
        ),
        (
            {"object": "lemon_1", "on": "desk", "at": [0.05, 0]},
            ["objects.1 (lemon_1).at", "overlaps apple_1", "need 0."],
        ),
        ({"object": "lemon_1", "on": "icebox", "region": "attic"}, ["(lemon_1).region", "'attic'", "shelf_1, shelf_2"]),
        ({"object": "cracker_box_1", "on": "bar/drawer_1", "at": [0, 0]}, ["(cracker_box_1).on", "too tall", "inside"]),
        ({"object": "cracker_box_1", "on": "bar/drawer_1"}, ["(cracker_box_1).on", "no room", "0.20 m", "inside"]),
        ({"object": "lemon_1", "on": "attic"}, ["objects.1.on", "'attic'", "desk, icebox, bar"]),
    ],
)
def test_an_object_that_cannot_stand_where_it_is_put(placement: dict[str, Any], words: list[str]) -> None:
    line = refusal(objects=[placement])
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        # Door and drawers are as high as the table's top.
        (
            {"type": "fridge", "id": "second", "at": [2.55, 1.2], "facing": "north"},
            ["furniture.3 (second)", "desk", "%"],
        ),
        (
            {"type": "counter", "id": "shop", "at": [2.5, 1.45], "facing": "north"},
            ["furniture.3 (shop)", "drawer", "desk"],
        ),
        (
            {"type": "chair", "id": "stool", "at": [4.72, 2], "facing": "east"},
            ["furniture.3 (stool)", "cannot be reached"],
        ),
        ({"type": "chair", "id": "stool", "at": [2.2, 2.5]}, ["furniture.3 (stool)", "overlaps desk"]),
        ({"type": "chair", "id": "stool", "at": [4.9, 2.5]}, ["furniture.3 (stool)", "inside a room"]),
    ],
)
def test_furniture_that_cannot_be_used_where_it_stands(piece: dict[str, Any], words: list[str]) -> None:
    line = refusal(furniture=[piece])
    for word in words:
        assert word in line


def test_a_door_that_takes_the_only_place_to_stand() -> None:
    """A niche before the cupboard, open on one side until the door shuts it."""
    line = refusal(
        furniture=[{"type": "cabinet", "id": "cupboard", "at": [3.9, 0.24], "facing": "north"}],
        walls=[{"x": [3.4, 3.45], "y": [0, 1.35]}, {"x": [3.4, 4.1], "y": [1.35, 1.4]}],
    )
    assert "furniture.3 (cupboard)" in line and "with cupboard open" in line


def test_furniture_in_a_wall() -> None:
    line = refusal(walls=[{"x": [2.4, 2.5], "y": [2, 3]}])
    assert "furniture.0 (desk)" in line and "overlaps walls.0" in line


def test_a_room_that_is_shut_off() -> None:
    line = refusal(
        rooms=[{"id": "cell", "x": [5, 7], "y": [0, 5]}],
        walls=[{"x": [4.97, 5.03], "y": [0, 5]}],
    )
    assert "rooms.1 (cell)" in line and "cannot be reached" in line


def test_a_robot_that_starts_against_a_table() -> None:
    data = deepcopy(HUT)
    data["robot"] = {"x": 2.5, "y": 1.95}
    with pytest.raises(
        HouseError, match=r"robot: \(2.5, 1.95\) has 0.\d+ m to the next obstacle; allowed: at least 0.33"
    ):
        parse_house(data)


def test_an_open_container_must_be_one() -> None:
    line = refusal(open=["desk"])
    assert "open.0: 'desk'" in line and "icebox, bar/drawer_1, bar/drawer_2" in line


def test_a_steep_ramp() -> None:
    line = refusal(ramps=[{"id": "ramp", "x": [3.5, 4.5], "y": [0.5, 1.5], "up": "east", "high": 0.5}])
    assert "ramps.0" in line and "0.500" in line and "0.125" in line


def test_an_edge_without_a_ramp_cannot_be_climbed() -> None:
    line = refusal(rooms=[{"id": "loft", "x": [5, 8], "y": [0, 5], "level": 0.3}])
    assert "rooms.1 (loft)" in line and "cannot be reached" in line


def test_a_ramp_leads_up() -> None:
    data = deepcopy(HUT)
    data["rooms"].append({"id": "loft", "x": [5, 8], "y": [0, 5], "level": 0.25})
    data["ramps"] = [{"id": "ramp", "x": [3.0, 5.0], "y": [0.0, 1.4], "up": "east", "high": 0.25}]
    house = parse_house(data)
    assert house.footing.height(4.0, 0.7) == pytest.approx(0.125)
    assert house.footing.height(7.0, 4.0) == pytest.approx(0.25)
    assert house.footing.height(1.0, 1.0) == 0
