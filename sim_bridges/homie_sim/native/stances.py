"""Stands the robot at one place after the other until one does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from homie_sim.native import standing
from homie_sim.native.editor import Editor
from homie_sim.native.standing import Floor, Pose
from homie_sim.world import MujocoWorld

LOWEST_REACH, HIGHEST_REACH = -0.1, 1.5
"""Heights above the floor, metres."""

_FACING = 1.2
_POSES = 40


class Stances:
    """Places of one world. An iterator moves the robot each time it is asked: leave it where the robot is to stay."""

    def __init__(self, world: MujocoWorld, editor: Editor) -> None:
        self._world = world
        self._editor = editor

    def stand_at_one(self, poses: Sequence[Pose]) -> bool:
        """Stand at the first of ``poses`` where nothing is in the way; False, and nothing changed, if there is none."""
        start = self._world.snapshot()
        if next(self.each(poses), None) is not None:
            return True
        self._world.restore(start)
        return False

    def within_reach(self, point: Sequence[float]) -> Iterator[Pose]:
        """Stand where the hand reaches ``point`` (3, map); here first."""
        around = standing.around(Floor(self._world), (point[0], point[1]))
        for pose in self.each(self.with_here(around, point, standing.FURTHEST_REACH)):
            if LOWEST_REACH <= point[2] - self._editor.base_height() <= HIGHEST_REACH:
                yield pose

    def with_here(self, poses: list[Pose], point: Sequence[float], reach: float) -> list[Pose]:
        """``poses``, and before them the present one if the arm reaches ``point`` from it."""
        x, y, yaw = here = self._world.base_pose()
        distance = math.hypot(point[0] - x, point[1] - y)
        bearing = math.remainder(math.atan2(point[1] - y, point[0] - x) - yaw, math.tau)
        fine = standing.NEAREST_REACH <= distance <= reach and abs(bearing) < _FACING
        return [here, *poses] if fine else poses

    def each(self, poses: Sequence[Pose]) -> Iterator[Pose]:
        """Stand at those poses where nothing is in the way; before each, the world is as at the start."""
        start = self._world.snapshot()
        for pose in poses[:_POSES]:
            self._world.restore(start)
            self._editor.stand(pose)
            if not self._editor.obstacle():
                yield pose
