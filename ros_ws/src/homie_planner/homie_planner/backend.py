"""The one interface of all planners: a request with everything that a planner may know, a reply that is text."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from homie_core.episode import Step
from homie_core.inventory import Inventory
from homie_core.vocabulary import EMMOE, Vocabulary
from homie_core.world_state import WorldState

Picture = NDArray[np.uint8]


class PlannerError(Exception):
    """A planner cannot go on with this episode. The text is one line: the cause that the episode's result shows."""


class PlannerTimeout(PlannerError):
    """No reply before the deadline."""


class PlannerCancelled(PlannerError):
    """The episode was cancelled while the planner was thinking."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call has to be over: a moment of ``time.monotonic``, or earlier if ``cancelled`` is set meanwhile."""

    at: float
    cancelled: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def after(cls, seconds: float, cancelled: threading.Event | None = None) -> Deadline:
        return cls(time.monotonic() + seconds, cancelled or threading.Event())

    @property
    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.at - time.monotonic())


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a planner needs and can do. Checked when it is made, so that a wrong choice shows before the episode."""

    images: bool = False
    """Looks at the four views."""
    schema: bool = False
    """Can be held to a JSON schema while it writes."""
    seeds: bool = False
    """Gives the same reply to the same request and seed."""
    privileged: bool = False
    """Reads the state of the world and the task's goal, which no fair planner may see."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a planner is asked at one step (paper, equation 4).

    ``system`` and ``prompt`` are the texts; task, inventory, history and feedback are the parts that ``prompt`` is made
    of, and ``steps`` is the history as data. ``views`` holds (256, 256, 3) RGB arrays in the order front, left, back,
    right, and is empty in worlds of text, where ``observation`` describes the surroundings. ``step`` counts from 1.
    ``world`` and ``task_json`` are set for privileged planners alone.
    """

    task: str
    system: str
    prompt: str
    inventory: Inventory = ()
    history: str = ""
    feedback: str = "None"
    views: tuple[Picture, ...] = ()
    observation: str = ""
    vocabulary: Vocabulary = EMMOE
    step: int = 1
    seed: int = 0
    steps: tuple[Step, ...] = ()
    world: WorldState | None = None
    task_json: str = ""


@dataclass(frozen=True, slots=True)
class PlanReply:
    """What a planner answered. ``text`` is read by `homie_planner.parsing`, whatever planner wrote it."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class Backend(Protocol):
    """A planner.

    One object serves one episode at a time; `reset` starts the next one. `plan` is called once a step, from any
    thread, and has to return or raise before the deadline.
    """

    @property
    def name(self) -> str:
        """The name that the result shows, e.g. ``expert``."""

    @property
    def capabilities(self) -> Capabilities:
        """What it needs and can do."""

    def reset(self) -> None:
        """Forget the last episode."""

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        """The reply to one request.

        Raises:
            PlannerError: there will be no reply; the episode ends as a planner failure.
        """
