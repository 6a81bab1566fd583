"""Every built-in house: it settles, everything in it can be reached, opened and closed."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

from homie_core import fetch
from homie_core.world_state import Kind
from homie_sim.furniture.appliances import Appliance
from homie_sim.house import HouseError, house_names, load_house
from homie_sim.house_check import drivable_cells, spots_before
from homie_sim.objects import CATALOGUE, category_of
from homie_sim.path_planner import plan_path
from homie_sim.world import OPEN_AT_START, MujocoWorld

TASK_FURNITURE = {
    "fridge",
    "kitchen_counter",
    "sink",
    "sofa",
    "brown_table",
    "yellow_table",
    "tv_stand",
    "white_desk",
    "white_cabinet",
    "kitchen_cabinet",
    "chair",
    "door",
}
"""Categories that the tasks name; every house but the first has them all, and an appliance."""

DOOR_FORCE = 6.0
DRAWER_FORCE = 12.0
"""Newton metres and newtons: what a hand does not feel as stuck."""


@pytest.fixture(scope="module", params=house_names())
def furnished(request: pytest.FixtureRequest) -> Iterator[MujocoWorld]:
    world = MujocoWorld(load_house(request.param))
    yield world
    world.close()


def test_there_are_five_houses() -> None:
    assert house_names() == [f"house_{number}" for number in range(1, 6)]


@pytest.mark.parametrize("name", house_names()[1:])
def test_each_has_what_the_tasks_name(name: str) -> None:
    house = load_house(name)
    assert {piece.kind_name for piece in house.furniture} >= TASK_FURNITURE
    assert any(isinstance(piece, Appliance) for piece in house.furniture)
    categories = [category_of(entry.object) for entry in house.objects]
    assert set(categories) >= set(CATALOGUE)
    assert sum(categories.count(category) > 1 for category in set(categories)) >= 6


def test_the_names_of_the_second_floor() -> None:
    for name in ("house_3", "house_5"):
        house = load_house(name)
        assert {"second_floor"} <= {room.id for room in house.rooms}
        assert "stairs" in {piece.kind_name for piece in house.furniture}


@pytest.mark.parametrize("seed", [0, 1])
def test_it_settles_and_everything_stays_in_its_place(furnished: MujocoWorld, seed: int) -> None:
    furnished.reset(seed)
    before = furnished.world_state()
    furnished.tick(100)
    after = furnished.world_state()
    for entry in furnished.house.objects:
        assert before[entry.object].parent == entry.on, entry.object
        moved = np.subtract(after[entry.object].position, before[entry.object].position)
        assert np.linalg.norm(moved) < 0.003, entry.object
        bottom = after[entry.object].box_center[2] - after[entry.object].box_size[2] / 2
        assert bottom > 0.3, entry.object


@pytest.mark.parametrize(
    ("name", "object", "on"),
    [
        ("house_3", "strawberry_1", "sink"),
        ("house_5", "lemon_2", "tv_stand"),
        ("house_5", "lemon_1", "kitchen_cabinet"),
    ],
)
def test_fruit_that_would_roll_on_slowly_for_ever_is_held_up(name: str, object: str, on: str) -> None:
    world = MujocoWorld(load_house(name))
    world.reset(1, [{"object": object, "on": on}])
    before = world.world_state()[object]
    world.tick(300)
    after = world.world_state()[object]
    assert after.parent == on
    assert np.linalg.norm(np.subtract(after.position, before.position)) < 0.003


def test_every_piece_can_be_reached(furnished: MujocoWorld) -> None:
    furnished.reset(0)
    grid = furnished.occupancy()
    start = furnished.base_pose()[:2]
    reachable = drivable_cells(grid, start)
    for piece in furnished.house.furniture:
        cells = [(grid.cell(*spot), spot) for spot in spots_before(piece)]
        free = [spot for cell, spot in cells if cell is not None and reachable[cell]]
        assert free, piece.id
        assert plan_path(grid, start, free[0]) is not None, piece.id


def test_every_container_opens_and_closes(furnished: MujocoWorld) -> None:
    """By a force on its joint alone; what lies in it comes along."""
    furnished.reset(0)
    model, data = furnished.model, furnished.data
    for id, container in furnished.readout.containers.items():
        joint = model.joint(f"{id}/joint")
        force = DRAWER_FORCE if joint.type[0] == mujoco.mjtJoint.mjJNT_SLIDE else DOOR_FORCE
        dof = int(joint.dofadr[0])
        for direction in (1, -1):
            data.qfrc_applied[dof] = direction * force
            furnished.tick(250)
            data.qfrc_applied[dof] = 0
            fraction = float(data.qpos[container.qpos]) / container.fully_open
            if direction > 0:
                assert fraction > 0.98, f"{id} opens to {fraction:.2f}"
            else:
                assert fraction < 0.02, f"{id} closes to {fraction:.2f}"
    state = furnished.world_state()
    for entry in furnished.house.objects:
        assert state[entry.object].parent == entry.on, entry.object


def test_open_containers_are_open_and_only_those(furnished: MujocoWorld) -> None:
    furnished.reset(0)
    for thing in furnished.world_state().objects:
        if thing.kind is Kind.CONTAINER:
            wanted = OPEN_AT_START if thing.id in furnished.house.open else 0.0
            assert thing.open_fraction == pytest.approx(wanted, abs=0.02), thing.id


def test_nothing_touches_the_robot_at_the_start(furnished: MujocoWorld) -> None:
    furnished.reset(0)
    model = furnished.model
    robot = model.body_treeid[model.body(fetch.BASE_BODY).id]
    for contact in furnished.data.contact[: furnished.data.ncon]:
        assert robot not in model.body_treeid[model.geom_bodyid[contact.geom]]


def test_a_house_that_does_not_fit_is_not_loaded() -> None:
    with pytest.raises(HouseError, match="house_9"):
        load_house("house_9")
