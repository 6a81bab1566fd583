"""Single skills, done physically from random starts in random houses, and judged by the state of the world."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from homie_core import fetch
from homie_core.skill import SkillOutcome, SkillTry
from homie_core.subtask import Subtask
from homie_core.vocabulary import CLOSE, GO_TO, OPEN, PICK, PUT, Verb
from homie_core.world_state import FLOOR, Kind, WorldState
from homie_monitor.checks import Checker, Claim, Targets
from homie_sim.house import load_house
from homie_sim.house_files import house_names
from homie_sim.native.editor import Editor
from homie_sim.native.skills import NativeSkills
from homie_sim.native.standing import Floor
from homie_sim.world import MujocoWorld
from homie_skills.m3 import M3
from support.direct_robot import DirectRobot

VERBS = {"go_to": GO_TO, "pick": PICK, "put": PUT, "open": OPEN, "close": CLOSE}
TIMEOUT = 180.0
"""Seconds of simulation time for each skill."""
LEFT_OPEN = 0.15
"""Probability for each container to stand open although the skill does not need it."""
CHANCES = 40
"""How many random subtasks are looked at until one is possible."""
DEEPEST = -0.02
"""Metres: an object whose lowest point is further down has fallen through the floor."""

_STARTS = 20
_SETTLE_TICKS = 100


class NoTrial(RuntimeError):
    """A house offers nothing to try."""


@dataclass(frozen=True)
class Trial:
    """One skill, done once. ``house``, ``skill``, ``seed`` and ``number`` repeat it."""

    house: str
    skill: str
    seed: int
    number: int
    target: str
    receptacle: str
    fault: str
    """Why the skill has not reached its goal; empty if it has."""
    damage: str
    """What is wrong with the world afterwards; empty if nothing is."""
    wall_seconds: float
    simulated_seconds: float

    def __str__(self) -> str:
        words = " ".join(part for part in (self.skill, self.target, self.receptacle) if part)
        causes = "; ".join(part for part in (self.fault, self.damage and f"DAMAGE: {self.damage}") if part)
        return f"{words} in {self.house} (seed {self.seed}, number {self.number}): {causes or 'success'}"


class _Stage:
    """One house with everything that acts in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.world = MujocoWorld(load_house(name))
        self.native = NativeSkills(self.world)
        self.editor = Editor(self.world)
        self.rng = np.random.default_rng(0)
        self.m3 = M3(DirectRobot(self.world), self.world.world_description(), fetch.mesh_assets(), self.rng)

    def begin(self, rng: np.random.Generator) -> None:
        """Reset, stand somewhere, and leave some containers open."""
        self.rng.bit_generator.state = rng.bit_generator.state
        self.world.reset(int(rng.integers(2**31)))
        for thing in self.world.world_state().objects:
            if thing.is_container and not thing.is_open and rng.random() < LEFT_OPEN:
                self.prepare("open", thing.id)
        self._stand_somewhere(rng)

    def _stand_somewhere(self, rng: np.random.Generator) -> None:
        points = Floor(self.world).everywhere()
        for _ in range(_STARTS):
            start = self.world.snapshot()
            x, y = points[int(rng.integers(len(points)))].tolist()
            self.editor.stand((x, y, float(rng.uniform(-np.pi, np.pi))))
            if not self.editor.obstacle():
                return
            self.world.restore(start)
        raise NoTrial(f"{self.name}: the robot finds no place to stand")

    def prepare(self, skill: str, target: str, receptacle: str = "") -> bool:
        """Do a subtask and the Go to before it at once; False, and nothing changed, if that is impossible."""
        start = self.world.snapshot()
        tries = [SkillTry("go_to", receptacle or target), SkillTry(skill, target, receptacle)]
        done = all(self.native.execute(each).success for each in (tries[1:] if skill == "go_to" else tries))
        if not done:
            self.world.restore(start)
        return done

    def possible(self, skill: str, target: str, receptacle: str = "") -> bool:
        """Whether the simulator could do it without motion; nothing changes."""
        start = self.world.snapshot()
        possible = self.prepare(skill, target, receptacle)
        self.world.restore(start)
        return possible

    def uncover(self, id: str) -> bool:
        """Open the closed container that hides ``id``, if there is one."""
        hidden = self.world.world_state().closed_container_of(id)
        return hidden is None or self.prepare("open", hidden.id)

    def arrive(self, target: str) -> bool:
        """Go to ``target`` physically; False, and nothing changed, if that fails."""
        start = self.world.snapshot()
        arrived = self.execute("go_to", target).success
        if not arrived:
            self.world.restore(start)
        return arrived

    def execute(self, skill: str, target: str = "", receptacle: str = "") -> SkillOutcome:
        """Do it physically."""
        return self.m3.execute(skill, target, receptacle, TIMEOUT)


Subject = tuple[str, str]
"""Target and receptacle of a subtask."""


