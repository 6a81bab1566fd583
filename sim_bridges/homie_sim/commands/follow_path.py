"""Drive along a given path of poses, forwards or backwards, as nav2_msgs/FollowPath does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from homie_core import fetch
from homie_sim.commands.base import Code, Outcome, Part
from homie_sim.commands.drive import ACCELERATION, Driver, halt, plan_from_poses, ramp

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld

SPEED = 0.25
"""Metres per second, unless times are given."""

TURN_SPEED = 0.5

START_TOLERANCE = 0.05
"""Metres that the base may be away from the path's first pose."""

START_ANGLE_TOLERANCE = 0.10

_SIDEWAYS_SHARE = 0.05
_SIDEWAYS_SLACK = 0.002

Array = NDArray[np.float64]


class FollowPathCommand:
    """Poses (n, 3) of x, y, yaw that a differential drive can follow: straight steps, arcs, and turns on the spot.

    ``times`` (n,), seconds from the start, fix when each pose is passed; without them the base drives at ``speed``.
    """

    part = Part.BASE

    def __init__(self, poses: ArrayLike, times: ArrayLike | None = None, speed: float = SPEED) -> None:
        self._poses = np.array(poses, dtype=float)
        self._times = None if times is None else np.asarray(times, dtype=float)
        self._speed = speed
        self._driver: Driver | None = None

    def start(self, world: MujocoWorld) -> Outcome | None:
        """Refuse a path that the base cannot follow or does not stand at the start of."""
        refusal = self._refusal(world)
        if refusal is not None:
            return refusal
        yaw = world.base_position()[2]
        self._poses[:, 2] = np.unwrap(self._poses[:, 2])
        self._poses[:, 2] += yaw - self._poses[0, 2] + math.remainder(self._poses[0, 2] - yaw, 2 * math.pi)
        self._driver = Driver(world, plan_from_poses(self._sampled(world.control_period), world.control_period))
        return None

    def update(self, world: MujocoWorld) -> Outcome | None:
        """One tick along the path."""
        return Outcome(Code.INVALID_PATH, "not started") if self._driver is None else self._driver.update(world)

    def stop(self, world: MujocoWorld) -> None:
        """Stand still."""
        halt(world)

    def _refusal(self, world: MujocoWorld) -> Outcome | None:
        poses, times = self._poses, self._times
        if poses.ndim != 2 or poses.shape[1] != 3 or len(poses) < 2 or not np.all(np.isfinite(poses)):
            return Outcome(Code.INVALID_PATH, f"poses: shape {poses.shape}; must be finite and (n, 3), n at least 2")
        if times is not None and (times.shape != (len(poses),) or np.any(np.diff(times) <= 0)):
            return Outcome(Code.INVALID_PATH, f"times: must rise, one for each of {len(poses)} poses")
        x, y, yaw = world.base_position()
        away = math.hypot(poses[0, 0] - x, poses[0, 1] - y)
        turned = abs(math.remainder(poses[0, 2] - yaw, 2 * math.pi))
        if away > START_TOLERANCE or turned > START_ANGLE_TOLERANCE:
            return Outcome(Code.INVALID_PATH, f"the path starts {away:.3f} m, {turned:.3f} rad from the base")
        return self._refusal_sideways()

    def _refusal_sideways(self) -> Outcome | None:
        steps = np.diff(self._poses, axis=0)
        turns = np.remainder(steps[:, 2] + math.pi, 2 * math.pi) - math.pi
        middle = self._poses[:-1, 2] + 0.5 * turns
        sideways = np.abs(steps[:, 1] * np.cos(middle) - steps[:, 0] * np.sin(middle))
        allowed = _SIDEWAYS_SHARE * np.hypot(steps[:, 0], steps[:, 1]) + _SIDEWAYS_SLACK
        worst = int(np.argmax(sideways - allowed))
        if sideways[worst] > allowed[worst]:
            return Outcome(Code.INVALID_PATH, f"poses.{worst + 1}: {sideways[worst]:.3f} m sideways; the base cannot")
        return None

    def _sampled(self, period: float) -> Array:
        """The path's pose at every tick."""
        if self._times is not None:
            knots = self._times - self._times[0]
            ticks = np.arange(math.ceil(knots[-1] / period - 1e-9) + 1) * period
            return _interpolate(knots, self._poses, ticks)
        steps = np.diff(self._poses, axis=0)
        # A path parameter in metres in which turning counts as the distance driven in the same time.
        weights = np.maximum(np.hypot(steps[:, 0], steps[:, 1]), np.abs(steps[:, 2]) * self._speed / TURN_SPEED)
        knots = np.concatenate([[0.0], np.cumsum(np.maximum(weights, 1e-9))])
        top = min(self._speed, fetch.MAX_BASE_SPEED)
        return _interpolate(knots, self._poses, ramp(float(knots[-1]), top, 0.5 * ACCELERATION, period))


def _interpolate(knots: Array, poses: Array, at: Array) -> Array:
    return np.column_stack([np.interp(at, knots, poses[:, column]) for column in range(3)])
