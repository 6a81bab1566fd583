"""Follow a trajectory of joint positions, as the arm's and the head's controllers do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from homie_core import fetch
from homie_sim.commands.base import Code, Outcome, Part

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld

PATH_TOLERANCE = 0.25
"""Radians that a joint may be away from its trajectory on the way."""

GOAL_TOLERANCE = 0.02
"""Radians at the end."""

TORSO_PATH_TOLERANCE = 0.05
TORSO_GOAL_TOLERANCE = 0.01
GOAL_TIME_TOLERANCE = 1.0
"""Seconds after the last point within which the goal must be reached."""

_LIMIT_SLACK = 1e-3
_SPEED_SLACK = 1.10

Array = NDArray[np.float64]


class JointTrajectoryCommand:
    """Positions at times, joined by straight lines, or by cubic splines where velocities are given.

    The first point is reached from wherever the joints are; a first point at time 0 must be where they are.
    """

    def __init__(
        self, joints: Sequence[str], positions: ArrayLike, times: ArrayLike, velocities: ArrayLike | None = None
    ) -> None:
        """Take the trajectory as it is; ``start`` checks it.

        Args:
            joints: ROS names, of the arm with torso or of the head.
            positions: (n, j), radians; metres for the torso.
            times: (n,), seconds from the start, rising.
            velocities: (n, j) at the points, or None.
        """
        self._joints = tuple(joints)
        self._positions = np.asarray(positions, dtype=float)
        self._times = np.asarray(times, dtype=float)
        self._velocities = None if velocities is None else np.asarray(velocities, dtype=float)
        self._begin = 0.0
        self.part = Part.HEAD if set(self._joints) <= set(fetch.HEAD_JOINTS) else Part.ARM

    def start(self, world: MujocoWorld) -> Outcome | None:
        """Refuse an ill-formed or impossible trajectory."""
        refusal = self._refusal_of_shape()
        if refusal is not None:
            return refusal
        self._begin = world.time
        self._prepend(world)
        return self._refusal_of_limits()

    def update(self, world: MujocoWorld) -> Outcome | None:
        """Steer to where the joints are to be at the end of the coming tick."""
        elapsed = world.time - self._begin
        wanted, _ = self._at(elapsed)
        errors = np.abs(self._measured(world) - wanted)
        end = float(self._times[-1])
        if elapsed < end and np.any(errors > self._tolerances(PATH_TOLERANCE, TORSO_PATH_TOLERANCE)):
            return self._fail(world, Code.PATH_TOLERANCE_VIOLATED, errors, "is off its path")
        if elapsed >= end - 1e-9 and np.all(errors <= self._tolerances(GOAL_TOLERANCE, TORSO_GOAL_TOLERANCE)):
            return Outcome(Code.SUCCESSFUL)
        if elapsed > end + GOAL_TIME_TOLERANCE:
            return self._fail(world, Code.GOAL_TOLERANCE_VIOLATED, errors, "has not reached its goal")
        target, velocity = self._at(elapsed + world.control_period)
        for joint, position, speed in zip(self._joints, target.tolist(), velocity.tolist(), strict=True):
            world.set_target(joint, position, speed)
        return None

    def stop(self, world: MujocoWorld) -> None:
        """Hold the joints where they are."""
        for joint, position in zip(self._joints, self._measured(world).tolist(), strict=True):
            world.set_target(joint, position)

    def _refusal_of_shape(self) -> Outcome | None:
        controlled = (*fetch.ARM_WITH_TORSO_JOINTS, *fetch.HEAD_JOINTS)
        unknown = [joint for joint in self._joints if joint not in controlled]
        if unknown or not self._joints or len(set(self._joints)) != len(self._joints):
            name = unknown[0] if unknown else ", ".join(self._joints) or "none"
            return Outcome(Code.INVALID_JOINTS, f"joints: {name!r}; allowed: {', '.join(controlled)}, each once")
        shape = (len(self._times), len(self._joints)) if self._times.ndim == 1 else (-1, -1)
        for name, values in (("positions", self._positions), ("velocities", self._velocities)):
            if values is not None and (values.shape != shape or not np.all(np.isfinite(values))):
                return Outcome(Code.INVALID_GOAL, f"{name}: shape {values.shape}; must be finite and {shape}")
        if not len(self._times) or self._times[0] < 0 or np.any(np.diff(self._times) <= 0):
            return Outcome(Code.INVALID_GOAL, "times: must rise from 0 and hold at least one point")
        return None

    def _prepend(self, world: MujocoWorld) -> None:
        """Begin at the present position; continuous joints take the nearest turn."""
        present = self._measured(world)
        for column, joint in enumerate(self._joints):
            if math.isinf(fetch.JOINT_LIMITS[joint][1]):
                gap = self._positions[0, column] - present[column]
                self._positions[:, column] -= gap - math.remainder(gap, 2 * math.pi)
        if self._times[0] > 0:
            self._times = np.concatenate([[0.0], self._times])
            self._positions = np.vstack([present, self._positions])
            if self._velocities is not None:
                self._velocities = np.vstack([np.zeros(len(self._joints)), self._velocities])

    def _refusal_of_limits(self) -> Outcome | None:
        for column, joint in enumerate(self._joints):
            low, high = fetch.JOINT_LIMITS[joint]
            values = self._positions[1:, column]
            if len(values) and (values.min() < low - _LIMIT_SLACK or values.max() > high + _LIMIT_SLACK):
                worst = values.min() if values.min() < low else values.max()
                return Outcome(Code.INVALID_GOAL, f"{joint}: position {worst:.3f}; allowed {low:.3f} to {high:.3f}")
            speeds = np.abs(np.diff(self._positions[:, column])) / np.diff(self._times)
            fastest, limit = float(speeds.max(initial=0)), fetch.VELOCITY_LIMITS[joint]
            if fastest > limit * _SPEED_SLACK:
                return Outcome(Code.INVALID_GOAL, f"{joint}: speed {fastest:.2f}; allowed up to {limit:.2f}")
        return None

    def _at(self, elapsed: float) -> tuple[Array, Array]:
        """Positions and velocities at a time since the start."""
        if elapsed >= self._times[-1]:
            return self._positions[-1], np.zeros(len(self._joints))
        index = max(0, int(np.searchsorted(self._times, elapsed, side="right")) - 1)
        span = self._times[index + 1] - self._times[index]
        part = (elapsed - self._times[index]) / span
        first, last = self._positions[index], self._positions[index + 1]
        if self._velocities is None:
            return first + part * (last - first), (last - first) / span
        return _hermite(first, last, self._velocities[index] * span, self._velocities[index + 1] * span, part, span)

    def _measured(self, world: MujocoWorld) -> Array:
        positions = world.joint_positions()
        return np.array([positions[joint] for joint in self._joints])

    def _tolerances(self, angle: float, length: float) -> Array:
        return np.array([length if joint == fetch.TORSO_JOINT else angle for joint in self._joints])

    def _fail(self, world: MujocoWorld, code: Code, errors: Array, what: str) -> Outcome:
        self.stop(world)
        worst = int(errors.argmax())
        return Outcome(code, f"{self._joints[worst]} {what} by {errors[worst]:.3f}")


def _hermite(
    first: Array, last: Array, first_slope: Array, last_slope: Array, part: float, span: float
) -> tuple[Array, Array]:
    """Cubic through two points with given slopes (per segment); value and velocity at ``part`` of the way."""
    change = last - first
    a = 2 * -change + first_slope + last_slope
    b = 3 * change - 2 * first_slope - last_slope
    value = first + part * (first_slope + part * (b + part * a))
    return value, (first_slope + part * (2 * b + part * 3 * a)) / span
