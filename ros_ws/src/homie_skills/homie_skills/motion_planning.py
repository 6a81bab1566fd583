"""Joint-space paths of torso and arm without collision: straight line, RRT-Connect, shortcuts.

Joint vectors are (8,) in the order of ``homie_core.fetch.ARM_WITH_TORSO_JOINTS``; paths are (n, 8). Random numbers come
from the generator that is passed in, and effort is bounded by iterations, so the same seed gives the same path.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from homie_core import fetch
from homie_skills.inverse_kinematics import joint_limits
from homie_skills.robot import FloatArray

IsFree = Callable[[FloatArray], bool]
"""Whether a joint vector (8,) is without collision."""

RESOLUTION = np.array([0.01, 0.03, 0.03, 0.04, 0.04, 0.06, 0.06, 0.1])
"""Largest step of a joint that moves alone between two collision checks; together they move less."""

CONTINUOUS = np.array([math.isinf(fetch.JOINT_LIMITS[name][1]) for name in fetch.ARM_WITH_TORSO_JOINTS])

RRT_ITERATIONS = 5000
SHORTCUT_ITERATIONS = 60

_WEIGHTS = 1.0 / np.array([fetch.VELOCITY_LIMITS[name] for name in fetch.ARM_WITH_TORSO_JOINTS])
_EXTENSION = 0.5
"""Length of one step of a tree, in weighted joint space (about seconds of motion)."""


def nearest_turn(joints: FloatArray, reference: FloatArray) -> FloatArray:
    """``joints`` with its continuous joints turned by whole turns to lie within pi of ``reference``."""
    turns = np.round((reference - joints) / (2 * math.pi))
    return np.where(CONTINUOUS, joints + 2 * math.pi * turns, joints)


def distance(first: FloatArray, second: FloatArray) -> FloatArray:
    """About the seconds that the slowest joints need from ``first`` to ``second``; broadcasts over leading axes."""
    return np.linalg.norm((first - second) * _WEIGHTS, axis=-1)


def densify(path: FloatArray) -> FloatArray:
    """``path`` with points added so that joints move by at most ``RESOLUTION`` between two."""
    pieces = [path[:1]]
    for start, end in itertools.pairwise(path):
        count = _steps(start, end)
        pieces.append(start + (end - start) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(pieces)


def edge_free(start: FloatArray, end: FloatArray, is_free: IsFree) -> bool:
    """Whether the straight line is free; both ends are taken to be. Looks at the middle first, then ever finer."""
    count = _steps(start, end)
    return all(is_free(start + (end - start) * (index / count)) for index in _bisection_order(count))


def plan(
    start: FloatArray,
    goals: Sequence[FloatArray],
    is_free: IsFree,
    rng: np.random.Generator,
    via: Sequence[FloatArray] = (),
    iterations: int = RRT_ITERATIONS,
) -> FloatArray | None:
    """A path from ``start`` to one of ``goals``, or None when none was found within the iterations.

    Straight lines are tried first, then lines over one of the ``via`` postures, then RRT-Connect with shortcuts.

    Args:
        start: (8,), taken to be free.
        goals: joint vectors (8,), best first; those in collision are dropped.
        is_free: collision check.
        rng: source of randomness.
        via: well-known postures that often lie between.
        iterations: bound on the growth of the trees.
    """
    free_goals = [goal for goal in (nearest_turn(goal, start) for goal in goals) if is_free(goal)]
    for goal in free_goals:
        if edge_free(start, goal, is_free):
            return np.array([start, goal])
    if not free_goals:
        return None
    over = _over_via(start, free_goals, is_free, via)
    if over is not None:
        return over
    path = _rrt_connect(start, free_goals, is_free, rng, iterations)
    return None if path is None else shortcut(path, is_free, rng)


def shortcut(
    path: FloatArray, is_free: IsFree, rng: np.random.Generator, iterations: int = SHORTCUT_ITERATIONS
) -> FloatArray:
    """``path`` with detours cut off, by straight lines between random points on it."""
    for _ in range(iterations):
        if len(path) <= 2:
            break
        lengths = np.concatenate([[0.0], np.cumsum(distance(path[1:], path[:-1]))])
        low, high = np.sort(rng.uniform(0.0, lengths[-1], 2))
        first, second = np.searchsorted(lengths, (low, high), side="right") - 1
        if first == second or second >= len(path) - 1:
            continue
        start, end = (_point_at(path, lengths, where) for where in (low, high))
        if edge_free(start, end, is_free):
            path = np.concatenate([path[: first + 1], [start, end], path[second + 1 :]])
    return path


def _steps(start: FloatArray, end: FloatArray) -> int:
    return max(1, math.ceil(float(np.linalg.norm((end - start) / RESOLUTION))))


def _bisection_order(count: int) -> list[int]:
    """The numbers 1 to count - 1, coarse ones first."""
    order: list[int] = []
    stride = 1 << max(0, (count - 1).bit_length() - 1)
    while stride >= 1:
        order.extend(index for index in range(stride, count, 2 * stride))
        stride //= 2
    return order


def _point_at(path: FloatArray, lengths: FloatArray, where: float) -> FloatArray:
    index = min(int(np.searchsorted(lengths, where, side="right")) - 1, len(path) - 2)
    share = (where - lengths[index]) / max(lengths[index + 1] - lengths[index], 1e-12)
    return path[index] + share * (path[index + 1] - path[index])


def _over_via(
    start: FloatArray, goals: Sequence[FloatArray], is_free: IsFree, via: Sequence[FloatArray]
) -> FloatArray | None:
    for posture in (nearest_turn(posture, start) for posture in via):
        if not is_free(posture) or not edge_free(start, posture, is_free):
            continue
        for goal in (nearest_turn(goal, posture) for goal in goals):
            if edge_free(posture, goal, is_free):
                return np.array([start, posture, goal])
    return None


class _Tree:
    """Joint vectors with the index of their parent; roots have -1."""

    def __init__(self, roots: Sequence[FloatArray]) -> None:
        self._nodes = np.empty((256, roots[0].size))
        self._parents: list[int] = []
        for root in roots:
            self.add(root, -1)

    def add(self, node: FloatArray, parent: int) -> int:
        if len(self._parents) == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
        self._nodes[len(self._parents)] = node
        self._parents.append(parent)
        return len(self._parents) - 1

    def node(self, index: int) -> FloatArray:
        return self._nodes[index]

    def nearest(self, target: FloatArray) -> int:
        return int(np.argmin(distance(self._nodes[: len(self._parents)], target)))

    def branch(self, index: int) -> list[FloatArray]:
        """From the root to ``index``."""
        nodes = []
        while index >= 0:
            nodes.append(self._nodes[index].copy())
            index = self._parents[index]
        return nodes[::-1]

    def extend(self, target: FloatArray, is_free: IsFree) -> tuple[int, bool]:
        """One step towards ``target``. Returns the new node (-1: blocked) and whether it is the target."""
        nearest = self.nearest(target)
        origin = self._nodes[nearest]
        length = float(distance(origin, target))
        reached = length <= _EXTENSION
        node = target if reached else origin + (target - origin) * (_EXTENSION / length)
        if not is_free(node) or not edge_free(origin, node, is_free):
            return -1, False
        return self.add(node, nearest), reached


def _rrt_connect(
    start: FloatArray, goals: Sequence[FloatArray], is_free: IsFree, rng: np.random.Generator, iterations: int
) -> FloatArray | None:
    lower, upper = joint_limits()
    lower = np.where(CONTINUOUS, start - math.pi, lower)
    upper = np.where(CONTINUOUS, start + math.pi, upper)
    from_start, from_goal = _Tree([start]), _Tree(goals)
    growing, other = from_start, from_goal
    for _ in range(iterations):
        added, _reached = growing.extend(rng.uniform(lower, upper), is_free)
        if added >= 0:
            target = growing.node(added).copy()
            met, reached = other.extend(target, is_free)
            while met >= 0 and not reached:
                met, reached = other.extend(target, is_free)
            if reached:
                ends = (added, met) if growing is from_start else (met, added)
                return np.array(from_start.branch(ends[0]) + from_goal.branch(ends[1])[-2::-1])
        growing, other = other, growing
    return None
