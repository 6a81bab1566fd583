"""Move the base as a differential drive does: forwards, backwards and turning, never sideways."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.commands.base import Code, Outcome

if TYPE_CHECKING:
    from homie_sim.world import MujocoWorld

ACCELERATION = 1.0
"""Metres per second squared."""

TURN_ACCELERATION = 2.5
"""Radians per second squared."""

BLOCKED_DISTANCE = 0.06
"""Metres that the base may be behind before it counts as blocked."""

BLOCKED_ANGLE = 0.12

_ARRIVED_DISTANCE = 0.002
_ARRIVED_ANGLE = 0.001
_LOADED_DISTANCE = 0.02
_LOADED_ANGLE = 0.03
"""What the arm's pull may leave between base and goal."""

_ARRIVAL_SECONDS = 0.6

_GAIN_ALONG = 2.0
"""Per second."""

_GAIN_ACROSS = 40.0
"""Per square metre: an offset is driven out within about half a metre."""

_GAIN_ABOUT = 2 * math.sqrt(_GAIN_ACROSS)
"""Radians per metre and radian: critical damping."""

_GAIN_ABOUT_STANDING = 1.0
"""Per second, also when only turning."""

Array = NDArray[np.float64]


@dataclass(slots=True)
class Wheels:
    """Where the wheels are to be: the pose that the commanded speeds add up to. The servos follow it."""

    x: float
    y: float
    yaw: float

    @classmethod
    def at_rest(cls, world: MujocoWorld) -> Wheels:
        """Where the base is now."""
        return cls(*world.base_position())

    def drive(self, world: MujocoWorld, speed: float, turn: float) -> None:
        """Roll on for one tick with these speeds, within the robot's limits."""
        speed = float(np.clip(speed, -fetch.MAX_BASE_SPEED, fetch.MAX_BASE_SPEED))
        turn = float(np.clip(turn, -fetch.MAX_BASE_TURN_SPEED, fetch.MAX_BASE_TURN_SPEED))
        period = world.control_period
        middle = self.yaw + 0.5 * turn * period
        self.x += speed * period * math.cos(middle)
        self.y += speed * period * math.sin(middle)
        self.yaw += turn * period
        velocity = (speed * math.cos(self.yaw), speed * math.sin(self.yaw), turn)
        for joint, position, rate in zip(fetch.BASE_JOINTS, (self.x, self.y, self.yaw), velocity, strict=True):
            world.set_target(joint, position, rate)

    def lag(self, world: MujocoWorld) -> tuple[float, float]:
        """How far the base is from where the wheels want it: metres, radians."""
        x, y, yaw = world.base_position()
        return math.hypot(self.x - x, self.y - y), abs(self.yaw - yaw)


@dataclass(frozen=True, slots=True)
class DrivePlan:
    """Pose and speeds of the base at every control tick: ``poses`` (n, 3) with unwrapped yaw, ``speeds`` (n, 2)."""

    poses: Array
    speeds: Array


class Driver:
    """Follows a :class:`DrivePlan`; shared by the commands for the base."""

    def __init__(self, world: MujocoWorld, plan: DrivePlan) -> None:
        self._plan = plan
        self._wheels = Wheels.at_rest(world)
        self._tick = 0

    def update(self, world: MujocoWorld) -> Outcome | None:
        """One tick along the plan; success when the base stands at its end."""
        distance, angle = self._wheels.lag(world)
        if distance > BLOCKED_DISTANCE or angle > BLOCKED_ANGLE:
            halt(world)
            return Outcome(
                Code.FAILED_TO_MAKE_PROGRESS,
                f"the base is blocked: {distance:.3f} m, {angle:.3f} rad behind its wheels",
            )
        late = self._tick - len(self._plan.poses)
        if late >= 0:
            if distance < _ARRIVED_DISTANCE and angle < _ARRIVED_ANGLE:
                return Outcome(Code.SUCCESSFUL)
            if late * world.control_period > _ARRIVAL_SECONDS:
                if distance < _LOADED_DISTANCE and angle < _LOADED_ANGLE:
                    return Outcome(Code.SUCCESSFUL)
                return Outcome(Code.FAILED_TO_MAKE_PROGRESS, f"the base stops {distance:.3f} m short of its goal")
            self._wheels.drive(world, 0.0, 0.0)
        else:
            self._wheels.drive(world, *self._law(self._plan.poses[self._tick], self._plan.speeds[self._tick]))
        self._tick += 1
        return None

    def _law(self, pose: Array, speeds: Array) -> tuple[float, float]:
        """Kanayama's law: planned speeds, corrected by what the wheels are off the planned pose at the tick's start."""
        speed, turn = speeds.tolist()
        dx, dy = pose[0] - self._wheels.x, pose[1] - self._wheels.y
        cosine, sine = math.cos(self._wheels.yaw), math.sin(self._wheels.yaw)
        along, across = cosine * dx + sine * dy, cosine * dy - sine * dx
        about = math.remainder(pose[2] - self._wheels.yaw, 2 * math.pi)
        corrected_speed = speed * math.cos(about) + _GAIN_ALONG * along
        gain_about = _GAIN_ABOUT * abs(speed) + _GAIN_ABOUT_STANDING
        corrected_turn = turn + speed * _GAIN_ACROSS * across + gain_about * math.sin(about)
        return corrected_speed, corrected_turn


def halt(world: MujocoWorld) -> None:
    """Stand still here."""
    for joint, position in zip(fetch.BASE_JOINTS, world.base_position(), strict=True):
        world.set_target(joint, position)


def ramp(length: float, top_speed: float, acceleration: float, period: float) -> Array:
    """Distances from 0 to ``length`` at ticks 0, 1, ..., speeding up and slowing down evenly; (n,), n at least 2."""
    peak = min(top_speed, math.sqrt(length * acceleration))
    ramp_time = peak / acceleration
    total = length / peak + ramp_time if peak > 0 else 0.0
    ticks = max(1, math.ceil(total / period - 1e-9))
    # Stretched to whole ticks, which only slows it.
    times = np.linspace(0, total, ticks + 1)
    accelerating = 0.5 * acceleration * np.minimum(times, ramp_time) ** 2
    cruising = peak * np.clip(times - ramp_time, 0, max(0.0, total - 2 * ramp_time))
    braking = np.clip(times - (total - ramp_time), 0, None)
    return np.minimum(accelerating + cruising + peak * braking - 0.5 * acceleration * braking**2, length)


def plan_from_poses(poses: Array, period: float) -> DrivePlan:
    """The plan that is at ``poses`` (n, 3; unwrapped yaw) at ticks 0, 1, ..."""
    steps = np.diff(poses, axis=0)
    middle = poses[:-1, 2] + 0.5 * steps[:, 2]
    forward = steps[:, 0] * np.cos(middle) + steps[:, 1] * np.sin(middle)
    return DrivePlan(poses[:-1], np.column_stack([forward, steps[:, 2]]) / period)
