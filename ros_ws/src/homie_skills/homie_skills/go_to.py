"""Go to: bring the robot within reach of something."""

from __future__ import annotations

import math

import numpy as np

from homie_core import fetch
from homie_core.world_state import Kind, ObjectState
from homie_skills import standing
from homie_skills.floor_map import COMFORTABLE_GAP, FloorMap
from homie_skills.geometry import object_pose
from homie_skills.manipulator import BasePose, Manipulator
from homie_skills.robot import BaseBlocked, NavigationFailed, NoPath, UnknownTarget

ATTEMPTS = 4
NEAR = 1.5
"""Distance in metres from the base to the target within which the robot counts as being there."""

FURNITURE_GAPS = (0.30, 0.20, 0.40, 0.55, 0.70)
"""Distances between the base and furniture, best first."""

FRONT_DISTANCE = (0.65, 0.75, 0.55)
"""Distances between the base's middle and the front of a container: room for its door or drawer."""


def go_to(manipulator: Manipulator, target: str) -> None:
    """Fold the arm and drive to where ``target`` is within reach, facing it.

    Raises:
        UnknownTarget: there is nothing of this name.
        NoPath: the base cannot get near it.
    """
    thing = manipulator.state.get(target)
    if thing is None:
        raise UnknownTarget(f"there is no {target!r}")
    manipulator.report("fold", 0.0)
    manipulator.stow()
    if manipulator.state.held == target:
        return
    manipulator.report("plan", 0.1)
    poses = _standings(manipulator, thing)
    if not poses:
        raise NoPath(f"there is no free place to stand near {target}")
    _drive_to_one(manipulator, poses, target)
    distance = _distance(manipulator, manipulator.state[target])
    if distance > NEAR:
        raise NoPath(f"{target} is still {distance:.2f} m away")


def _drive_to_one(manipulator: Manipulator, poses: list[BasePose], target: str) -> None:
    failures: list[NavigationFailed] = []
    for pose in poses[:ATTEMPTS]:
        manipulator.report("drive", 0.2)
        try:
            manipulator.drive_to(pose)
        except NavigationFailed as failure:
            failures.append(failure)
            manipulator.refresh()
        else:
            return
    blocked = any(isinstance(failure, BaseBlocked) for failure in failures)
    raise (BaseBlocked if blocked else NoPath)(f"no way to {target}: {'; '.join(map(str, failures))}")


def _standings(manipulator: Manipulator, thing: ObjectState) -> list[BasePose]:
    """Standing poses with the arm folded that hit nothing, best first."""
    floor = FloorMap(manipulator.scene)
    here = manipulator.scene.base
    if thing.kind is Kind.PLACE:
        found = _inside(floor, thing, here)
    elif thing.kind is Kind.OBJECT:
        found = standing.around(floor, np.array(thing.box_center), here)
    else:
        found = _before(floor, thing, here)
    return [pose for pose in found[: 10 * ATTEMPTS] if _fits(manipulator, pose)]


def _fits(manipulator: Manipulator, pose: BasePose) -> bool:
    with manipulator.standing_at(pose):
        return not manipulator.scene.in_collision()


def _before(floor: FloorMap, thing: ObjectState, here: BasePose) -> list[BasePose]:
    """Before the front of furniture, or, where that is blocked, before another of its sides."""
    pose = object_pose(thing)
    front = pose[:2, 0]
    center, half = np.array(thing.box_center[:2]), np.array(thing.box_size[:2]) / 2
    depth = float(np.abs(front) @ half)
    forward = math.atan2(front[1], front[0])
    container = thing.kind is Kind.CONTAINER
    distances = FRONT_DISTANCE if container else tuple(fetch.BASE_RADIUS + gap for gap in FURNITURE_GAPS)
    poses: list[tuple[float, BasePose]] = []
    for index, distance in enumerate(distances):
        for along in np.linspace(-0.8, 0.8, 9):
            for side in range(1 if container else 4):
                direction = forward + side * math.pi / 2
                normal = np.array([math.cos(direction), math.sin(direction)])
                across = np.array([-normal[1], normal[0]])
                point = center + normal * (float(np.abs(normal) @ half) + distance)
                point = point + across * along * float(np.abs(across) @ half)
                cost = 0.2 * index + 0.3 * abs(along) + 0.6 * (side > 0)
                cost += 0.05 * float(np.hypot(point[0] - here[0], point[1] - here[1]))
                poses.append((cost, (float(point[0]), float(point[1]), math.remainder(direction + math.pi, math.tau))))
    points = np.array([[x, y] for _cost, (x, y, _yaw) in poses])
    possible = floor.drivable(points) & (floor.clearance(points) - fetch.BASE_RADIUS >= COMFORTABLE_GAP)
    found = [pose for _cost, pose in sorted(entry for entry, fine in zip(poses, possible, strict=True) if fine)]
    return found or standing.around(floor, center, here, tuple(depth + d for d in (0.6, 0.8, 1.0)), forward)


def _inside(floor: FloorMap, thing: ObjectState, here: BasePose) -> list[BasePose]:
    """In a room: where the robot is, if that is inside; else the roomiest spots near its middle."""
    center, half = np.array(thing.box_center[:2]), np.array(thing.box_size[:2]) / 2
    if np.all(np.abs(np.array(here[:2]) - center) < half - fetch.BASE_RADIUS):
        return [here]
    steps = np.linspace(-0.8, 0.8, 9)
    points = np.array([center + half * (x, y) for x in steps for y in steps])
    points = points[floor.drivable(points) & (floor.clearance(points) - fetch.BASE_RADIUS >= COMFORTABLE_GAP)]
    cost = np.linalg.norm(points - center, axis=1) - np.minimum(floor.clearance(points), 1.0)
    ordered = points[np.argsort(cost, kind="stable")]
    return [(float(x), float(y), math.atan2(y - here[1], x - here[0])) for x, y in ordered]


def _distance(manipulator: Manipulator, thing: ObjectState) -> float:
    """Level distance from the base's middle to the nearest point of the thing's box; 0 inside."""
    x, y, _yaw = manipulator.scene.base
    center, half = np.array(thing.box_center[:2]), np.array(thing.box_size[:2]) / 2
    return float(np.linalg.norm(np.maximum(np.abs(np.array([x, y]) - center) - half, 0.0)))
