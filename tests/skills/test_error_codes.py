"""Every error code out of a physical situation, through the real checks, executor and skills; that code and no other.

After each failure the world is consistent, and the robot goes on with a Go to that succeeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from homie_core.episode import ATTEMPT_LIMIT, Setting
from homie_core.errors import ErrorCode
from homie_core.inventory import Inventory
from homie_monitor.checks import Checker
from homie_sim.house import House, load_house
from homie_sim.world import MujocoWorld
from homie_skills.executor import Execution
from homie_skills.robot import NavigationFailed
from support.physical_subtasks import (
    DisturbedWorld,
    PhysicalSubtasks,
    assert_consistent,
    draw_away,
    hold_base,
    knock_out,
    move_object,
    pull_down,
)

CAN = "potted_meat_can_1"
DRAWER = "kitchen_counter/drawer_2"
NARROW = {
    "name": "narrow_flat",
    "rooms": [
        {"id": "kitchen", "x": [0, 4.8], "y": [0, 4.6]},
        {"id": "living_room", "x": [4.8, 9.8], "y": [0, 4.6]},
    ],
    "walls": [
        {"x": [-0.1, 9.9], "y": [4.6, 4.7]},
        {"x": [-0.1, 9.9], "y": [-0.1, 0]},
        {"x": [-0.1, 0], "y": [0, 4.6]},
        {"x": [9.8, 9.9], "y": [0, 4.6]},
        {"x": [4.75, 4.85], "y": [0, 2.5]},
        {"x": [4.75, 4.85], "y": [3.4, 4.6]},
    ],
    "furniture": [
        {"type": "fridge", "id": "fridge", "at": [4.3, 3.75], "facing": "south", "hinge": "right"},
        {"type": "sofa", "id": "sofa", "at": [7.2, 4.12], "facing": "south"},
    ],
    "objects": [{"object": "apple_1", "on": "sofa"}],
    "robot": {"x": 1.5, "y": 1.6},
}
"""Two rooms with one passage between them, which the fridge's door, when open, bars."""


@pytest.fixture(scope="module")
def flat() -> PhysicalSubtasks:
    """house_1, with its planning models, built once."""
    return PhysicalSubtasks(DisturbedWorld(load_house("house_1")))


@pytest.fixture
def subtasks(flat: PhysicalSubtasks) -> PhysicalSubtasks:
    flat.world.reset(seed=0)
    flat.begin()
    return flat


def goes_well(execution: Execution) -> None:
    assert (execution.code, execution.feedback) == (None, "None"), execution.detail


def fails(
    subtasks: PhysicalSubtasks, execution: Execution, code: ErrorCode, sentence: str, inventory: Inventory = ()
) -> None:
    """The error is this one, found in every try; the world is sound; and the robot goes on."""
    assert (execution.code, execution.feedback) == (code, sentence), execution.detail
    assert execution.detail
    assert not execution.success
    assert {fault.code for fault in subtasks.faults} == {code}
    assert execution.attempts == (len(subtasks.faults) if code.startswith("E") else 0)
    assert execution.inventory == inventory
    assert bool(subtasks.world.held) == bool(inventory)
    assert_consistent(subtasks.world)
    goes_well(subtasks.run("Go to", "kitchen"))
    assert subtasks.inventory == inventory
    assert_consistent(subtasks.world)


def take_can(subtasks: PhysicalSubtasks) -> None:
    goes_well(subtasks.run("Go to", "brown_table"))
    goes_well(subtasks.run("Pick", "green_can"))
    assert subtasks.inventory == ("green_can",)


def test_l1_the_hand_is_full(subtasks: PhysicalSubtasks) -> None:
    take_can(subtasks)
    failure = subtasks.run("Pick", "mug")
    fails(subtasks, failure, ErrorCode.HAND_FULL, "Unable to pick, the hand is full", ("green_can",))


def test_l2_the_hand_is_empty_because_somebody_took_the_can(subtasks: PhysicalSubtasks) -> None:
    take_can(subtasks)
    with subtasks.disturbed(pull_down(CAN)):
        subtasks.world.tick(100)
    assert subtasks.world.held == ""
    failure = subtasks.run("Put", "green_can", "brown_table")
    fails(subtasks, failure, ErrorCode.HAND_EMPTY, "Unable to put, the hand is empty")


def test_l3_what_is_to_be_picked_is_in_a_closed_fridge(subtasks: PhysicalSubtasks) -> None:
    goes_well(subtasks.run("Go to", "fridge"))
    failure = subtasks.run("Pick", "orange")
    sentence = "Unable to pick, the fridge is closed, you should open it first"
    fails(subtasks, failure, ErrorCode.CONTAINER_CLOSED, sentence)


