"""The same subtasks done twice: by the physical skills, and by the simulator itself without motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from homie_core import fetch
from homie_core.skill import SkillTry
from homie_core.world_state import FLOOR, Kind, WorldState
from homie_sim.house import House
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld
from homie_skills.m3 import M3
from support.direct_robot import DirectRobot

Symbols = tuple[str, dict[str, str], dict[str, bool]]


@dataclass(frozen=True)
class Compared:
    """One subtask in both worlds. An error is empty where the skill succeeded."""

    subtask: SkillTry
    physical_error: str
    instant_error: str
    physical: Symbols
    instant: Symbols

    @property
    def succeeded(self) -> bool:
        """Whether it succeeded in both worlds."""
        return not self.physical_error and not self.instant_error


def symbols(state: WorldState) -> Symbols:
    """What a plan is about: what is held, where each object is, which containers are open."""
    parents = {thing.id: thing.parent for thing in state.objects if thing.kind is Kind.OBJECT}
    opened = {thing.id: thing.is_open for thing in state.objects if thing.is_container}
    return state.held, parents, opened


class TwoWorlds:
    """Two worlds of one house, in the same state as long as all goes well."""

    def __init__(self, house: House) -> None:
        self.physical = MujocoWorld(house)
        self.instant = MujocoWorld(house)
        self._native = NativeSkills(self.instant)

    def run(self, seed: int, length: int) -> Iterator[Compared]:
        """A random plan of at most ``length`` subtasks, each preceded by Go to; it ends with the first failure."""
        rng = np.random.default_rng(seed)
        m3 = self._begin(seed, rng)
        while length > 0:
            subtask = _choice(self.instant.world_state(), rng)
            for each in (SkillTry("go_to", subtask.receptacle or subtask.target), subtask):
                compared = self._compare(each, m3)
                yield compared
                if not compared.succeeded:
                    return
                length -= 1

    def follow(self, plan: Iterable[SkillTry], prepare: Callable[[MujocoWorld], None], seed: int = 0) -> list[Compared]:
        """A given plan, to its end, in two worlds that ``prepare`` has been at."""
        m3 = self._begin(seed, np.random.default_rng(seed))
        for world in (self.physical, self.instant):
            prepare(world)
        return [self._compare(subtask, m3) for subtask in plan]

    def _begin(self, seed: int, rng: np.random.Generator) -> M3:
        """Reset both worlds; the physical skills."""
        self.physical.reset(seed)
        self.instant.reset(seed)
        return M3(DirectRobot(self.physical), self.physical.world_description(), fetch.mesh_assets(), rng)

    def _compare(self, subtask: SkillTry, m3: M3) -> Compared:
        instant = self._native.execute(subtask)
        physical = m3.execute(subtask.skill, subtask.target, subtask.receptacle, subtask.timeout)
        states = (symbols(world.world_state()) for world in (self.physical, self.instant))
        return Compared(subtask, physical.error_msg, instant.error_msg, *states)


def _choice(state: WorldState, rng: np.random.Generator) -> SkillTry:
    """Something that can be done now."""
    choices = list(_choices(state))
    return choices[int(rng.integers(len(choices)))]


def _choices(state: WorldState) -> Iterator[SkillTry]:
    reachable = [thing for thing in state.objects if state.closed_container_of(thing.id) is None]
    if state.held:
        places = [thing for thing in reachable if thing.kind in (Kind.FURNITURE, Kind.CONTAINER)]
        yield from (SkillTry("put", state.held, thing.id) for thing in places)
        return
    objects = (thing for thing in reachable if thing.kind is Kind.OBJECT and thing.parent != FLOOR)
    yield from (SkillTry("pick", thing.id) for thing in objects)
    for thing in state.objects:
        if thing.is_container:
            yield from [SkillTry("close" if thing.is_open else "open", thing.id)] * 3
