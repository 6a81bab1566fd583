"""Ports for the episode loop that need no ROS: a world whose skills work at once, judged by the real checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol

from typing_extensions import TypeVar

from homie_core import inventory as inventories
from homie_core.episode import EpisodeInfo, EpisodeResult, Step
from homie_core.errors import SUCCESS_FEEDBACK, Fault
from homie_core.inventory import Inventory
from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE
from homie_core.world_state import WorldState
from homie_monitor.checks import Checker, Claim, Targets
from homie_planner.loop import Executed, Observed
from support.toy_house import ToyWorld

Disturbance = Callable[[int, ToyWorld], None]
"""Called before each step is executed, with its number: changes the world behind the planner's back."""


class InstantWorld(Protocol):
    """A world whose skills take no time."""

    @property
    def state(self) -> WorldState: ...

    def reset(self) -> None: ...

    def act(self, skill: str, object_id: str, receptacle_id: str = "") -> None: ...


W = TypeVar("W", bound=InstantWorld, default=ToyWorld)


@dataclass
class InstantPorts(Generic[W]):
    """World and executor of the loop in one: a skill that the checks allow is done at once."""

    world: W
    disturb: Callable[[int, W], None] | None = None
    checker: Checker = field(default_factory=Checker)

    def reset(self) -> int:
        self.world.reset()
        return self.world.state.stamp

    def observe(self) -> Observed:
        return Observed(self.world.state.stamp)

    def state(self) -> WorldState:
        return self.world.state

    def execute(self, step: int, subtask: Subtask, inventory: Inventory) -> Executed:
        if self.disturb is not None:
            self.disturb(step, self.world)
        permission = self.checker.before(subtask, inventory, self.world.state)
        targets = permission.targets
        if permission.fault is not None:
            return self._executed(subtask, inventory, targets, permission.fault, 0)
        verb = EMMOE.verb(subtask.action)
        if verb is None or verb.skill is None:
            raise ValueError(f"the checks let pass {subtask}")
        self.world.act(verb.skill, targets.object_id, targets.receptacle_id)
        verdict = self.checker.after(subtask, targets, inventory, self.world.state, Claim(True))
        return self._executed(subtask, inventory, targets, verdict.fault, 1)

    def _executed(
        self, subtask: Subtask, inventory: Inventory, targets: Targets, fault: Fault | None, attempts: int
    ) -> Executed:
        code = None if fault is None else fault.code
        return Executed(
            success=fault is None,
            error_code=code,
            feedback=SUCCESS_FEEDBACK if fault is None else fault.feedback,
            attempts=attempts,
            inventory=inventories.update(inventory, subtask, fault is None, code),
            stamp=self.world.state.stamp,
            target_id=targets.object_id,
            destination_id=targets.receptacle_id,
            note=targets.note,
        )


@dataclass
class Log:
    """A journal that remembers."""

    infos: list[EpisodeInfo] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    results: list[EpisodeResult] = field(default_factory=list)

    def begin(self, info: EpisodeInfo, stamp: int) -> None:
        self.infos.append(info)

    def step(self, step: Step) -> None:
        self.steps.append(step)

    def end(self, result: EpisodeResult, stamp: int) -> None:
        self.results.append(result)


def episode_info(instruction: str = "bring the mug", task_json: str = "", max_steps: int = 20) -> EpisodeInfo:
    return EpisodeInfo(
        episode_id="episode_1",
        benchmark="emmoe",
        task_id="1",
        instruction=instruction,
        scene="toy_house",
        seed=0,
        trial=1,
        planner="test",
        setting="background_information",
        max_steps=max_steps,
        task_json=task_json,
    )
