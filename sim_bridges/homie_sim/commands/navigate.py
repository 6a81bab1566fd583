"""Drive to a pose round obstacles, as nav2_msgs/NavigateToPose does."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.commands.base import Code, Outcome, Part
from homie_sim.commands.drive import ACCELERATION, TURN_ACCELERATION, Driver, halt, plan_from_poses, ramp
from homie_sim.path_planner import Point, plan_path

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld

SPEED = 0.8
"""Metres per second on a straight piece; the robot could do 1.0."""

TURN_SPEED = 1.4

_TIMEOUT_FACTOR = 2.0
_TIMEOUT_SLACK = 5.0
_REVERSE_DISTANCE = 0.5
_REVERSE_ANGLE = 0.75 * math.pi

Array = NDArray[np.float64]


class NavigateCommand:
    """Turns on the spot and straight pieces between the corners of a planned way, then the final heading."""

    part = Part.BASE

    def __init__(self, x: float, y: float, yaw: float, timeout: float | None = None) -> None:
        """``timeout`` in seconds of simulation; by default twice the planned time and 5 s."""
        self._goal = (x, y)
        self._yaw = yaw
        self._timeout = timeout
        self._deadline = math.inf
        self._driver: Driver | None = None
        self.path: list[Point] = []
        """Corners of the planned way."""

    def start(self, world: MujocoWorld) -> Outcome | None:
        """Plan on the house as it is now."""
        if not all(map(math.isfinite, (*self._goal, self._yaw))):
            return Outcome(Code.NO_VALID_PATH, f"goal: {self._goal}, {self._yaw}; must be finite")
        x, y, yaw = world.base_position()
        path = plan_path(world.occupancy(), (x, y), self._goal)
        if path is None:
            return Outcome(
                Code.NO_VALID_PATH, f"no way from ({x:.2f}, {y:.2f}) to ({self._goal[0]:.2f}, {self._goal[1]:.2f})"
            )
        self.path = path
        poses = turn_and_drive(path, yaw, self._yaw, world.control_period)
        self._driver = Driver(world, plan_from_poses(poses, world.control_period))
        planned = len(poses) * world.control_period
        self._deadline = world.time + (self._timeout or _TIMEOUT_FACTOR * planned + _TIMEOUT_SLACK)
        return None

    def update(self, world: MujocoWorld) -> Outcome | None:
        """One tick along the way."""
        if self._driver is None:
            return Outcome(Code.NO_VALID_PATH, "not started")
        if world.time > self._deadline:
            halt(world)
            return Outcome(Code.TIMEOUT, "the time for this way is over")
        return self._driver.update(world)

    def stop(self, world: MujocoWorld) -> None:
        """Stand still."""
        halt(world)


def turn_and_drive(path: list[Point], yaw: float, final_yaw: float, period: float) -> Array:
    """Poses (n, 3) at every tick: at each corner turn to the next one and drive there; last, turn to ``final_yaw``."""
    pieces = [np.array([[*path[0], yaw]])]
    for start, end in pairwise(path):
        distance = math.dist(start, end)
        bearing = math.atan2(end[1] - start[1], end[0] - start[0])
        if distance < 1e-4:
            continue
        # A short step back to a point just behind is driven in reverse.
        behind = abs(math.remainder(bearing - yaw, 2 * math.pi)) > _REVERSE_ANGLE
        reverse = behind and distance < _REVERSE_DISTANCE
        heading = bearing + math.pi if reverse else bearing
        pieces.append(_turn(start, yaw, heading, period))
        yaw = float(pieces[-1][-1, 2])
        share = ramp(distance, min(SPEED, fetch.MAX_BASE_SPEED), ACCELERATION, period)[1:, None] / distance
        pieces.append(
            np.hstack([np.array(start) + share * (np.array(end) - np.array(start)), np.full_like(share, yaw)])
        )
    pieces.append(_turn(path[-1], yaw, final_yaw, period))
    return np.vstack(pieces)


def _turn(point: Point, yaw: float, heading: float, period: float) -> Array:
    """Turn on the spot the shorter way round; the first row is the pose after one tick."""
    change = math.remainder(heading - yaw, 2 * math.pi)
    if abs(change) < 1e-6:
        return np.array([[*point, yaw]])
    angles = ramp(abs(change), min(TURN_SPEED, fetch.MAX_BASE_TURN_SPEED), TURN_ACCELERATION, period)[1:]
    return np.column_stack(
        [np.full(len(angles), point[0]), np.full(len(angles), point[1]), yaw + np.copysign(angles, change)]
    )
