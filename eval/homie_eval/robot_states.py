"""The robot's own state over an episode, out of a bag, as rows of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homie_eval.bag import Bag
from homie_eval.episode_stream import episode_records

JOINT_STATES = "joint_states"
ODOMETRY = "odom"

JOINTS = (
    "torso_lift_joint",
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "upperarm_roll_joint",
    "elbow_flex_joint",
    "forearm_roll_joint",
    "wrist_flex_joint",
    "wrist_roll_joint",
    "head_pan_joint",
    "head_tilt_joint",
)
"""Of the Fetch; metres (torso) and radians."""

FINGERS = ("l_gripper_finger_joint", "r_gripper_finger_joint")

STATE_NAMES = (*JOINTS, "gripper_opening", "base_x", "base_y", "base_yaw")
"""What a row holds. The opening is the sum of both fingers' ways, metres; the base is in the frame of ``odom``, metres
and radians."""

Rows = NDArray[np.float32]
"""(times, len(STATE_NAMES))"""


class RobotStateError(ValueError):
    """The bag does not tell what state the robot was in. One line."""


@dataclass(frozen=True, slots=True)
class _Series:
    """Values by time: ``stamps`` (n,) nanoseconds, not decreasing; ``values`` (n, m)."""

    stamps: NDArray[np.int64]
    values: NDArray[np.float64]

    def at(self, times: Sequence[int]) -> NDArray[np.float64]:
        """The newest values at these times; before the first ones, those."""
        rows = np.searchsorted(self.stamps, np.asarray(times, dtype=np.int64), side="right") - 1
        return self.values[np.maximum(rows, 0)]


@dataclass(frozen=True, slots=True)
class RobotStates:
    """The robot over one episode."""

    _joints: _Series
    _base: _Series

    @property
    def stamps(self) -> tuple[Sequence[int], Sequence[int]]:
        """When there were joint states, and when odometry, nanoseconds of simulation time."""
        return self._joints.stamps.tolist(), self._base.stamps.tolist()

    def at(self, times: Sequence[int]) -> Rows:
        """A row for each time (nanoseconds of simulation time): the newest messages then."""
        return np.hstack([self._joints.at(times), self._base.at(times)]).astype(np.float32)


def read_robot_states(bag: Bag, episode_id: str) -> RobotStates:
    """The states of an episode.

    Raises:
        BagError: a message cannot be read.
        RobotStateError: there are no joint states, they lack a joint, or there is no odometry.
    """
    joints: list[tuple[int, list[float]]] = []
    for stamp, record in episode_records(bag, JOINT_STATES, episode_id):
        message = record.decode()
        positions = dict(zip(message.name, message.position, strict=False))
        missing = [name for name in (*JOINTS, *FINGERS) if name not in positions]
        if missing:
            raise RobotStateError(f"{record.topic.name} does not tell of {', '.join(missing)}")
        opening = sum(positions[name] for name in FINGERS)
        joints.append((stamp, [*(positions[name] for name in JOINTS), opening]))
    base: list[tuple[int, list[float]]] = []
    for stamp, record in episode_records(bag, ODOMETRY, episode_id):
        pose = record.decode().pose.pose
        x, y, z, w = (getattr(pose.orientation, axis) for axis in "xyzw")
        yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        base.append((stamp, [pose.position.x, pose.position.y, yaw]))
    return RobotStates(_series(joints, JOINT_STATES), _series(base, ODOMETRY))


def _series(rows: list[tuple[int, list[float]]], topic: str) -> _Series:
    if not rows:
        raise RobotStateError(f"its bag holds no {topic}")
    rows = sorted(rows, key=lambda row: row[0])  # stable: of equally old ones the last counts
    return _Series(np.array([stamp for stamp, _ in rows]), np.array([values for _, values in rows]))
