"""Where to stand and how to reach for a grasp or a place, checked in the planning scene before anything moves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from homie_core import fetch
from homie_core.world_state import FLOOR, Kind, owner_of
from homie_skills import placing
from homie_skills.geometry import heading, inverse, translation, wrap
from homie_skills.grasping import PITCHES, Grasp, grasps
from homie_skills.manipulator import BasePose, Manipulator
from homie_skills.placing import ENOUGH_ROOM, Spot
from homie_skills.planning_scene import HAND, ROBOT, TOUCH, PlanningScene
from homie_skills.robot import FloatArray, NoGrasp

APPROACH = 0.10
SHORT_APPROACH = 0.06
SHELF_APPROACH = 0.24
LIFT = 0.06
SHELF_LIFT = 0.025
RELEASE_HEIGHT = 0.08
RELEASE_MARGIN = 0.03
PREFERRED_REACH = 0.68
"""Level distance between base and hand at which the arm is most at ease."""

STANDINGS = 40
GRASPS_PER_PITCH = 4
"""Grasps considered from each standing pose for each pitch of the hand."""
GRASP_ATTEMPTS = 500
BASE_COST = 0.15
RANK_COST = 0.02
"""What driving away, and each place further down the list, costs against an easier grasp."""
SAFE_EDGE = 0.10
"""Distance from the edge of a surface from which on nothing is likely to roll over it."""
EDGE_COST = 2.0
SPOTS_PER_STANDING = 6
PLACE_ATTEMPTS = 400
"""Poses of the hand that are tried before a place counts as out of reach."""

_PITCH_COST = {0: 0.25, 30: 0.05, 45: 0.0, 60: 0.05, 90: 0.4}
"""Pitched hands come out of drawers and sinks, and into shelves."""
_SHELF_PITCH_COST = {0: 0.0, 30: 0.1, 45: 0.3, 60: 0.6, 90: 2.0}


@dataclass(frozen=True, slots=True)
class GraspPlan:
    """Where to stand, and the joints (n, 8) from before the object to the grasp."""

    base: BasePose
    grasp: Grasp
    approach: FloatArray
    shelf: bool
    """Whether the object lies below a roof, so that it must come out to the front."""
    allowed: tuple[tuple[str, str], ...]
    """Pairs of things that come close during the approach."""
    pushed: tuple[tuple[str, str], ...]
    """Pairs of things of which one pushes the other aside."""


@dataclass(frozen=True, slots=True)
class PlacePlan:
    """Where to stand, and the joints (n, 8) from above or before the place down to it."""

    base: BasePose
    approach: FloatArray
    opening: float
    """How far the fingers open there, metres."""
    allowed: tuple[tuple[str, str], ...]
    """Pairs of things that come close during the approach."""


def in_shelf(manipulator: Manipulator, owner: str) -> bool:
    """Whether things lie in ``owner`` below a roof, so that hands come from the front: behind a hinged door."""
    state = manipulator.state.get(owner)
    return state is not None and state.kind is Kind.CONTAINER and manipulator.scene.handle(owner).is_hinge


def plan_grasp(
    manipulator: Manipulator, target: str, standings: Iterable[BasePose], steepest: float = math.pi / 2
) -> GraspPlan:
    """The first standing pose from which ``target`` can be taken, and how.

    ``steepest``: radians that the hand may point down.

    Raises:
        NoGrasp: it is out of reach from all of them.
    """
    scene = manipulator.scene
    options = grasps(scene.shapes(target), scene.pose(target))
    options = [grasp for grasp in options if grasp.pitch <= steepest]
    parent = manipulator.state[target].parent or FLOOR
    support, shelf = owner_of(parent), in_shelf(manipulator, parent)
    bases = list(standings)
    inside = tuple((HAND, each) for each in manipulator.state.contents_of(target))
    blocked: dict[BasePose, bool] = {}
    for base, grasp in _by_ease(options, bases, shelf)[:GRASP_ATTEMPTS]:
        # What is in a bowl rolls aside where a finger comes down beside it.
        with (
            manipulator.standing_at(base),
            scene.allowing((HAND, target), down_to=TOUCH),
            scene.allowing(*inside),
        ):
            if base not in blocked:
                blocked[base] = base_hits(manipulator)
            if blocked[base]:
                continue
            approach = _approach(manipulator, grasp, support, shelf)
            if approach is not None:
                return GraspPlan(base, grasp, approach, shelf, ((HAND, target), (HAND, support)), inside)
    raise NoGrasp(f"no way to take {target} without collision within reach")


def plan_place(manipulator: Manipulator, owner: str, free: Sequence[Spot], standings: Iterable[BasePose]) -> PlacePlan:
    """The first standing pose from which the held object can be put on one of the ``free`` spots, and how.

    Raises:
        NoGrasp: none is within reach.
    """
    scene = manipulator.scene
    grasp = scene.grasp
    front = scene.pose(owner)[:3, 0] if in_shelf(manipulator, owner) else None
    opening = release_opening(manipulator, owner)
    attempts = 0
    for base in standings:
        with manipulator.standing_at(base):
            if base_hits(manipulator):
                continue
            # The fingers open where the object is let go, and must find room for that.
            scene.place_fingers(opening)
            for hand, spot in _hands(free, grasp, base, front):
                approach = _place_approach(manipulator, hand, spot, front)
                if approach is not None:
                    return PlacePlan(base, approach, opening, ((ROBOT, owner),))
                attempts += 1
                if attempts == PLACE_ATTEMPTS:
                    raise NoGrasp(f"no spot on {owner} can be reached among the first {PLACE_ATTEMPTS} that were tried")
    raise NoGrasp(f"no free spot on {owner} is within reach")


def release_opening(manipulator: Manipulator, owner: str) -> float:
    """How far the fingers open to let go of what they hold: little in a vessel, where there is no room for more."""
    if manipulator.state[owner].kind is not Kind.OBJECT:
        return fetch.MAX_OPENING
    return min(fetch.MAX_OPENING, manipulator.opening + RELEASE_MARGIN)


def _hands(
    free: Sequence[Spot], grasp: FloatArray, base: BasePose, front: FloatArray | None
) -> Iterator[tuple[FloatArray, Spot]]:
    """Poses of the hand that put the object on the easiest spots."""
    for spot in _spots_by_ease(free, base, front)[:SPOTS_PER_STANDING]:
        for pose in placing.turned(spot.pose, grasp, np.array(base[:2])):
            yield pose @ inverse(grasp), spot


def base_hits(manipulator: Manipulator) -> bool:
    """Whether the robot cannot stand there, whatever its arm does."""
    return any(
        contact.first.endswith(("base_link", "torso_lift_link", "torso_fixed_link"))
        or contact.second.endswith(("base_link", "torso_lift_link", "torso_fixed_link"))
        for contact in manipulator.scene.contacts()
    )


def _by_ease(options: Sequence[Grasp], bases: Sequence[BasePose], shelf: bool) -> list[tuple[BasePose, Grasp]]:
    """Where to stand and how to grasp, sorted by how easily the arm gets there, and how far down the list a base is."""
    pairs: list[tuple[float, BasePose, Grasp]] = []
    for rank, base in enumerate(bases):
        for pitch in PITCHES:
            rated = sorted(
                (
                    (_ease(grasp, base, shelf), index, grasp)
                    for index, grasp in enumerate(options)
                    if grasp.pitch == pitch
                )
            )
            pairs.extend(
                (cost + BASE_COST * (rank > 0) + RANK_COST * rank, base, grasp)
                for cost, _, grasp in rated[:GRASPS_PER_PITCH]
            )
    return [(base, grasp) for _cost, base, grasp in sorted(pairs, key=lambda pair: pair[0])]


def _ease(grasp: Grasp, base: BasePose, shelf: bool) -> float:
    """Cost of a grasp from ``base``: hands that come from the robot's side are easy, and so are pitched ones."""
    pitch = round(math.degrees(grasp.pitch))
    side = abs(wrap(grasp.yaw - heading(np.array(base[:2]), grasp.hand[:3, 3])))
    if pitch >= 90:
        side = min(side, math.pi - side) * 0.5
    return (_SHELF_PITCH_COST if shelf else _PITCH_COST)[pitch] + 0.4 * side


