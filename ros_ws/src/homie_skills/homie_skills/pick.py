"""Pick: take an object in the hand."""

from __future__ import annotations

from collections.abc import Iterator

from homie_core.world_state import Kind
from homie_skills import grasp_planning, standing
from homie_skills.floor_map import FloorMap
from homie_skills.geometry import translation
from homie_skills.grasp_planning import GraspPlan
from homie_skills.manipulator import BasePose, Manipulator
from homie_skills.robot import GraspFailed, NoGrasp, NoMotion, ObjectLost, UnknownTarget

APPROACH_SPEED = 0.5
PLANS = 3


def pick(manipulator: Manipulator, target: str) -> None:
    """Drive to within reach if need be, grasp ``target``, lift it and fold the arm.

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
    manipulator.report("plan", 0.0)
    plan = _plan_and_stand(manipulator, target)
    _grasp(manipulator, target, plan)
    manipulator.report("lift", 0.7)
    _lift(manipulator, target, plan)
    manipulator.report("fold", 0.85)
    manipulator.stow()
    if manipulator.state.held != target:
        raise ObjectLost(f"{target} fell out of the hand")


def _plan_and_stand(manipulator: Manipulator, target: str) -> GraspPlan:
    """A plan for where the robot stands; it drives when the plan is for somewhere else, and plans again there."""
    for _ in range(PLANS):
        plan = grasp_planning.plan_grasp(manipulator, target, standings(manipulator, target))
        if plan.base == manipulator.scene.base:
            return plan
        manipulator.report("drive", 0.1)
        manipulator.drive_to(plan.base)
    return grasp_planning.plan_grasp(manipulator, target, [manipulator.scene.base])


def standings(manipulator: Manipulator, target: str) -> Iterator[BasePose]:
    """Where to stand to take ``target``: here first, then round it."""
    yield manipulator.scene.base
    floor = FloorMap(manipulator.scene)
    position = manipulator.scene.pose(target)[:3, 3]
    found = standing.around(floor, position, manipulator.scene.base)
    yield from found[: grasp_planning.STANDINGS]


def _grasp(manipulator: Manipulator, target: str, plan: GraspPlan) -> None:
    manipulator.report("reach", 0.3)
    manipulator.open_hand(plan.grasp.opening)
    manipulator.move_to([plan.approach[0]])
    manipulator.report("approach", 0.5)
    manipulator.run(plan.approach, APPROACH_SPEED, smooth=False)
    manipulator.report("grasp", 0.6)
    outcome = manipulator.close_hand()
    if manipulator.state.held == target:
        return
    manipulator.open_hand(plan.grasp.opening)
    manipulator.run(plan.approach[::-1], APPROACH_SPEED, smooth=False)
    found = manipulator.state.held or "nothing"
    raise GraspFailed(f"the fingers closed to {100 * outcome.opening:.1f} cm on {found}, not on {target}")


def _lift(manipulator: Manipulator, target: str, plan: GraspPlan) -> None:
    """Straight up, and out of a shelf the way the hand came."""
    scene = manipulator.scene
    height = grasp_planning.SHELF_LIFT if plan.shelf else grasp_planning.LIFT
    course = [translation(0, 0, height) @ scene.hand_pose]
    if plan.shelf:
        before = scene.base_matrix @ manipulator.arm.hand_pose(plan.approach[0])
        course.append(translation(*(before - scene.hand_pose)[:2, 3], 0) @ course[0])
    with scene.tolerating_start():
        path = manipulator.line(manipulator.joints, *course)
        if path is None:
            raise NoMotion(f"{target} is in the hand but cannot be lifted without a collision")
        manipulator.run(path, APPROACH_SPEED, smooth=False)
