"""The world's state as others see it."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from homie_core.world_state import FLOOR, Kind, top_of
from homie_sim.house import load_house
from homie_sim.world import MujocoWorld


def put(world: MujocoWorld, name: str, position: tuple[float, float, float]) -> None:
    """Move an object by hand."""
    address = int(world.model.joint(name).qposadr[0])
    world.data.qpos[address : address + 3] = position
    mujoco.mj_forward(world.model, world.data)


def set_open(world: MujocoWorld, container: str, value: float) -> None:
    world.data.joint(f"{container}/joint").qpos[0] = value
    mujoco.mj_forward(world.model, world.data)


def test_kinds_and_categories(world: MujocoWorld) -> None:
    state = world.world_state()
    assert (state["potted_meat_can_1"].kind, state["potted_meat_can_1"].category) == (Kind.OBJECT, "potted_meat_can")
    assert (state["fridge"].kind, state["fridge"].category) == (Kind.CONTAINER, "fridge")
    drawer = state["kitchen_counter/drawer_2"]
    assert (drawer.kind, drawer.category, drawer.parent) == (Kind.CONTAINER, "drawer", "kitchen_counter")
    assert state["brown_table"].kind is Kind.FURNITURE
    assert state["kitchen"].kind is Kind.PLACE
    assert math.isnan(state["sofa"].open_fraction) and state["fridge"].open_fraction == 0


def test_boxes(world: MujocoWorld) -> None:
    state = world.world_state()
    assert state["potted_meat_can_1"].box_size == pytest.approx((0.066, 0.066, 0.1), abs=0.001)
    table = state["brown_table"]
    assert table.box_size == pytest.approx((1.1, 0.7, 0.7), abs=1e-6)
    assert table.box_center == pytest.approx((6.5, 1.75, 0.35), abs=1e-6)


def test_a_fridges_box_is_that_of_its_case(world: MujocoWorld) -> None:
    closed = world.world_state()["fridge"]
    set_open(world, "fridge", 1.5)
    opened = world.world_state()["fridge"]
    assert opened.box_size == closed.box_size
    assert opened.open_fraction == pytest.approx(1.5 / 1.57)


def test_a_drawer_moves_with_what_is_in_it(world: MujocoWorld) -> None:
    before = world.world_state()["kitchen_counter/drawer_1"]
    set_open(world, "kitchen_counter/drawer_1", 0.4)
    after = world.world_state()["kitchen_counter/drawer_1"]
    np.testing.assert_allclose(np.subtract(after.position, before.position), (0, -0.4, 0), atol=1e-3)
    assert after.open_fraction == pytest.approx(1) and after.is_open


@pytest.mark.parametrize(
    ("position", "parent"),
    [
        ((6.5, 1.75, 0.75), "brown_table"),
        ((1.75, 4.2, 0.64), "fridge"),
        ((1.75, 4.2, 1.06), "fridge"),
        ((2.4, 4.3, 0.69), "kitchen_counter/drawer_1"),
        ((2.9, 4.3, 0.9), "kitchen_counter"),
        ((4.05, 4.3, 0.73), "sink"),
        ((7.0, 3.9, 0.5), "sofa"),
        ((7.2, 4.5, 0.9), "sofa"),
        ((3.0, 2.0, 0.05), FLOOR),
        ((6.5, 1.75, 0.05), FLOOR),
    ],
)
def test_where_an_object_is(world: MujocoWorld, position: tuple[float, float, float], parent: str) -> None:
    put(world, "potted_meat_can_1", position)
    assert world.world_state()["potted_meat_can_1"].parent == parent


@pytest.mark.parametrize("opened", [0.0, 1.5])
def test_what_stands_on_the_roof_of_a_fridge_is_not_in_it(world: MujocoWorld, opened: float) -> None:
    set_open(world, "fridge", opened)
    put(world, "potted_meat_can_1", (1.75, 4.2, 1.80))
    state = world.world_state()
    assert state["potted_meat_can_1"].parent == top_of("fridge")
    assert state.closed_container_of("potted_meat_can_1") is None


def test_every_container_that_stands_has_a_roof_that_is_not_its_inside() -> None:
    """On a floor of any level."""
    house = load_house("house_5")
    world = MujocoWorld(house)
    name = house.objects[0].object
    roofed = [piece for piece in house.furniture if piece.id in piece.container_ids()]
    assert len(roofed) >= 4
    for piece in roofed:
        box = world.world_state()[piece.id]
        put(world, name, (*box.box_center[:2], box.box_center[2] + box.box_size[2] / 2 + 0.1))
        assert world.world_state()[name].parent == top_of(piece.id)


def test_what_is_in_a_bowl(world: MujocoWorld) -> None:
    x, y, z = world.world_state()["bowl_1"].box_center
    put(world, "lemon_1", (x, y, z + 0.01))
    state = world.world_state()
    assert (state["lemon_1"].parent, state["bowl_1"].parent) == ("bowl_1", "kitchen_counter")
    assert {"bowl_1", "lemon_1"} <= set(state.contents_of("kitchen_counter"))
    assert state.contents_of("bowl_1") == ("lemon_1",)


def test_nothing_is_in_a_bowl_that_has_turned_over(world: MujocoWorld) -> None:
    x, y, z = world.world_state()["bowl_1"].box_center
    world.data.joint("bowl_1").qpos[3:7] = (0, 1, 0, 0)
    put(world, "lemon_1", (x, y, z + 0.01))
    assert world.world_state()["lemon_1"].parent == "kitchen_counter"


def test_of_two_nested_bowls_the_upper_one_is_in_the_lower_one() -> None:
    world = MujocoWorld(load_house("house_2"))
    x, y, z = world.world_state()["bowl_1"].box_center
    put(world, "bowl_2", (x, y, z + 0.015))
    state = world.world_state()
    assert (state["bowl_2"].parent, state["bowl_1"].parent) == ("bowl_1", "kitchen_counter")
