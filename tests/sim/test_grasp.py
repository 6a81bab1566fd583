"""Holding by finger contact, with the assists that the model prepares."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from homie_core import fetch
from homie_core.world_state import GRIPPER
from homie_sim.commands import FollowPathCommand, GripperCommand, GripperOutcome, Outcome, run
from homie_sim.world import MujocoWorld

Array = NDArray[np.float64]
Reach = Callable[[MujocoWorld, Array, Array, float], Outcome]

DOWN = np.array([[0.0, 1, 0], [0, 0, -1], [-1, 0, 0]])
"""Gripper pointing down, closing along the map's x axis."""

CAN = "potted_meat_can_1"


def stand(world: MujocoWorld, x: float, y: float, torso: float = 0.3) -> None:
    """Put the robot somewhere facing north, hand in front, gripper open."""
    base = {"base_x": x, "base_y": y, "base_yaw": math.pi / 2}
    world.set_joint_positions({**fetch.READY_ARM, fetch.TORSO_JOINT: torso, **base})
    gripper(world, fetch.MAX_OPENING)


def gripper(world: MujocoWorld, opening: float, effort: float = 40.0) -> GripperOutcome:
    (outcome,) = run(world, GripperCommand(opening, effort))
    assert isinstance(outcome, GripperOutcome) and outcome.ok
    return outcome


@pytest.fixture
def holding(world: MujocoWorld, reach: Reach) -> MujocoWorld:
    """A world in which the hand has closed on the can on the table."""
    can = np.array(world.world_state()[CAN].position)
    stand(world, can[0], 0.98)
    assert reach(world, can + np.array([0, 0, 0.18]), DOWN, 3.0).ok
    assert reach(world, can + np.array([0, 0, 0.02]), DOWN, 2.0).ok
    outcome = gripper(world, 0.0)
    assert outcome.stalled and not outcome.reached_goal
    assert outcome.opening == pytest.approx(0.066, abs=0.006)
    return world


def test_a_can_is_lifted_and_held(holding: MujocoWorld, reach: Reach) -> None:
    assert holding.held == CAN and holding.grasp.assisted
    can = np.array(holding.world_state()[CAN].position)
    assert reach(holding, can + np.array([0, 0, 0.18]), DOWN, 2.0).ok
    holding.tick(200)
    state = holding.world_state()
    assert state.held == CAN and state[CAN].parent == GRIPPER
    assert state[CAN].position[2] > can[2] + 0.14


def test_opening_lets_go(holding: MujocoWorld) -> None:
    gripper(holding, fetch.MAX_OPENING)
    holding.tick(50)
    state = holding.world_state()
    assert state.held == "" and state[CAN].parent == "brown_table" and not holding.grasp.assisted


def test_a_body_that_is_dragged_away_slips(holding: MujocoWorld, reach: Reach) -> None:
    can = np.array(holding.world_state()[CAN].position)
    assert reach(holding, can + np.array([0, 0, 0.18]), DOWN, 2.0).ok
    body = holding.model.body(CAN).id
    holding.data.xfrc_applied[body] = (0, 0, -3000, 0, 0, 0)
    holding.tick(10)
    holding.data.xfrc_applied[body] = 0
    holding.tick(50)
    assert not holding.grasp.assisted and holding.held == ""


def test_fingers_close_when_what_was_between_them_is_torn_out(holding: MujocoWorld, reach: Reach) -> None:
    can = np.array(holding.world_state()[CAN].position)
    assert reach(holding, can + np.array([0, 0, 0.18]), DOWN, 2.0).ok
    holding.tick(100)
    assert holding.opening() == pytest.approx(0.066, abs=0.006)
    body = holding.model.body(CAN).id
    holding.data.xfrc_applied[body] = (0, 0, -3000, 0, 0, 0)
    holding.tick(100)
    assert holding.held == "" and holding.opening() < 0.005


def test_closing_on_nothing_holds_nothing(world: MujocoWorld) -> None:
    stand(world, 3.0, 1.5)
    outcome = gripper(world, 0.0)
    assert outcome.reached_goal and not outcome.stalled
    assert world.held == ""


def test_a_reset_forgets_the_grasp(holding: MujocoWorld) -> None:
    holding.reset(seed=1)
    assert holding.held == "" and not holding.grasp.assisted
    assert holding.world_state()[CAN].parent == "brown_table"


@pytest.mark.parametrize(
    ("container", "x", "distance", "opened"),
    [("kitchen_counter/drawer_2", 2.89, 0.30, 0.6), ("fridge", 2.05, 0.15, 0.1)],
)
def test_a_handle_is_pulled(
    world: MujocoWorld, reach: Reach, container: str, x: float, distance: float, opened: float
) -> None:
    stand(world, x, 3.0, torso=0.1)
    handle = world.data.site(f"{container}/handle")
    outward, bar = handle.xmat.reshape(3, 3)[:, 0].copy(), handle.xmat.reshape(3, 3)[:, 2].copy()
    closing = np.cross(bar, -outward)
    rotation = np.column_stack([-outward, closing, np.cross(-outward, closing)])
    reach(world, handle.xpos + 0.12 * outward, rotation, 3.0)
    assert reach(world, handle.xpos.copy(), rotation, 2.0).ok
    gripper(world, 0.0, 50.0)
    assert world.grasp.assisted and world.held == ""
    start_x, start_y, yaw = world.base_pose()
    back = np.linspace(0, distance, 10)
    path = np.column_stack([start_x - back * math.cos(yaw), start_y - back * math.sin(yaw), np.full(10, yaw)])
    assert run(world, FollowPathCommand(path))[0].ok
    assert world.readout.open_fraction(world.data, container) > opened
    gripper(world, fetch.MAX_OPENING)
    assert not world.grasp.assisted