def _approach(manipulator: Manipulator, grasp: Grasp, support: str, shelf: bool) -> FloatArray | None:
    scene = manipulator.scene
    scene.place_fingers(grasp.opening)
    with scene.allowing((HAND, support), down_to=TOUCH):
        joints = manipulator.reach(grasp.hand)
        if joints is None:
            return None
        if not any(manipulator.line(joints, lifted) is not None for lifted in lifts(grasp.hand, shelf)):
            return None
        for course in _shelf_exits(scene, grasp.hand, support) if shelf else _exits(grasp.hand):
            path = manipulator.line(joints, *course)
            if path is not None:
                return path[::-1]
    return None


def lifts(hand: FloatArray, shelf: bool) -> list[FloatArray]:
    """Where the hand goes first with what it took, best first."""
    return [translation(0, 0, height) @ hand for height in ((SHELF_LIFT,) if shelf else (LIFT, SHELF_LIFT))]


def _exits(hand: FloatArray) -> Iterator[list[FloatArray]]:
    for distance in (APPROACH, SHORT_APPROACH):
        yield [hand @ translation(-distance, 0, 0)]


def _shelf_exits(scene: PlanningScene, hand: FloatArray, owner: str) -> Iterator[list[FloatArray]]:
    """Ways out of a shelf: straight back along the hand, or a little up and out to the front."""
    yield [hand @ translation(-SHELF_APPROACH, 0, 0)]
    pose = scene.pose(owner)
    raised = translation(0, 0, SHELF_LIFT) @ hand
    for distance in (SHELF_APPROACH, APPROACH):
        yield [raised, translation(*(distance * pose[:3, 0])) @ raised]
    yield [hand @ translation(-APPROACH, 0, 0)]