def test_l3_a_fridge_that_is_closed_takes_nothing(subtasks: PhysicalSubtasks) -> None:
    take_can(subtasks)
    goes_well(subtasks.run("Go to", "fridge"))
    failure = subtasks.run("Put", "green_can", "fridge")
    sentence = "Unable to put, the fridge is closed, you should open it first"
    fails(subtasks, failure, ErrorCode.CONTAINER_CLOSED, sentence, ("green_can",))


def test_l4_a_sofa_does_not_open(subtasks: PhysicalSubtasks) -> None:
    goes_well(subtasks.run("Go to", "sofa"))
    failure = subtasks.run("Open", "sofa")
    fails(subtasks, failure, ErrorCode.NOT_INTERACTIVE, "Can not open sofa! Please choose another object")


def test_d1_the_can_is_in_another_room(subtasks: PhysicalSubtasks) -> None:
    failure = subtasks.run("Pick", "green_can")
    fails(subtasks, failure, ErrorCode.TOO_FAR, "Unable to pick, the target is far away")


def test_d2_the_base_has_run_into_the_fridge(subtasks: PhysicalSubtasks) -> None:
    goes_well(subtasks.run("Go to", "fridge"))
    x, y, yaw = subtasks.world.base_pose()
    ahead = np.arange(0.0, 0.6, 0.02)
    path = np.column_stack([x + ahead * math.cos(yaw), y + ahead * math.sin(yaw), np.full(len(ahead), yaw)])
    with pytest.raises(NavigationFailed, match=r"blocked|runs into fridge"):
        subtasks.robot.follow_path(path)
    failure = subtasks.run("Open", "fridge")
    fails(subtasks, failure, ErrorCode.TOO_CLOSE, "Unable to open, the target is too close")


@pytest.mark.parametrize(("action", "model", "name"), [("Grab", "M3", "Grab"), ("Pick", "GraspNet", "GraspNet")])
def test_f1_nothing_moves_for_what_is_not_in_the_list(
    subtasks: PhysicalSubtasks, action: str, model: str, name: str
) -> None:
    goes_well(subtasks.run("Go to", "brown_table"))
    before = subtasks.world.stamp
    failure = subtasks.run(action, "green_can", model=model)
    assert subtasks.world.stamp == before
    sentence = f"{name} is not in the action list! You should only choose actions in the list."
    fails(subtasks, failure, ErrorCode.NOT_IN_LIST, sentence)


def test_f2_no_pear_is_in_this_house(subtasks: PhysicalSubtasks) -> None:
    failure = subtasks.run("Go to", "pear")
    fails(subtasks, failure, ErrorCode.UNKNOWN_TARGET, "pear does not exist! Please choose another object")


def test_e1_a_drawer_that_a_box_jams(subtasks: PhysicalSubtasks) -> None:
    """A cracker box stands behind the drawer's front and sticks out: the counter's edge holds it, and it the drawer."""
    world = subtasks.world
    goes_well(subtasks.run("Go to", DRAWER))
    goes_well(subtasks.run("Open", DRAWER))
    drawer = world.world_state()[DRAWER]
    front, middle = drawer.position[1], drawer.box_center
    move_object(world, "cracker_box_1", (middle[0], front + 0.06, middle[2] + 0.05), yaw=math.pi / 2)
    world.tick(100)
    assert world.world_state()["cracker_box_1"].parent == DRAWER
    failure = subtasks.run("Close", DRAWER)
    fails(subtasks, failure, ErrorCode.TOO_DIFFICULT, "Unable to close, the subtask is too difficult to perform")
    assert f"{DRAWER} is still open to" in failure.detail
    assert any(incident.startswith("stall: ") for incident in subtasks.incidents)
    assert world.world_state()["cracker_box_1"].parent == DRAWER


def test_e1_a_can_that_is_drawn_away_from_between_the_fingers(subtasks: PhysicalSubtasks) -> None:
    goes_well(subtasks.run("Go to", "brown_table"))
    with subtasks.disturbed(draw_away(CAN)):
        failure = subtasks.run("Pick", "green_can")
    fails(subtasks, failure, ErrorCode.TOO_DIFFICULT, "Unable to pick, the subtask is too difficult to perform")
    assert "the hand holds nothing" in failure.detail


