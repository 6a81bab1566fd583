"""What bad luck does to a try that could have succeeded."""

from __future__ import annotations

import math

import numpy as np

from homie_core.skill import SkillErrorCode, SkillTry
from homie_core.world_state import Kind, ObjectState
from homie_sim.native import standing
from homie_sim.native.editor import Editor
from homie_sim.native.failure import SkillFailure
from homie_sim.native.stances import Stances
from homie_sim.native.standing import Floor, Pose
from homie_sim.native.success_rates import Luck
from homie_sim.objects import CATALOGUE, category_of
from homie_sim.world import MujocoWorld

ASTRAY = 2.2
"""Metres from its target at which a failed go_to ends at least: beyond what counts as being there."""

_DROP = 0.002

_CODES = {
    "go_to": SkillErrorCode.NO_PATH,
    "pick": SkillErrorCode.GRASP_FAILED,
    "put": SkillErrorCode.NO_MOTION,
    "open": SkillErrorCode.STALLED,
    "close": SkillErrorCode.STALLED,
}


class Misfortune:
    """Makes tries of one world fail."""

    def __init__(self, world: MujocoWorld, editor: Editor, stances: Stances) -> None:
        self._world = world
        self._editor = editor
        self._stances = stances

    def strike(self, request: SkillTry, luck: Luck) -> SkillFailure:
        """Do what happens instead of the try's success; the failure says what it was.

        A go_to ends away from its target, a Put may drop the object; else everything stays as it is.
        """
        if request.skill == "go_to":
            self._go_astray(self._world.world_state()[request.target], luck.rng)
        if request.skill == "put" and luck.loses and self._drop():
            return SkillFailure(SkillErrorCode.OBJECT_LOST, f"bad luck: {request.target} fell to the floor")
        return SkillFailure(_CODES[request.skill], f"bad luck: {request.skill} failed")

    def _go_astray(self, target: ObjectState, rng: np.random.Generator) -> None:
        """Be somewhere else than at the target; a robot that is away from it stays where it is."""
        if _is_away(target, self._world.base_pose()):
            return
        points = Floor(self._world).everywhere()
        yaws = rng.uniform(-math.pi, math.pi, len(points))
        poses = [(x, y, yaw) for (x, y), yaw in zip(points.tolist(), yaws.tolist(), strict=True)]
        away = [pose for pose in poses if _is_away(target, pose)]
        self._stances.stand_at_one([away[index] for index in rng.permutation(len(away))])

    def _drop(self) -> bool:
        """Let the held object fall to the floor near the robot; False, and nothing changed, if there is no room."""
        world, held = self._world, self._world.held
        size = CATALOGUE[category_of(held)].size
        start = world.snapshot()
        for x, y in Floor(world).spots_in_front(math.hypot(size[0], size[1]) / 2):
            ground = self._editor.ground(x, y)
            self._editor.let_go()
            self._editor.place(held, np.array([x, y, ground + size[2] / 2 + _DROP]), 0.0)
            if not self._editor.obstacle_of_object(held) and self._editor.rest(held):
                return True
            world.restore(start)
        return False


def _is_away(thing: ObjectState, pose: Pose) -> bool:
    return standing.level_distance(thing, pose) > (0.0 if thing.kind is Kind.PLACE else ASTRAY)
