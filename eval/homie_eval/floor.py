"""The floor of an episode as the report draws it: the occupancy grid, where the base drove, and what it had planned.

Read from the topics ``map``, ``odom`` and ``plan``. Drawn as SVG paths in units of cells, x to the right, north up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homie_core.from_messages import planar_pose_from_msg, stamp_from_msg
from homie_eval.bag import EPISODE_INFO, Bag, BagError, Record

MAP = "map"
ODOMETRY = "odom"
PLAN = "plan"

ROBOT_RADIUS = 0.28
"""Metres: the base of a Fetch."""

LEAP = 0.5
"""Metres between two poses beyond which nothing was driven: an instant skill put the robot elsewhere."""

_OCCUPIED = 50
_STILL = 0.01
"""Metres; a shorter way is none."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Where the base was: simulation time in nanoseconds; metres and radians in the map's frame."""

    stamp: int
    x: float
    y: float
    yaw: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned way: when it was made, and its corners in the map's frame."""

    stamp: int
    corners: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class FloorMap:
    """``occupied``: bool (rows, columns), row 0 in the south; ``origin``: x, y of its south-west corner, metres."""

    occupied: NDArray[np.bool_]
    origin: tuple[float, float]
    resolution: float

    @property
    def view_box(self) -> str:
        """Of the SVG: one unit is one cell."""
        rows, columns = self.occupied.shape
        return f"0 0 {columns} {rows}"

    @property
    def robot_radius(self) -> float:
        """Radius of the base in cells."""
        return ROBOT_RADIUS / self.resolution

    def obstacles(self) -> str:
        """A path with a rectangle for each run of taken cells in a row."""
        rows = self.occupied.shape[0]
        parts = []
        for row, cells in enumerate(self.occupied):
            edges = np.flatnonzero(np.diff(np.concatenate([[False], cells, [False]]).astype(np.int8)))
            for begin, end in edges.reshape(-1, 2).tolist():
                parts.append(f"M{begin} {rows - 1 - row}h{end - begin}v1h{begin - end}z")
        return "".join(parts)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """A point of the map in the SVG."""
        rows = self.occupied.shape[0]
        return (x - self.origin[0]) / self.resolution, rows - (y - self.origin[1]) / self.resolution

    def line(self, points: Iterable[tuple[float, float]]) -> str:
        """A path along points of the map."""
        words = [f"{x:.1f} {y:.1f}" for x, y in (self.place(*point) for point in points)]
        return f"M{'L'.join(words)}" if len(words) > 1 else ""


@dataclass(frozen=True, slots=True)
class Way:
    """What the base did in some time: the poses, the first and the last included, and the plans made meanwhile."""

    poses: tuple[Pose, ...]
    plans: tuple[Plan, ...] = ()

    def stretches(self) -> Iterator[tuple[tuple[Pose, ...], bool]]:
        """The poses cut where the robot leapt; each piece with whether it is such a leap of two poses."""
        begin = 0
        for index in range(1, len(self.poses)):
            before, after = self.poses[index - 1 : index + 1]
            if math.hypot(after.x - before.x, after.y - before.y) > LEAP:
                yield self.poses[begin:index], False
                yield (before, after), True
                begin = index
        yield self.poses[begin:], False

    @property
    def length(self) -> float:
        """Metres driven, leaps left out."""
        return sum(_length(poses) for poses, leap in self.stretches() if not leap)

    @property
    def moved(self) -> bool:
        """Whether the base ended elsewhere, or drove at all."""
        return any(leap for _, leap in self.stretches()) or self.length > _STILL


@dataclass(slots=True)
class Floor:
    """The map of an episode, and all that the base did in it, in the order of time."""

    map: FloorMap | None = None
    poses: list[Pose] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)

    def way(self, begin: int | None = None, end: int | None = None) -> Way | None:
        """What happened after ``begin`` and until ``end`` (simulation time, nanoseconds), from where the base stood.

        None when nothing is known of the base.
        """
        first = 0 if begin is None else max((i for i, pose in enumerate(self.poses) if pose.stamp <= begin), default=0)
        poses = tuple(pose for pose in self.poses[first:] if end is None or pose.stamp <= end)
        plans = (plan for plan in self.plans if begin is None or plan.stamp >= begin)
        return Way(poses, tuple(plan for plan in plans if end is None or plan.stamp < end)) if poses else None

    def add_pose(self, pose: Pose) -> None:
        """Time that goes back is a reset: what was before is of another episode."""
        if self.poses and pose.stamp < self.poses[-1].stamp:
            self.poses.clear()
            self.plans.clear()
        self.poses.append(pose)


def read_floors(bag: Bag) -> dict[str, Floor]:
    """The floor of each episode in a bag, by its id.

    A reset comes before its episode is announced: so do the map and the first pose. Messages that cannot be read are
    left out.
    """
    now: dict[str, Floor] = {}
    found: dict[str, Floor] = {}
    for record in bag.records(EPISODE_INFO, MAP, ODOMETRY, PLAN):
        suffix = next(s for s in (EPISODE_INFO, MAP, ODOMETRY, PLAN) if record.topic.ends_with(s))
        namespace = record.topic.namespace(suffix)
        floor = now.setdefault(namespace, Floor())
        try:
            if suffix == EPISODE_INFO:
                floor = now[namespace] = Floor(floor.map, floor.poses[-1:])
                found[record.decode().episode_id] = floor
            else:
                _take(floor, suffix, record)
        except (BagError, ValueError):  # one message less to draw
            continue
    return found


def _take(floor: Floor, suffix: str, record: Record) -> None:
    if suffix == MAP:
        floor.map = floor_map(record.decode())
    elif suffix == PLAN:
        message = record.decode()
        corners = tuple((pose.pose.position.x, pose.pose.position.y) for pose in message.poses)
        floor.plans.append(Plan(stamp_from_msg(message), corners))
    elif not floor.poses or record.header_stamp() != floor.poses[-1].stamp:  # the last one is repeated while idle
        message = record.decode()
        floor.add_pose(Pose(stamp_from_msg(message), *planar_pose_from_msg(message.pose.pose)))


def floor_map(message: Any) -> FloorMap:
    """A ``nav_msgs/OccupancyGrid`` whose axes are those of the map.

    Raises:
        ValueError: its size does not fit its data, or its cells have none.
    """
    info = message.info
    cells = np.asarray(message.data, dtype=np.int16)
    if cells.size != info.height * info.width or not info.resolution > 0:
        raise ValueError(f"a map of {info.width} x {info.height} cells of {info.resolution} m with {cells.size} values")
    corner = info.origin.position
    grid = cells.reshape(info.height, info.width) >= _OCCUPIED
    return FloorMap(grid, (float(corner.x), float(corner.y)), float(info.resolution))


def _length(poses: Sequence[Pose]) -> float:
    return sum(math.hypot(after.x - before.x, after.y - before.y) for before, after in itertools.pairwise(poses))
