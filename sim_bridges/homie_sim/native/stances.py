"""Stands the robot at one place after the other until one does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

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

    def stand_at_one(self, poses: Iterable[Pose]) -> bool:
        """Stand at the first of ``poses`` where nothing is in the way; False, and nothing changed, if there is none."""
        return next(self.each(poses), None) is not None

    def within_reach(self, point: Sequence[float]) -> Iterator[Pose]:
        """Stand where the hand reaches ``point`` (3, map); here first."""
        poses = self.here_first(point, standing.FURTHEST_REACH, lambda floor: standing.around(floor, point))
        for pose in self.each(poses):
            if LOWEST_REACH <= point[2] - self._editor.base_height() <= HIGHEST_REACH:
                yield pose

    def here_first(
        self, point: Sequence[float], reach: float, elsewhere: Callable[[Floor], list[Pose]]
    ) -> Iterator[Pose]:
        """The present pose if the arm reaches ``point`` from it; then those of ``elsewhere``, which is asked late."""
        x, y, yaw = self._world.base_pose()
        distance = math.hypot(point[0] - x, point[1] - y)
        bearing = math.remainder(math.atan2(point[1] - y, point[0] - x) - yaw, math.tau)
        if standing.NEAREST_REACH <= distance <= reach and abs(bearing) < _FACING:
            yield x, y, yaw
        yield from elsewhere(Floor(self._world))

    def each(self, poses: Iterable[Pose]) -> Iterator[Pose]:
        """Stand at those poses where nothing is in the way; before each, and at the end, the world is as at the start.

        It is so too when ``poses`` is asked for the next one.
        """
        start = self._world.snapshot()
        candidates = itertools.islice(poses, _POSES)
        while True:
            self._world.restore(start)
            pose = next(candidates, None)
            if pose is None:
                return
            self._editor.stand(pose)
            if not self._editor.obstacle():
                yield pose
