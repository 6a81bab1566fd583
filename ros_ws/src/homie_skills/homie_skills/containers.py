"""Open and close: move a door or a drawer by its handle, arm alone, the base standing still.

The fingers close round the bar, and the hand follows the course of the handle; it may turn about the bar on the way,
since the bar turns between the fingers. Where to stand, and how to take the bar, is searched for such that the whole
course is within reach and the door passes by the robot.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from homie_core.world_state import Kind
from homie_skills import cartesian, grasp_planning, standing
from homie_skills.floor_map import FloorMap
from homie_skills.geometry import make_pose, rotation_x, rotation_z, translation, wrap
from homie_skills.manipulator import BasePose, Manipulator
from homie_skills.planning_scene import HAND, TOUCH, Handle
from homie_skills.robot import FloatArray, GraspFailed, NoGrasp, Stalled, UnknownTarget
from homie_skills.standing_and_reaching import stand_and_reach

DOOR_OPEN = math.radians(82)
"""Angle to which a door is pulled."""
DOOR_OPEN_ENOUGH = math.radians(75)
DRAWER_OPEN_SHARE = 0.95
DRAWER_OPEN_ENOUGH = 0.75
"""Shares of a drawer's travel."""
CLOSED_ENOUGH = 0.04
"""Open fraction below which a container counts as closed."""

PULL_SPEED = 0.45
ROUNDS = 3
"""How many times a container is taken by the handle before it counts as stalled."""

COURSE_STEP = {True: math.radians(4), False: 0.02}
"""Step along the course by whether the joint is a hinge: radians or metres."""
APPROACH = 0.08
BAR_OPENING = 0.08
MIN_BAR = 0.012
"""Opening of the fingers below which there is no bar between them."""
SHORTEST_COURSE = 0.25
"""Share of the way that a course must cover to be worth it."""

DOOR_TURNS = tuple(math.radians(degrees) for degrees in (50, 62, 35, 20, 0))
DRAWER_TURNS = tuple(math.radians(degrees) for degrees in (-25, 0, 25, -50, 50))
"""Angles of the hand about the bar. At a door: away from the hinge, so that the hand can stay while the door turns."""
BAR_HEIGHTS = (0.0, 0.12, -0.12)
"""Where along an upright bar it is taken."""

DOOR_STANDINGS = (
    (1.0, 0.4, 1.0),
    (0.9, 0.4, 1.0),
    (0.95, 0.5, 1.0),
    (1.0, 0.4, 0.5),
    (0.95, 0.3, 1.0),
    (0.9, 0.55, 0.5),
    (1.0, 0.25, 0.5),
    (0.9, 0.25, 1.0),
    (0.9, 0.4, 0.0),
    (1.0, 0.4, 0.0),
    (0.8, 0.4, 0.0),
    (0.8, 0.25, 0.5),
)
DRAWER_STANDINGS = tuple(itertools.product((0.9, 0.8, 1.0, 0.7), (0.0, 0.15, -0.15, 0.3, -0.3), (0.0, 0.5, -0.5)))
"""Where the base stands, from the closed handle: outwards, sideways (at a door: towards the hinge), and turned.

At a door these are the places from which a search found whole courses; where the arm also folds easily comes first.
"""
NEAR = 0.2
"""Metres and radians by which the base may be off such a place for it to be tried first."""
COURSES = 60
"""Courses that are compared before the longest of them is taken."""
SOLUTIONS = 3
"""Postures of the arm tried for each grip."""


@dataclass(frozen=True, slots=True)
class HandlePlan:
    """Where to stand, the way to the bar, and the course with it; joints (n, 8) each.

    ``reached`` is the position of the container's joint at its end; ``allowed``: what comes close to what.
    """

    base: BasePose
    approach: FloatArray
    course: FloatArray
    reached: float
    allowed: tuple[tuple[str, str], ...]


def open_(manipulator: Manipulator, target: str) -> None:
    """Open a door to about 85 degrees, or a drawer nearly to its end.

    Raises:
        UnknownTarget: it has no handle.
        NoGrasp: the handle is out of reach, or the hand is full.
        NoMotion: no arm motion leads there.
        GraspFailed: the fingers closed on nothing.
        Stalled: it did not move far enough.
    """
    handle = manipulator.scene.handle(target)
    goal = DOOR_OPEN if handle.is_hinge else DRAWER_OPEN_SHARE * handle.upper
    enough = DOOR_OPEN_ENOUGH if handle.is_hinge else DRAWER_OPEN_ENOUGH * handle.upper
    _move(manipulator, target, goal, lambda position: position >= enough)


