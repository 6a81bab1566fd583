"""Put: lay what is in the hand on furniture or into an open container."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from homie_core import fetch
from homie_core.world_state import Kind
from homie_skills import grasp_planning, placing, standing
from homie_skills.floor_map import FloorMap
from homie_skills.geometry import translation
from homie_skills.grasp_planning import PlacePlan
from homie_skills.manipulator import BasePose, Manipulator
from homie_skills.placing import Spot
from homie_skills.robot import NoGrasp, NoMotion, ObjectLost, UnknownTarget

PLACE_SPEED = 0.5
RETREAT = 0.10
PLANS = 3
_ANCHORS = 4


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
    manipulator.report("plan", 0.0)
    plan = _plan_and_stand(manipulator, target, receptacle)
    manipulator.report("reach", 0.4)
    manipulator.move_to([plan.approach[0]])
    manipulator.report("lower", 0.6)
    manipulator.run(plan.approach, PLACE_SPEED, smooth=False)
    manipulator.report("release", 0.7)
    _release(manipulator, plan)
    manipulator.report("fold", 0.85)
    manipulator.stow()
    _check(manipulator, target, receptacle)


def _plan_and_stand(manipulator: Manipulator, target: str, receptacle: str) -> PlacePlan:
    """A plan for where the robot stands; it drives when the plan is for somewhere else, and plans again there."""
    for _ in range(PLANS):
        free = placing.spots(manipulator.scene, receptacle, target)
        if not free:
            raise NoGrasp(f"no free spot for {target} on {receptacle}")
        plan = grasp_planning.plan_place(manipulator, receptacle, free, _standings(manipulator, free, receptacle))
        if plan.base == manipulator.scene.base:
            return plan
        manipulator.report("drive", 0.1)
        manipulator.drive_to(plan.base)
    free = placing.spots(manipulator.scene, receptacle, target)
    return grasp_planning.plan_place(manipulator, receptacle, free, [manipulator.scene.base])


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
        yield from found[: grasp_planning.STANDINGS // 2]


def _release(manipulator: Manipulator, plan: PlacePlan) -> None:
    """Open the fingers a little, and leave the way the hand came, or straight back along it."""
    scene = manipulator.scene
    manipulator.open_hand(fetch.MAX_OPENING)
    back = scene.hand_pose @ translation(-RETREAT, 0, 0)
    with scene.tolerating_start():
        path = manipulator.line(manipulator.joints, back)
        if path is None:
            path = plan.approach[::-1]
        manipulator.run(path, PLACE_SPEED, smooth=False)


def _check(manipulator: Manipulator, target: str, receptacle: str) -> None:
    thing = manipulator.state[target]
    if manipulator.state.held == target:
        raise NoMotion(f"{target} is still in the hand")
    if thing.parent != receptacle:
        raise ObjectLost(f"{target} ended on {thing.parent or 'nothing'}, not on {receptacle}")
