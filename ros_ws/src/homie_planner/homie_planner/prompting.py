"""From the situation of a step to what the planner is asked (paper, equation 4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from homie_core.episode import EpisodeInfo, Step
from homie_core.inventory import Inventory
from homie_core.vocabulary import EMMOE, Vocabulary
from homie_core.world_state import WorldState
from homie_planner import history
from homie_planner.backend import Picture, PlanRequest, Turn
from homie_planner.instruction import (
    EXAMPLE_ANSWER,
    EXAMPLE_OUTPUT,
    InstructionOptions,
    ObservationKind,
    instruction,
    system_text,
)
from homie_planner.retrieval import Cue, Memory

ONE_SHOT = (Turn("user", EXAMPLE_OUTPUT), Turn("assistant", EXAMPLE_ANSWER))
"""The example exchange of the paper's appendix H.1."""


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
    """Makes requests, by one set of options. The memory that examples are retrieved from is read once, here."""

    def __init__(self, options: InstructionOptions | None = None, vocabulary: Vocabulary = EMMOE) -> None:
        """Read the memory, if the options ask for one.

        Raises:
            RetrievalError: the memory that the options name is not usable.
        """
        self.options = options or InstructionOptions()
        self.vocabulary = vocabulary
        retrieves = self.options.retrieve > 0
        self._memory = Memory.load(Path(self.options.memory), self.options.history_window) if retrieves else None

    @property
    def wants_text(self) -> bool:
        """Whether the planner is told what is seen, instead of shown."""
        return self.options.observation is ObservationKind.TEXT

    def request(self, situation: Situation) -> PlanRequest:
        """The request for one step."""
        info = situation.info
        past = history.line(situation.steps, self.options.history_window)
        last = history.feedback(situation.steps)
        told = situation.observation if self.wants_text else ""
        cue = Cue(info.instruction, situation.inventory, past, last)
        return PlanRequest(
            task=info.instruction,
            system=system_text(self.options.observation),
            prompt=instruction(info.instruction, situation.inventory, past, last, told),
            inventory=situation.inventory,
            history=past,
            feedback=last,
            views=() if self.wants_text else tuple(resized(view, self.options.image_size) for view in situation.views),
            observation=situation.observation,
            vocabulary=self.vocabulary,
            step=situation.index,
            seed=info.seed,
            steps=situation.steps,
            examples=self._examples(cue, info.episode_id),
            world=situation.world,
            task_json=info.task_json if situation.world is not None else "",
        )

    def _examples(self, cue: Cue, episode_id: str) -> tuple[Turn, ...]:
        examples = ONE_SHOT if self.options.one_shot else ()
        if self._memory is None:
            return examples
        similar = self._memory.similar(cue, self.options.retrieve, episode_id)
        return (*examples, *(turn for experience in similar for turn in experience.turns))


def resized(view: Picture, size: int) -> Picture:
    """``view`` (height, width, 3) as (``size``, ``size``, 3); the same array if it is that large already."""
    if view.shape[:2] == (size, size):
        return view
    shrinks = size < min(view.shape[:2])
    scaled = cv2.resize(view, (size, size), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    return scaled.astype(np.uint8, copy=False)