def close(manipulator: Manipulator, target: str) -> None:
    """Close a door or drawer.

    Raises:
        as for :func:`open_`.
    """
    handle = manipulator.scene.handle(target)
    full = math.pi / 2 if handle.is_hinge else handle.upper
    _move(manipulator, target, 0.0, lambda position: position <= CLOSED_ENOUGH * full)


def _move(manipulator: Manipulator, target: str, goal: float, enough: Callable[[float], bool]) -> None:
    """Take the handle and move the container's joint to ``goal``, in several rounds if need be."""
    _check(manipulator, target)
    scene = manipulator.scene
    for _ in range(ROUNDS):
        if enough(scene.container_position(target)):
            break
        plan = stand_and_reach(
            manipulator,
            lambda: _standings(manipulator, target),
            lambda poses: plan_course(manipulator, target, goal, poses),
            lambda _plan: manipulator.open_hand(),
        )
        _carry_out(manipulator, target, plan)
    manipulator.report("fold", 0.9)
    manipulator.stow()
    if not scene.handle(target).is_hinge:
        # A drawer comes out towards the base.
        manipulator.step_back()
    position = scene.container_position(target)
    if not enough(position):
        raise Stalled(f"{target} stands at {position:.2f} instead of {goal:.2f} (radians or metres)")


def _check(manipulator: Manipulator, target: str) -> None:
    thing = manipulator.state.get(target)
    if thing is None or thing.kind is not Kind.CONTAINER:
        raise UnknownTarget(f"{target!r} is nothing that opens")
    if manipulator.state.held:
        raise NoGrasp(f"the hand is full: it holds {manipulator.state.held}")


def _carry_out(manipulator: Manipulator, target: str, plan: HandlePlan) -> None:
    with manipulator.scene.allowing(*plan.allowed, down_to=TOUCH):
        manipulator.report("grasp", 0.4)
        manipulator.run(plan.approach, PULL_SPEED, smooth=False)
        outcome = manipulator.close_hand()
        if outcome.opening >= MIN_BAR:
            manipulator.report("move", 0.5)
            manipulator.run(plan.course, PULL_SPEED, smooth=False)
        manipulator.report("release", 0.8)
        manipulator.open_hand()
        manipulator.try_line(manipulator.scene.hand_pose @ translation(-APPROACH, 0, 0))
    if outcome.opening < MIN_BAR:
        raise GraspFailed(f"the fingers closed to {100 * outcome.opening:.1f} cm: no handle of {target} between them")


def _standings(manipulator: Manipulator, target: str) -> Iterator[BasePose]:
    """Where to stand to move the handle: the known good places; here first if it is like one of them, else last."""
    scene = manipulator.scene
    with scene.trying():
        scene.place_container(target, 0.0)
        closed = scene.handle(target)
    front = math.atan2(closed.pose[1, 0], closed.pose[0, 0])
    outward, sideward = rotation_z(front)[:2, 0], rotation_z(front)[:2, 1]
    sign = hinge_side(closed)
    floor = FloorMap(scene)
    poses = []
    for out, side, turn in DOOR_STANDINGS if closed.is_hinge else DRAWER_STANDINGS:
        point = closed.pose[:2, 3] + out * outward + sign * side * sideward
        if standing.can_stand(floor, point):
            poses.append((float(point[0]), float(point[1]), wrap(front + math.pi - sign * turn)))
    here = scene.base
    if any(_close_to(here, pose) for pose in poses):
        yield here
    yield from poses
    yield here


def _close_to(here: BasePose, pose: BasePose) -> bool:
    return math.hypot(here[0] - pose[0], here[1] - pose[1]) < NEAR and abs(wrap(here[2] - pose[2])) < NEAR


def hinge_side(handle: Handle) -> float:
    """1 when the hinge is to the left of the handle as seen along the handle's outward axis, else -1; 1 for drawers."""
    if not handle.is_hinge:
        return 1.0
    to_hinge = handle.anchor - handle.pose[:3, 3]
    return 1.0 if handle.pose[0, 0] * to_hinge[1] - handle.pose[1, 0] * to_hinge[0] > 0 else -1.0


