"""From a plan to the hand before its target: drive to where the plan says, plan again there, and reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from homie_skills.geometry import wrap
from homie_skills.manipulator import BasePose, Manipulator
from homie_skills.planning_scene import TOUCH
from homie_skills.robot import FloatArray, NavigationFailed, NoGrasp, NoMotion, SkillError

PLACES = 4
"""How many places to stand are tried before a skill gives up."""

_SAME_PLACE = 0.1
"""Metres and radians within which the arm gets no further than it did."""
_SAME_SPOT = 0.03
"""Metres and radians within which the base gets no further than it did."""


class Plan(Protocol):
    """Where to stand, the joints (n, 8) that lead the hand to its target, and which pairs may come close meanwhile."""

    @property
    def base(self) -> BasePose: ...

    @property
    def approach(self) -> FloatArray: ...

    @property
    def allowed(self) -> tuple[tuple[str, str], ...]: ...


P = TypeVar("P", bound=Plan)


def stand_and_reach(
    manipulator: Manipulator,
    standings: Callable[[], Iterator[BasePose]],
    plan_from: Callable[[Iterable[BasePose]], P],
    prepare: Callable[[P], None] = lambda _plan: None,
) -> P:
    """Bring the hand to the start of the approach of a plan, and return that plan.

    A place where driving, planning again or reaching fails is not tried again.

    Args:
        manipulator: the robot.
        standings: where to stand, best first; asked again after every drive.
        plan_from: plans from the first of some standing poses from which it is possible.
        prepare: what to do with the hand before it reaches.

    Raises:
        NoGrasp: no plan from anywhere.
        NoMotion: no arm motion leads to any of the plans that were tried.
        NoPath: the base cannot get to any of them.
    """
    failed: list[BasePose] = []
    out_of_the_way: list[BasePose] = []
    failures: list[SkillError] = []

    def untried(pose: BasePose) -> bool:
        # To stand where the robot is now takes no drive, however near that is to where no way leads.
        here = pose == manipulator.scene.base
        return not _among(pose, failed, _SAME_PLACE) and (here or not _among(pose, out_of_the_way, _SAME_SPOT))

    for _ in range(PLACES):
        manipulator.report("plan", 0.0)
        try:
            plan = plan_from(pose for pose in standings() if untried(pose))
        except NoGrasp as failure:
            raise (failures or [failure])[-1] from failure
        wanted = plan.base
        try:
            plan = _stand(manipulator, plan, plan_from)
            hand = manipulator.scene.base_matrix @ manipulator.arm.hand_pose(plan.approach[-1])
            prepare(plan)
            with manipulator.scene.allowing(*plan.allowed, down_to=TOUCH):
                manipulator.look_at(hand[:3, 3], plan.approach)
                manipulator.report("reach", 0.3)
                manipulator.move_to([plan.approach[0]])
        except NavigationFailed as failure:
            out_of_the_way.append(wanted)
            failures.append(failure)
            manipulator.refresh()
        except (NoGrasp, NoMotion) as failure:
            failed.append(wanted)
            failures.append(failure)
            manipulator.refresh()
        else:
            return plan
    raise failures[-1]


def _stand(manipulator: Manipulator, plan: P, plan_from: Callable[[Iterable[BasePose]], P]) -> P:
    """Drive to where ``plan`` says and plan again for where that really is."""
    if plan.base == manipulator.scene.base:
        return plan
    manipulator.report("drive", 0.1)
    manipulator.drive_to(plan.base)
    return plan_from([manipulator.scene.base])


def _among(pose: BasePose, others: list[BasePose], tolerance: float) -> bool:
    return any(
        max(abs(pose[0] - other[0]), abs(pose[1] - other[1]), abs(wrap(pose[2] - other[2]))) < tolerance
        for other in others
    )
