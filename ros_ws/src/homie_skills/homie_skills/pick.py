"""Pick: take an object in the hand."""

from __future__ import annotations

import math
from collections.abc import Iterator

from homie_core.world_state import Kind
from homie_skills import grasp_planning, standing
from homie_skills.floor_map import FloorMap
from homie_skills.geometry import translation
from homie_skills.grasp_planning import GraspPlan
from homie_skills.manipulator import GRIP_EFFORT, BasePose, Manipulator
from homie_skills.planning_scene import TOUCH
from homie_skills.robot import GraspFailed, NoGrasp, NoMotion, ObjectLost, UnknownTarget
from homie_skills.standing_and_reaching import stand_and_reach

APPROACH_SPEED = 0.5
OUT_SHARES = (1.0, 0.5, 0.0)
"""How much of the way out of a shelf the hand goes straight, the most that is possible."""


def pick(manipulator: Manipulator, target: str, steepest: float = math.pi / 2) -> None:
    """Drive to within reach if need be, grasp ``target``, lift it and fold the arm.

    ``steepest``: radians that the hand may point down when it takes it.

    Raises:
        UnknownTarget: there is no such object.
        NoGrasp: it cannot be grasped, or the hand is full.
        NoMotion: no arm motion leads there.
        GraspFailed: the fingers closed on nothing.
        ObjectLost: it fell.
    """
    thing = manipulator.state.get(target)
    if thing is None or thing.kind is not Kind.OBJECT:
        raise UnknownTarget(f"there is no object {target!r}")
    if manipulator.state.held == target:
        manipulator.stow()
        return
    if manipulator.state.held:
        raise NoGrasp(f"the hand already holds {manipulator.state.held}")
    plan = stand_and_reach(
        manipulator,
        lambda: standings(manipulator, target),
        lambda poses: grasp_planning.plan_grasp(manipulator, target, poses, steepest),
        lambda chosen: manipulator.open_hand(chosen.grasp.opening),
    )
    _grasp(manipulator, target, plan)
    manipulator.report("lift", 0.7)
    _lift(manipulator, target, plan)
    manipulator.report("fold", 0.85)
    manipulator.stow()
    manipulator.step_back()
    if manipulator.state.held != target:
        raise ObjectLost(f"{target} fell out of the hand")


def standings(manipulator: Manipulator, target: str) -> Iterator[BasePose]:
    """Where to stand to take ``target``: here first, then round it."""
    yield manipulator.scene.base
    floor = FloorMap(manipulator.scene)
    position = manipulator.scene.pose(target)[:3, 3]
    found = standing.around(floor, position, manipulator.scene.base)
    yield from found[: grasp_planning.STANDINGS]


def _grasp(manipulator: Manipulator, target: str, plan: GraspPlan) -> None:
    scene = manipulator.scene
    with scene.allowing(*plan.allowed, down_to=TOUCH), scene.allowing(*plan.pushed):
        manipulator.report("approach", 0.5)
        manipulator.run(plan.approach, APPROACH_SPEED, smooth=False)
        manipulator.report("grasp", 0.6)
        outcome = manipulator.close_hand(GRIP_EFFORT)
        if manipulator.state.held == target:
            return
        found = manipulator.state.held or "nothing"
        manipulator.open_hand(plan.grasp.opening)
        manipulator.run(plan.approach[::-1], APPROACH_SPEED, smooth=False)
    raise GraspFailed(f"the fingers closed to {100 * outcome.opening:.1f} cm on {found}, not on {target}")


def _lift(manipulator: Manipulator, target: str, plan: GraspPlan) -> None:
    """Straight up, and out of a shelf the way the hand came."""
    scene = manipulator.scene
    before = scene.base_matrix @ manipulator.arm.hand_pose(plan.approach[0])
    x, y, _z = (before - scene.hand_pose)[:3, 3]
    with scene.allowing(*plan.allowed, down_to=TOUCH), scene.tolerating_start():
        for raised in grasp_planning.lifts(scene.hand_pose, plan.shelf):
            for share in OUT_SHARES if plan.shelf else (0.0,):
                path = manipulator.line(manipulator.joints, raised, translation(share * x, share * y, 0) @ raised)
                if path is not None:
                    manipulator.run(path, APPROACH_SPEED, smooth=False)
                    return
    raise NoMotion(f"{target} is in the hand but cannot be lifted without a collision")