class SkillTrials:
    """Trials of all skills; the houses are built once, when they are first needed."""

    def __init__(self, houses: tuple[str, ...] = ()) -> None:
        self._houses = houses or tuple(house_names())
        self._stages: dict[str, _Stage] = {}
        self._ready: dict[str, Callable[[_Stage, np.random.Generator], Subject]] = {
            "go_to": _ready_to_go,
            "pick": _ready_to_pick,
            "put": _ready_to_put,
            "open": _ready_to_open,
            "close": _ready_to_close,
        }

    def run(self, skill: str, seed: int, number: int) -> Trial:
        """Trial ``number`` of ``skill``; the same arguments give the same trial.

        Raises:
            NoTrial: the house offers nothing to try.
        """
        rng = np.random.default_rng([seed, list(VERBS).index(skill), number])
        stage = self._stage(self._houses[int(rng.integers(len(self._houses)))])
        stage.begin(rng)
        target, receptacle = self._ready[skill](stage, rng)
        world = stage.world
        before = world.world_state()
        begin, stamp = time.perf_counter(), world.time
        outcome = stage.execute(skill, target, receptacle)
        wall, simulated = time.perf_counter() - begin, world.time - stamp
        fault = _fault(VERBS[skill], target, receptacle, before, world.world_state(), outcome)
        damage = _damage(stage, before, bool(fault))
        return Trial(stage.name, skill, seed, number, target, receptacle, fault, damage, wall, simulated)

    def _stage(self, house: str) -> _Stage:
        if house not in self._stages:
            self._stages[house] = _Stage(house)
        return self._stages[house]


# --- what each skill needs before it


def _ready_to_go(stage: _Stage, rng: np.random.Generator) -> Subject:
    things = [thing.id for thing in stage.world.world_state().objects]
    for target in _shuffled(things, rng):
        if stage.uncover(target) and stage.possible("go_to", target):
            return target, ""
    raise NoTrial(f"{stage.name}: there is nowhere to go")


def _ready_to_pick(stage: _Stage, rng: np.random.Generator) -> Subject:
    objects = [thing.id for thing in stage.world.world_state().objects if thing.kind is Kind.OBJECT]
    for target in _shuffled(objects, rng):
        if stage.uncover(target) and stage.possible("pick", target) and stage.arrive(target):
            return target, ""
    raise NoTrial(f"{stage.name}: there is nothing to pick")


def _ready_to_put(stage: _Stage, rng: np.random.Generator) -> Subject:
    places = sorted({region.owner for region in stage.world.readout.regions})
    for receptacle in _shuffled(places, rng):
        start = stage.world.snapshot()
        state = stage.world.world_state()
        objects = [
            thing.id
            for thing in state.objects
            if thing.kind is Kind.OBJECT and receptacle not in (thing.id, thing.parent)
        ]
        target = str(rng.choice(objects))
        if (
            stage.uncover(target)
            and stage.possible("pick", target)
            and stage.uncover(receptacle)
            and stage.arrive(target)
            and stage.execute("pick", target).success
            and stage.possible("put", target, receptacle)
            and stage.arrive(receptacle)
        ):
            return target, receptacle
        stage.world.restore(start)
    raise NoTrial(f"{stage.name}: there is nothing to put")


def _ready_to_open(stage: _Stage, rng: np.random.Generator) -> Subject:
    return _ready_to_move(stage, rng, "open")


def _ready_to_close(stage: _Stage, rng: np.random.Generator) -> Subject:
    return _ready_to_move(stage, rng, "close")


def _ready_to_move(stage: _Stage, rng: np.random.Generator, skill: str) -> Subject:
    opposite = "close" if skill == "open" else "open"
    containers = [thing.id for thing in stage.world.world_state().objects if thing.is_container]
    for target in _shuffled(containers, rng):
        ready = stage.world.world_state()[target].is_open is (skill == "close") or stage.prepare(opposite, target)
        if ready and stage.possible(skill, target) and stage.arrive(target):
            return target, ""
    raise NoTrial(f"{stage.name}: there is nothing to {skill}")


def _shuffled(ids: list[str], rng: np.random.Generator) -> Iterator[str]:
    return (ids[index] for index in rng.permutation(len(ids))[:CHANCES].tolist())


# --- what became of it


def _fault(
    verb: Verb, target: str, receptacle: str, before: WorldState, after: WorldState, outcome: SkillOutcome
) -> str:
    """Why the goal is not reached, with what the skill says about it; empty if it is."""
    inventory = (before.held,) if before.held else ()
    claim = Claim(outcome.success, outcome.error_msg)
    subtask = Subtask(verb.name, target, receptacle)
    verdict = Checker().after(subtask, Targets(target, receptacle), inventory, after, claim)
    return "" if verdict.fault is None else verdict.fault.detail


def _damage(stage: _Stage, before: WorldState, drive: bool) -> str:
    """What keeps the robot from going on: an object gone, or an arm or a base that is stuck."""
    world = stage.world
    world.tick(_SETTLE_TICKS)
    state = world.world_state()
    for thing in before.objects:
        found = state.get(thing.id)
        if found is None or not np.all(np.isfinite(found.position)):
            return f"{thing.id} has vanished"
        lowest = found.box_center[2] - found.box_size[2] / 2
        if found.kind is Kind.OBJECT and lowest < DEEPEST:
            return f"{thing.id} is at {lowest:.2f} m, below the floor"
    outcome = stage.execute("reset_arm")
    if not outcome.success:
        return f"the arm cannot be folded: {outcome.error_msg}"
    if not drive:
        return ""
    rooms = [thing.id for thing in state.objects if thing.kind is Kind.PLACE and thing.id != FLOOR]
    far = max(rooms, key=lambda room: np.hypot(*np.subtract(state[room].position, state.robot_pose)[:2]))
    outcome = stage.execute("go_to", far)
    return "" if outcome.success else f"the robot cannot drive to {far}: {outcome.error_msg}"
