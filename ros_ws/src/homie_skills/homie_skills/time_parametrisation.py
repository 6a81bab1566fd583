"""From a path to a trajectory: when to be where, within the speed and acceleration limits of the joints."""

from __future__ import annotations

import numpy as np

from homie_core import fetch
from homie_skills.motion_planning import IsFree, densify, edge_free
from homie_skills.robot import FloatArray

SPEED = np.array([fetch.VELOCITY_LIMITS[name] for name in fetch.ARM_WITH_TORSO_JOINTS])
"""Speed limit of each joint, (8,)."""
ACCELERATION = np.array([0.3, 1.5, 1.5, 2.0, 2.0, 2.5, 3.0, 3.0])
"""Acceleration limit of each joint, (8,)."""

SPEED_SHARE = 0.9
SAMPLE_PERIOD = 0.05

_CORNER_ROUNDS = 3
_SLOWEST = 1e-3


def round_corners(path: FloatArray, is_free: IsFree) -> FloatArray:
    """``path`` with its corners cut (Chaikin) where that stays free, so that it need not stop there."""
    for _ in range(_CORNER_ROUNDS):
        if len(path) <= 2:
            return path
        rounded = [path[0]]
        for before, corner, after in zip(path[:-2], path[1:-1], path[2:], strict=True):
            entry, leave = corner + 0.25 * (before - corner), corner + 0.25 * (after - corner)
            cut = edge_free(entry, leave, is_free)
            rounded.extend([entry, leave] if cut else [corner])
        path = np.array([*rounded, path[-1]])
    return path


def time_path(path: FloatArray, speed_share: float = SPEED_SHARE) -> tuple[FloatArray, FloatArray]:
    """Move along ``path`` as fast as the limits allow, from rest to rest.

    Args:
        path: (n, 8) waypoints, joined by straight lines.
        speed_share: share of the speed limits to use, 0 to 1.

    Returns:
        Positions (m, 8) and times (m,) in seconds from the start; the first point is the start at 0.
    """
    points = _distinct(densify(path))
    if len(points) == 1:
        return points, np.zeros(1)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    arc = np.concatenate([[0.0], np.cumsum(lengths)])
    speeds = _arc_speeds(points, arc, speed_share)
    return _sample(points, arc, speeds)


def _distinct(points: FloatArray) -> FloatArray:
    moved = np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9
    return points[np.concatenate([[True], moved])]


def _arc_speeds(points: FloatArray, arc: FloatArray, speed_share: float) -> FloatArray:
    """Speed along the path at each point, (n,): within the limits, reachable from the start, stopping at the end."""
    tangent = np.gradient(points, arc, axis=0) if len(points) > 2 else np.diff(points, axis=0).repeat(2, 0) / arc[-1]
    magnitude = np.maximum(np.abs(tangent), 1e-9)
    bend = np.maximum(np.abs(np.gradient(tangent, arc, axis=0)) if len(points) > 2 else np.zeros_like(points), 1e-9)
    cap = np.minimum((speed_share * SPEED / magnitude).min(axis=1), np.sqrt((ACCELERATION / bend).min(axis=1)))
    push = (ACCELERATION / magnitude).min(axis=1)
    cap[0] = cap[-1] = 0.0
    for order in (range(1, len(arc)), range(len(arc) - 2, -1, -1)):
        for index in order:
            before = index - 1 if order.step > 0 else index + 1
            gain = 2 * min(push[index], push[before]) * abs(arc[index] - arc[before])
            cap[index] = min(cap[index], np.sqrt(cap[before] ** 2 + gain))
    return cap


def _sample(points: FloatArray, arc: FloatArray, speeds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positions at even times, with constant acceleration from each point of the path to the next."""
    steps = 2 * np.diff(arc) / np.maximum(speeds[1:] + speeds[:-1], _SLOWEST)
    times = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0.0, times[-1], max(2, int(np.ceil(times[-1] / SAMPLE_PERIOD)) + 1))
    index = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(steps) - 1)
    since = wanted - times[index]
    gain = np.diff(speeds)[index] / steps[index]
    where = arc[index] + speeds[index] * since + 0.5 * gain * since**2
    columns = [np.interp(where, arc, points[:, joint]) for joint in range(points.shape[1])]
    return np.column_stack(columns), wanted