def _spots_by_ease(free: Sequence[Spot], base: BasePose, front: FloatArray | None) -> list[Spot]:
    """Spots sorted by ease of reach, away from edges over which round things roll; on a shelf, near to its front."""
    here = np.array(base[:2])

    def cost(spot: Spot) -> float:
        reach = abs(float(np.linalg.norm(spot.pose[:2, 3] - here)) - PREFERRED_REACH) + 2 * (ENOUGH_ROOM - spot.room)
        if front is None:
            return reach + EDGE_COST * max(0.0, SAFE_EDGE - placing.edge_distance(spot))
        depth = float(front @ (spot.region.pose[:3, 3] - spot.pose[:3, 3])) + spot.region.half_size[0]
        return 2 * abs(depth - 0.14) + 0.3 * reach

    return sorted(free, key=cost)


def _place_approach(
    manipulator: Manipulator, hand: FloatArray, spot: Spot, front: FloatArray | None
) -> FloatArray | None:
    with manipulator.scene.allowing((ROBOT, spot.owner), down_to=TOUCH):
        return _place_path(manipulator, hand, spot, front)


def _place_path(manipulator: Manipulator, hand: FloatArray, spot: Spot, front: FloatArray | None) -> FloatArray | None:
    joints = manipulator.reach(hand)
    if joints is None:
        return None
    if front is None:
        path = manipulator.line(joints, translation(0, 0, RELEASE_HEIGHT) @ hand)
        return None if path is None else path[::-1]
    raised = translation(0, 0, SHELF_LIFT) @ hand
    depth = float(front @ (spot.region.pose[:3, 3] - spot.pose[:3, 3])) + spot.region.half_size[0]
    for extra in (0.10, 0.04):
        outside = translation(*(front * (depth + extra))) @ raised
        path = manipulator.line(joints, raised, outside)
        if path is not None:
            return path[::-1]
    return None