def plan_course(manipulator: Manipulator, target: str, goal: float, standings: Iterable[BasePose]) -> HandlePlan:
    """How to take the handle of ``target`` and move its joint to ``goal``.

    The first standing pose from which the whole course is within reach; else the one that leads furthest.

    Raises:
        NoGrasp: the handle is out of reach, or the course is cut short from everywhere.
    """
    start = manipulator.scene.container_position(target)
    best: HandlePlan | None = None
    with contextlib.closing(_all_courses(manipulator, target, goal, standings)) as courses:
        for plan in itertools.islice(courses, COURSES):
            if abs(plan.reached - goal) < 1e-6:
                return plan
            if best is None or abs(plan.reached - start) > abs(best.reached - start):
                best = plan
    if best is None or abs(best.reached - start) < SHORTEST_COURSE * abs(goal - start):
        raise NoGrasp(f"the handle of {target} cannot be moved from anywhere within reach")
    return best


def _all_courses(
    manipulator: Manipulator, target: str, goal: float, standings: Iterable[BasePose]
) -> Generator[HandlePlan]:
    """Courses from all standing poses, in their order."""
    with manipulator.scene.allowing((HAND, f"{target}/handle"), down_to=TOUCH):
        for base in standings:
            with manipulator.standing_at(base):
                if not grasp_planning.base_hits(manipulator):
                    yield from _courses(manipulator, target, goal)


def _grips(handle: Handle, opening: bool) -> Iterator[FloatArray]:
    """Poses of the hand in the frame of the handle: closing across the bar, from different sides."""
    if not handle.is_hinge:
        choices = itertools.product((0.0,), DRAWER_TURNS, (0.0, math.pi))
    else:
        sign = hinge_side(handle) * (1.0 if opening else -1.0)
        choices = itertools.product(BAR_HEIGHTS, [sign * turn for turn in DOOR_TURNS], (0.0, math.pi))
    for height, turn, roll in choices:
        yield make_pose(rotation_z(math.pi + turn) @ rotation_x(roll), (0.0, 0.0, height))


def _courses(manipulator: Manipulator, target: str, goal: float) -> Iterator[HandlePlan]:
    """All courses from where the scene's robot stands."""
    scene = manipulator.scene
    start = scene.container_position(target)
    scene.place_fingers(BAR_OPENING)
    for grip in _grips(scene.handle(target), opening=goal > start):
        hand = scene.handle(target).pose @ grip
        for joints in itertools.islice(manipulator.solutions(hand), SOLUTIONS):
            plan = _try_course(manipulator, target, grip, joints, goal)
            scene.place_container(target, start)
            if plan is not None:
                yield plan


def _try_course(
    manipulator: Manipulator, target: str, grip: FloatArray, joints: FloatArray, goal: float
) -> HandlePlan | None:
    scene = manipulator.scene
    start = scene.container_position(target)
    approach = manipulator.line(joints, scene.handle(target).pose @ grip @ translation(-APPROACH, 0, 0))
    if approach is None:
        return None
    course, reached = _follow_handle(manipulator, target, grip, joints, start, goal)
    if len(course) < 2:
        return None
    scene.place_container(target, reached)
    end = scene.base_matrix @ manipulator.arm.hand_pose(course[-1])
    if manipulator.line(course[-1], end @ translation(-APPROACH, 0, 0)) is None:
        return None
    return HandlePlan(scene.base, approach[::-1], course, reached, ((HAND, f"{target}/handle"),))


def _follow_handle(
    manipulator: Manipulator, target: str, grip: FloatArray, joints: FloatArray, start: float, goal: float
) -> tuple[FloatArray, float]:
    """Joints (n, 8) that lead the handle from ``start`` towards ``goal``, and how far they get."""
    scene = manipulator.scene
    base = scene.base_matrix
    step = COURSE_STEP[scene.handle(target).is_hinge]
    count = max(1, math.ceil(abs(goal - start) / step))
    path, reached = [joints], start
    for position in np.linspace(start, goal, count + 1)[1:]:
        scene.place_container(target, float(position))
        hand = scene.handle(target).pose @ grip
        further = cartesian.follow(manipulator.arm, base, path[-1], [hand], manipulator.is_free, free_axis=2)
        if len(further) < 2:
            break
        path.append(further[-1])
        reached = float(position)
    return np.array(path), reached
