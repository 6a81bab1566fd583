"""The native skills: go_to, pick, put, open, close and reset_arm without motion.

A skill first looks for what would make the physical one fail, with the same error codes; then it brings about the final
state: the base at a free place within reach, the object between the fingers or at rest on the receptacle, the door or
drawer open or closed, the arm folded. Simulation time runs on by what the physical skill takes about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from homie_core import fetch, names
from homie_core.skill import SkillErrorCode, SkillOutcome, SkillTry
from homie_core.world_state import Kind, ObjectState, WorldState
from homie_sim.native import standing
from homie_sim.native.editor import Editor
from homie_sim.native.failure import SkillFailure
from homie_sim.native.misfortune import Misfortune
from homie_sim.native.placing import Spot, spots
from homie_sim.native.stances import Stances
from homie_sim.native.standing import Floor, Pose
from homie_sim.native.success_rates import SuccessRates
from homie_sim.readout import Container
from homie_sim.world import MujocoWorld

SECONDS: Mapping[str, float] = {"go_to": 3.0, "pick": 14.0, "put": 14.0, "open": 20.0, "close": 20.0, "reset_arm": 0.0}
"""Simulation seconds that a skill takes about; go_to also those of its way."""

DRIVING_SPEED = 0.8

NEAR = 1.5
"""Metres from the base to the target within which the robot counts as being there."""

HINGE_OPEN, HINGE_OPEN_ENOUGH = math.radians(82), math.radians(75)
SLIDE_OPEN, SLIDE_OPEN_ENOUGH = 0.95, 0.75
"""Where doors (radians) and drawers (share of the travel) are pulled to, and from where on they count as open."""

CLOSED_ENOUGH = 0.04
"""Open fraction below which a container counts as closed."""

HANDLE_GAPS = (0.55, 0.65, 0.75, 0.45, 0.85)
"""Distances from a front to the base, to open or close it."""

HANDLE_REACH = 1.3

_COURSE = 6
_SPOTS = 40
_SETTLE_TICKS = 5


class NativeSkills:
    """The skills of one world. Call them in the thread that owns it."""

    def __init__(self, world: MujocoWorld, rates: SuccessRates | None = None) -> None:
        self._world = world
        self._editor = Editor(world)
        self._rates = rates or SuccessRates()
        self._stances = Stances(world, self._editor)
        self._misfortune = Misfortune(world, self._editor, self._stances)
        self._skills: dict[str, Callable[[str, str], bool]] = {
            "go_to": lambda target, _receptacle: self._go_to(target),
            "pick": lambda target, _receptacle: self._pick(target),
            "put": self._put,
            "open": lambda target, _receptacle: self._open(target),
            "close": lambda target, _receptacle: self._close(target),
            "reset_arm": lambda _target, _receptacle: False,
        }

    def execute(self, request: SkillTry) -> SkillOutcome:
        """One try. Its time passes in any case; after a failure the world is as before, but for what bad luck did."""
        stamp, pose = self._world.stamp, self._world.base_pose()
        state = self._world.world_state()
        target, receptacle = names.resolve_goal(request.skill, request.target, request.receptacle, state)
        request = replace(request, target=target, receptacle=receptacle)
        outcome = SkillOutcome(True, SkillErrorCode.NONE, "")
        try:
            self._try(request)
        except SkillFailure as failure:
            outcome = SkillOutcome(False, failure.code, str(failure))
        spent = (self._world.stamp - stamp) * 1e-9
        self._world.pass_time(max(0.0, min(self._seconds(request.skill, pose), request.timeout) - spent))
        return outcome

    def _try(self, request: SkillTry) -> None:
        """Act, unless luck is against it.

        Raises:
            SkillFailure: the try fails; the world is left as ``execute`` says.
        """
        start, pose = self._world.snapshot(), self._world.base_pose()
        skill = self._skills.get(request.skill)
        if skill is None:
            text = f"no skill {request.skill!r}; there are {', '.join(self._skills)}"
            raise SkillFailure(SkillErrorCode.UNKNOWN_SKILL, text)
        try:
            self._editor.fold_arm()
            acted = skill(request.target, request.receptacle)
            self._check_time(request, pose)
        except SkillFailure:
            self._world.restore(start)
            raise
        luck = self._rates.draw(request)
        if acted and not luck.succeeds:
            self._world.restore(start)
            raise self._misfortune.strike(request, luck)

    def _seconds(self, skill: str, start: Pose) -> float:
        """Simulation seconds of a try that began with the base at ``start``."""
        x, y, _ = self._world.base_pose()
        way = math.hypot(x - start[0], y - start[1]) if skill == "go_to" else 0.0
        return SECONDS.get(skill, 0.0) + way / DRIVING_SPEED

    # --- the skills: each returns whether there was anything to do

    def _go_to(self, target: str) -> bool:
        thing = self._thing(target)
        if self._world.held == target or self._is_inside(thing):
            return False
        if not self._stances.stand_at_one(standing.choices(Floor(self._world), thing)):
            raise SkillFailure(SkillErrorCode.NO_PATH, f"there is no free place to stand near {target}")
        distance = standing.level_distance(thing, self._world.base_pose())
        if distance > NEAR:
            raise SkillFailure(SkillErrorCode.NO_PATH, f"{target} is still {distance:.2f} m away")
        return True

    def _pick(self, target: str) -> bool:
        thing = self._thing(target, Kind.OBJECT)
        if self._world.held == target:
            return False
        self._check_hand_empty()
        self._check_open(target)
        for _ in self._stances.within_reach(thing.box_center):
            if not self._editor.take(target):
                raise SkillFailure(SkillErrorCode.NO_GRASP, f"{target} fits nowhere between the fingers")
            if not self._editor.obstacle():
                return True
        raise SkillFailure(SkillErrorCode.NO_GRASP, f"{target} is out of reach")

    def _put(self, target: str, receptacle: str) -> bool:
        self._thing(receptacle)
        world = self._world
        if not any(region.owner == receptacle for region in world.readout.regions):
            text = f"nothing can be put on or in {receptacle!r}"
            raise SkillFailure(SkillErrorCode.UNKNOWN_TARGET, text)
        if world.held != target:
            raise SkillFailure(SkillErrorCode.OBJECT_LOST, f"the hand holds {world.held or 'nothing'}, not {target}")
        self._check_open(receptacle)
        free = spots(world, world.world_state(), target, receptacle)
        if not any(self._put_on(target, receptacle, spot) for spot in free[:_SPOTS]):
            text = f"no free spot for {target} on {receptacle} is within reach"
            raise SkillFailure(SkillErrorCode.NO_GRASP, text)
        self._editor.fold_arm()
        return True

    def _put_on(self, target: str, receptacle: str, spot: Spot) -> bool:
        """Lay the held object on ``spot``; False, and nothing changed, if it does not fit or stay there."""
        editor, world = self._editor, self._world
        start = world.snapshot()
        for _ in self._stances.within_reach(spot.position.tolist()):
            editor.let_go()
            editor.place(target, spot.position, spot.yaw)
            fits = not editor.obstacle_of_object(target)
            if fits and editor.rest(target) and world.world_state()[target].parent == receptacle:
                return True
            break
        world.restore(start)
        return False

    def _open(self, target: str) -> bool:
        container = self._container(target)
        hinge, limit = container.is_hinge, container.limit
        goal, enough = (HINGE_OPEN, HINGE_OPEN_ENOUGH) if hinge else (SLIDE_OPEN * limit, SLIDE_OPEN_ENOUGH * limit)
        return self._move(target, min(goal, limit), lambda position: position >= enough)

    def _close(self, target: str) -> bool:
        enough = CLOSED_ENOUGH * self._container(target).fully_open
        return self._move(target, 0.0, lambda position: position <= enough)

    def _move(self, target: str, goal: float, enough: Callable[[float], bool]) -> bool:
        """Move a door or drawer to ``goal`` from somewhere where the robot is not in its way."""
        self._check_hand_empty()
        container = self._world.readout.containers[target]
        if enough(self._world.data.qpos[container.qpos]):
            return False
        state = self._world.world_state()
        thing = state[target]
        front = standing.heading(thing)
        poses = self._stances.here_first(
            thing.box_center, HANDLE_REACH, lambda floor: standing.before(floor, thing, front, HANDLE_GAPS, 1)
        )
        for _ in self._stances.each(poses):
            if self._follow_course(state, target, goal):
                self._world.tick(_SETTLE_TICKS)
                break
        else:
            raise SkillFailure(SkillErrorCode.NO_GRASP, f"there is no place to stand from which {target} can be moved")
        position = float(self._world.data.qpos[container.qpos])
        if not enough(position):
            raise SkillFailure(SkillErrorCode.STALLED, f"{target} stands at {position:.2f} instead of {goal:.2f}")
        return True

    def _follow_course(self, state: WorldState, target: str, goal: float) -> bool:
        """Move the joint to ``goal``; False if the robot is in the way or too near in the end.

        Raises:
            SkillFailure: something else is in the way.
        """
        start = float(self._world.data.qpos[self._world.readout.containers[target].qpos])
        for position in np.linspace(start, goal, _COURSE + 1)[1:]:
            self._editor.move_container(target, float(position), state)
            if self._editor.obstacle():
                return False
            blocker = self._editor.obstacle_of(target, state)
            if blocker:
                text = f"{target} is stopped by {blocker} at {position:.2f} on the way to {goal:.2f}"
                raise SkillFailure(SkillErrorCode.STALLED, text)
        gap = standing.level_distance(self._world.world_state()[target], self._world.base_pose()) - fetch.BASE_RADIUS
        return gap >= standing.COMFORTABLE_GAP

    # --- conditions

    def _check_time(self, request: SkillTry, start: Pose) -> None:
        seconds = self._seconds(request.skill, start)
        if seconds > request.timeout:
            text = f"{request.skill} takes {seconds:.0f} s of simulation time; allowed are {request.timeout:.0f} s"
            raise SkillFailure(SkillErrorCode.TIMEOUT, text)

    def _thing(self, id: str, kind: Kind | None = None) -> ObjectState:
        thing = self._world.world_state().get(id)
        if thing is None or (kind is not None and thing.kind is not kind):
            raise SkillFailure(SkillErrorCode.UNKNOWN_TARGET, f"there is no {kind or 'thing'} {id!r}")
        return thing

    def _container(self, id: str) -> Container:
        container = self._world.readout.containers.get(id)
        if container is None:
            raise SkillFailure(SkillErrorCode.UNKNOWN_TARGET, f"{id!r} is nothing that opens")
        return container

    def _check_hand_empty(self) -> None:
        if self._world.held:
            raise SkillFailure(SkillErrorCode.NO_GRASP, f"the hand already holds {self._world.held}")

    def _check_open(self, id: str) -> None:
        container = self._world.world_state().closed_container_of(id)
        if container is not None:
            text = f"{container.id} is closed: open fraction {container.open_fraction:.2f}"
            raise SkillFailure(SkillErrorCode.NO_GRASP, text)

    def _is_inside(self, thing: ObjectState) -> bool:
        return thing.kind is Kind.PLACE and standing.level_distance(thing, self._world.base_pose()) == 0.0
