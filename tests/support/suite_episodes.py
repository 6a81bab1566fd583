"""Whole episodes of shipped tasks in one process without ROS, with the expert as planner.

Instantly, by the simulator's native skills, or physically, by the M3 skills; houses are built once a process.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import cache

from homie_core import goals
from homie_core.episode import EpisodeResult, Step
from homie_core.goals import GoalResult, WorldScene
from homie_core.inventory import Inventory
from homie_core.key_path import Progress, task_progress
from homie_core.skill import SkillTry
from homie_core.subtask import Subtask
from homie_core.world_state import WorldState
from homie_eval.emmoe.tasks import Task
from homie_planner.backends.expert import Expert
from homie_planner.loop import EpisodeLoop, Executed, Observed
from homie_sim.house import load_house
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld
from support.episodes import InstantPorts, Log, episode_info
from support.physical_subtasks import DisturbedWorld, PhysicalSubtasks


@cache
def house_world(house: str) -> DisturbedWorld:
    """The one world of a house in this process; whoever takes it resets it."""
    return DisturbedWorld(load_house(house))


@cache
def _physical(house: str) -> PhysicalSubtasks:
    return PhysicalSubtasks(house_world(house))


def _arrange(world: MujocoWorld, task: Task, seed: int) -> None:
    world.reset(seed, json.loads(task.placements_json or "[]"))


def initial_state(task: Task, seed: int = 0) -> WorldState:
    """The world in which a task starts."""
    world = house_world(task.scene)
    _arrange(world, task, seed)
    return world.world_state()


@dataclass
class NativeWorld:
    """What `support.episodes.InstantPorts` needs of a world. Only one at a time for each house."""

    task: Task
    seed: int = 0

    def __post_init__(self) -> None:
        self._world = house_world(self.task.scene)
        self._skills = NativeSkills(self._world)

    @property
    def state(self) -> WorldState:
        return self._world.world_state()

    def reset(self) -> None:
        _arrange(self._world, self.task, self.seed)

    def act(self, skill: str, object_id: str, receptacle_id: str = "") -> None:
        """Carry out a skill; whether it reached its goal is judged from the state."""
        self._skills.execute(SkillTry(skill, object_id, receptacle_id))


@dataclass
class PhysicalPorts:
    """World and executor of the loop in one: M3's skills and the executor's tries. One at a time for each house."""

    task: Task
    seed: int = 0

    def __post_init__(self) -> None:
        self.subtasks = _physical(self.task.scene)

    def reset(self) -> int:
        _arrange(self.subtasks.world, self.task, self.seed)
        self.subtasks.begin()
        return self.subtasks.world.stamp

    def observe(self) -> Observed:
        return Observed(self.subtasks.world.stamp)

    def state(self) -> WorldState:
        return self.subtasks.world.world_state()

    def execute(self, step: int, subtask: Subtask, inventory: Inventory) -> Executed:
        done = self.subtasks.run(subtask.action, subtask.target, subtask.destination, subtask.model)
        return Executed(
            success=done.success,
            error_code=done.code,
            feedback=done.feedback,
            attempts=done.attempts,
            inventory=done.inventory,
            stamp=self.subtasks.world.stamp,
            target_id=done.target_id,
            destination_id=done.destination_id,
            note="; ".join(filter(None, (done.note, done.detail))),
        )


@dataclass(frozen=True)
class Episode:
    """One episode of a task, scored."""

    task: Task
    result: EpisodeResult
    steps: tuple[Step, ...]
    progress: Progress
    goal: GoalResult
    seconds: float
    faults: tuple[str, ...] = field(default=())
    """What went wrong in the tries, those that were repeated too."""

    @property
    def solved(self) -> bool:
        return self.progress.success and self.goal.success

    def __str__(self) -> str:
        words = f"{self.task.id}: TP {self.progress.value:.2f}, GC {self.goal.share:.2f}, {len(self.steps)} steps"
        missing = [verdict.explanation for verdict in self.goal.verdicts if not verdict.holds]
        cause = [self.result.cause] if self.result.cause else []
        return "; ".join([f"{words} of {self.task.expert_length}", *cause, *self.faults, *missing])


def instant_episode(task: Task, seed: int = 0) -> Episode:
    """An episode by native skills."""
    return _episode(task, InstantPorts(NativeWorld(task, seed)))


def physical_episode(task: Task, seed: int = 0) -> Episode:
    """An episode by physical skills."""
    return _episode(task, PhysicalPorts(task, seed))


def _episode(task: Task, ports: InstantPorts[NativeWorld] | PhysicalPorts) -> Episode:
    log, begin = Log(), time.perf_counter()
    result = EpisodeLoop(ports, ports, log, Expert()).run(episode_info(task.instruction, task.to_json()))
    seconds, state = time.perf_counter() - begin, ports.state()
    return Episode(
        task,
        result,
        tuple(log.steps),
        task_progress(task.paths, log.steps, state.categories),
        goals.evaluate(task.conditions, WorldScene(state)),
        seconds,
        tuple(_told(step) for step in log.steps if not step.success or step.attempts > 1),
    )


def _told(step: Step) -> str:
    end = step.error_code.value if step.error_code else "done"
    return f"step {step.index} {step.subtask.brackets()} {end} after {step.attempts} tries ({step.note})"
