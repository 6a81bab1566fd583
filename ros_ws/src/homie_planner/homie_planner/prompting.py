"""From the situation of a step to what the planner is asked (paper, equation 4)."""

from __future__ import annotations

from dataclasses import dataclass

from homie_core.episode import EpisodeInfo, Step
from homie_core.inventory import Inventory
from homie_core.vocabulary import EMMOE, Vocabulary
from homie_core.world_state import WorldState
from homie_planner import history
from homie_planner.backend import Picture, PlanRequest
from homie_planner.instruction import SYSTEM_TEXT, InstructionOptions, instruction


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known before step ``index`` (from 1). ``world`` is there for privileged planners alone."""

    info: EpisodeInfo
    index: int
    steps: tuple[Step, ...] = ()
    inventory: Inventory = ()
    views: tuple[Picture, ...] = ()
    observation: str = ""
    world: WorldState | None = None


class Prompter:
    """Makes requests, by one set of options."""

    def __init__(self, options: InstructionOptions | None = None, vocabulary: Vocabulary = EMMOE) -> None:
        self.options = options or InstructionOptions()
        self.vocabulary = vocabulary

    def request(self, situation: Situation) -> PlanRequest:
        """The request for one step."""
        info = situation.info
        past, last = history.line(situation.steps), history.feedback(situation.steps)
        return PlanRequest(
            task=info.instruction,
            system=SYSTEM_TEXT,
            prompt=instruction(info.instruction, situation.inventory, past, last),
            inventory=situation.inventory,
            history=past,
            feedback=last,
            views=situation.views,
            observation=situation.observation,
            vocabulary=self.vocabulary,
            step=situation.index,
            seed=info.seed,
            steps=situation.steps,
            world=situation.world,
            task_json=info.task_json if situation.world is not None else "",
        )