def test_e1_a_box_that_is_too_wide_for_the_hand() -> None:
    """Every try brings the hand to it, and the fingers close on nothing."""
    subtasks = PhysicalSubtasks(DisturbedWorld(load_house("house_5")))
    goes_well(subtasks.run("Go to", "storage_box"))
    begin = subtasks.world.time
    failure = subtasks.run("Pick", "storage_box")
    assert failure.attempts == ATTEMPT_LIMIT
    assert subtasks.world.time - begin > 5.0 * ATTEMPT_LIMIT
    assert "GraspFailed: the fingers closed" in failure.detail
    assert subtasks.world.world_state()["storage_box_1"].parent == "white_desk"
    fails(subtasks, failure, ErrorCode.TOO_DIFFICULT, "Unable to pick, the subtask is too difficult to perform")


def test_e1_an_open_door_in_the_only_way() -> None:
    barred, free = (House.model_validate({**NARROW, "open": opened}) for opened in (["fridge"], []))
    subtasks = PhysicalSubtasks(DisturbedWorld(barred))
    failure = subtasks.run("Go to", "sofa")
    fails(subtasks, failure, ErrorCode.TOO_DIFFICULT, "Unable to go to, the subtask is too difficult to perform")
    assert "NoPath" in failure.detail
    goes_well(PhysicalSubtasks(DisturbedWorld(free)).run("Go to", "sofa"))


def test_e1_a_base_that_is_held_fast(subtasks: PhysicalSubtasks) -> None:
    with subtasks.disturbed(hold_base):
        failure = subtasks.run("Go to", "sofa")
    fails(subtasks, failure, ErrorCode.TOO_DIFFICULT, "Unable to go to, the subtask is too difficult to perform")
    assert any("stall: BaseBlocked" in incident for incident in subtasks.incidents)


LOSSES: dict[str, tuple[Callable[[PhysicalSubtasks], Execution], str]] = {
    "put": (lambda subtasks: subtasks.run("Put", "green_can", "brown_table"), "put"),
    "carry": (lambda subtasks: subtasks.run("Go to", "sofa"), "go to"),
}


@pytest.mark.parametrize(("act", "verb"), LOSSES.values(), ids=LOSSES.keys())
def test_e2_the_can_is_pulled_out_of_the_hand(
    subtasks: PhysicalSubtasks, act: Callable[[PhysicalSubtasks], Execution], verb: str
) -> None:
    """The try stops with the motion in which the can is lost, and is not repeated."""
    take_can(subtasks)
    with subtasks.disturbed(pull_down(CAN)):
        failure = act(subtasks)
    assert failure.attempts == 1
    assert "ObjectLost" in failure.detail
    assert any(incident.startswith(f"loss: ObjectLost: {CAN}") for incident in subtasks.incidents)
    fails(subtasks, failure, ErrorCode.OBJECT_MISSING, f"Unable to {verb}, and the object is missing")


def test_the_base_runs_into_a_box_that_is_set_down_before_it(subtasks: PhysicalSubtasks) -> None:
    """It is light enough to be pushed along: no error, but the collision is told."""
    set_down: list[str] = []

    def push(world: MujocoWorld) -> None:
        x, y, yaw = world.base_pose()
        if not set_down and world.base_velocity()[0] > 0.5:
            set_down.append("cracker_box_1")
            move_object(world, "cracker_box_1", (x + 0.5 * math.cos(yaw), y + 0.5 * math.sin(yaw), 0.105))
            subtasks.take_stock()

    with subtasks.disturbed(push):
        goes_well(subtasks.run("Go to", "tv_stand"))
    assert set_down
    assert [incident for incident in subtasks.incidents if incident.startswith("collision: cracker_box_1 was pushed")]
    assert_consistent(subtasks.world)


@pytest.mark.parametrize(("name", "id"), [("green_can", CAN), ("blue_can", "master_chef_can_1")])
def test_e2_without_background_information_the_fingers_tell_that_a_can_is_gone(name: str, id: str) -> None:
    """Nobody looks at the world: neither for the verdict nor for the inventory. The blue can is nearly 9 cm wide."""
    blind = Checker(setting=Setting.NO_BACKGROUND_INFORMATION)
    subtasks = PhysicalSubtasks(DisturbedWorld(load_house("house_1")), blind)
    goes_well(subtasks.run("Go to", name))
    goes_well(subtasks.run("Pick", name))
    assert subtasks.inventory == (name,)
    with subtasks.disturbed(knock_out(id)):
        failure = subtasks.run("Go to", "sofa")
    assert "the fingers are shut on nothing" in failure.detail
    fails(subtasks, failure, ErrorCode.OBJECT_MISSING, "Unable to go to, and the object is missing")
