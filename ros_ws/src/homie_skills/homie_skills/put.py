"""Put: lay what is in the hand on furniture or into an open container."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from homie_core.world_state import Kind
from homie_skills import grasp_planning, placing, standing
from homie_skills.floor_map import FloorMap
from homie_skills.geometry import make_pose, translation
from homie_skills.grasp_planning import PlacePlan
from homie_skills.grasping import grasps
from homie_skills.manipulator import BasePose, Manipulator
from homie_skills.pick import pick
from homie_skills.placing import Spot
from homie_skills.robot import FloatArray, NoGrasp, NoMotion, ObjectLost, UnknownTarget
from homie_skills.standing_and_reaching import stand_and_reach

PLACE_SPEED = 0.5
RETREATS = (0.10, 0.06, 0.03)
"""How far the hand draws back from what it has let go, the most that is possible; after less than that, also up."""
RETREAT_RISE = 0.08
DROPS = (0.0, 0.015, 0.03, 0.05, 0.08, 0.12, 0.16)
"""Heights above the surface at which the object is let go, the lowest that is possible first."""
FLAT = math.radians(30)
"""How far a hand may point down that goes below a roof with what it holds."""
FLATTER = math.radians(10)
"""By how much flatter the hand must come for it to be worth taking the object anew."""
INTO_VESSEL = 0.05
"""From how high something is dropped into a vessel at most: from higher up it may miss or upset it."""
SURFACES = 2
"""How many pieces of furniture are tried to take the object anew."""
_ANCHORS = 4
_STANDINGS_PER_ANCHOR = 6


def put(manipulator: Manipulator, target: str, receptacle: str) -> None:
    """Drive to within reach if need be, put ``target`` on a free spot of ``receptacle``, let go and fold the arm.

    Raises:
        UnknownTarget: nothing can be put there.
        NoGrasp: the container is closed, there is no free spot, or none is within reach.
        NoMotion: no arm motion leads there.
        ObjectLost: the object is not in the hand, or did not stay where it was put.
    """
    scene = manipulator.scene
    owner = manipulator.state.get(receptacle)
    if owner is None or not scene.regions(receptacle):
        raise UnknownTarget(f"nothing can be put on or in {receptacle!r}")
    if manipulator.state.held != target:
        raise ObjectLost(f"the hand holds {manipulator.state.held or 'nothing'}, not {target}")
    if owner.kind is Kind.CONTAINER and not owner.is_open:
        raise NoGrasp(f"{receptacle} is closed: open fraction {owner.open_fraction:.2f}")
    try:
        _lay_down(manipulator, target, receptacle)
    except NoGrasp as failure:
        if not grasp_planning.in_shelf(manipulator, receptacle) or not _take_flatter(manipulator, target):
            raise
        manipulator.report("again", 0.0)
        try:
            _lay_down(manipulator, target, receptacle)
        except NoGrasp:
            raise failure from None


def _lay_down(manipulator: Manipulator, target: str, receptacle: str) -> None:
    """Drive to within reach if need be, put ``target`` on a free spot, and fold the arm."""
    manipulator.refresh()
    free = placing.spots(manipulator.scene, receptacle, target)
    if not free:
        raise NoGrasp(f"no free spot for {target} on {receptacle}")
    plan = stand_and_reach(
        manipulator,
        lambda: _standings(manipulator, free, receptacle),
        lambda poses: _plan(manipulator, receptacle, free, list(poses)),
    )
    manipulator.report("lower", 0.6)
    manipulator.run(plan.approach, PLACE_SPEED, smooth=False)
    manipulator.report("release", 0.7)
    _release(manipulator, plan)
    manipulator.report("fold", 0.85)
    manipulator.stow()
    manipulator.step_back()
    _check(manipulator, target, receptacle)


def _take_flatter(manipulator: Manipulator, target: str) -> bool:
    """Lay the object on furniture nearby and take it with a flatter hand; False, and it is held as before, if not.

    What is held from above does not go below a roof.
    """
    flat = _flattest(manipulator, target)
    if flat is None:
        return False
    for surface in _surfaces(manipulator):
        try:
            _lay_down(manipulator, target, surface)
        except (NoGrasp, NoMotion):
            continue
        try:
            pick(manipulator, target, flat)
        except (NoGrasp, NoMotion):
            pick(manipulator, target)
        else:
            return True
    return False


def _flattest(manipulator: Manipulator, target: str) -> float | None:
    """How far the hand must point down (radians) that takes the object as it would lie; None if it is no flatter."""
    scene = manipulator.scene
    resting = make_pose(placing.resting_rotation(scene.pose(target)[:3, :3]), (0.0, 0.0, 0.0))
    pitches = [grasp.pitch for grasp in grasps(scene.shapes(target), resting)]
    flat = max(FLAT, min(pitches, default=math.inf))
    now = math.asin(min(1.0, max(-1.0, -float(scene.hand_pose[2, 0]))))
    return flat if flat < now - FLATTER else None


def _surfaces(manipulator: Manipulator) -> list[str]:
    """The nearest furniture to lay something on."""
    scene = manipulator.scene
    here = np.array(scene.base[:2])
    near = {
        thing.id: float(np.linalg.norm(np.array(thing.box_center[:2]) - here))
        for thing in manipulator.state.objects
        if thing.kind is Kind.FURNITURE and scene.regions(thing.id)
    }
    return sorted(near, key=lambda name: (near[name], name))[:SURFACES]


def _plan(manipulator: Manipulator, receptacle: str, free: list[Spot], standings: list[BasePose]) -> PlacePlan:
    """A plan that lays the object down; only where the hand gets no lower, one that drops it."""
    failure = NoGrasp(f"no free spot on {receptacle} is within reach")
    for drop in _drops(manipulator, receptacle):
        raised = [replace(spot, pose=translation(0, 0, drop) @ spot.pose) for spot in free]
        try:
            return grasp_planning.plan_place(manipulator, receptacle, raised, standings)
        except NoGrasp as error:
            failure = error
    raise failure


def _drops(manipulator: Manipulator, receptacle: str) -> tuple[float, ...]:
    """From how high something may fall there, lowest first."""
    if grasp_planning.in_shelf(manipulator, receptacle):
        return (0.0,)
    vessel = manipulator.state[receptacle].kind is Kind.OBJECT
    return tuple(drop for drop in DROPS if not vessel or drop <= INTO_VESSEL)


def _standings(manipulator: Manipulator, free: list[Spot], receptacle: str) -> Iterator[BasePose]:
    """Where to stand to reach some of the free spots: here first, then round those that are nearest to the robot."""
    scene = manipulator.scene
    yield scene.base
    floor = FloorMap(scene)
    front = scene.pose(receptacle)[:2, 0]
    here = np.array(scene.base[:2])
    points = np.array([spot.pose[:2, 3] for spot in free])
    cost = np.linalg.norm(points - here, axis=1) - points @ front
    for index in np.argsort(cost, kind="stable")[:: max(1, len(free) // _ANCHORS)][:_ANCHORS]:
        found = standing.around(floor, points[index], scene.base)
        yield from found[:_STANDINGS_PER_ANCHOR]


def _release(manipulator: Manipulator, plan: PlacePlan) -> None:
    """Open the fingers, and leave straight back, a little back and up, or the way the hand came."""
    manipulator.open_hand(plan.opening)
    with manipulator.scene.tolerating_start():
        paths = (manipulator.line(manipulator.joints, *course) for course in _retreats(manipulator.scene.hand_pose))
        path = next((path for path in paths if path is not None), plan.approach[::-1])
        manipulator.run(path, PLACE_SPEED, smooth=False)


def _retreats(hand: FloatArray) -> Iterator[list[FloatArray]]:
    for distance in RETREATS:
        back = hand @ translation(-distance, 0, 0)
        yield [back] if distance == RETREATS[0] else [back, translation(0, 0, RETREAT_RISE) @ back]


def _check(manipulator: Manipulator, target: str, receptacle: str) -> None:
    thing = manipulator.state[target]
    if manipulator.state.held == target:
        raise NoMotion(f"{target} is still in the hand")
    if thing.parent != receptacle:
        raise ObjectLost(f"{target} ended on {thing.parent or 'nothing'}, not on {receptacle}")
