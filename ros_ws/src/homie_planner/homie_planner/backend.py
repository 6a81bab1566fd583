"""The one interface of all planners: a request with everything that a planner may know, a reply that is text."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

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
    repairs: bool = False
    """Writes free text, which may not be readable, and can be shown what was wrong with it."""
    privileged: bool = False
    """Reads the state of the world and the task's goal, which no fair planner may see."""
    reply_seconds: float | None = None
    """Wall-clock limit for a reply, where a planner needs another one than the episode's: a person thinks longer."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. ``views`` are RGB arrays (height, width, 3) that stand before the text."""

    role: Literal["user", "assistant"]
    text: str
    views: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a planner is asked at one step (paper, equation 4).

    ``system`` and ``prompt`` are the texts; task, inventory, history and feedback are the parts that ``prompt`` is made
    of, and ``steps`` is the history as data. ``views`` holds RGB arrays (height, width, 3) in the order front, left,
    back, right, and is empty in worlds of text and where the planner is to be told, not shown, what is there;
    ``observation`` is the world's description of the surroundings, with which ``prompt`` begins where it is told.
    ``step`` counts from 1. ``examples`` are turns before the prompt, ``repair`` those after it: the reply that could
    not be read and what was wrong with it. ``world`` and ``task_json`` are set for privileged planners alone.
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
    examples: tuple[Turn, ...] = ()
    repair: tuple[Turn, ...] = ()
    world: WorldState | None = None
    task_json: str = ""
    free_text: bool = False
    """Any text is wanted, not a decision: no schema."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The whole conversation, without the system text: it begins with a user and alternates."""
        return (*self.examples, Turn("user", self.prompt, self.views), *self.repair)

    @property
    def transcript(self) -> str:
        """Everything that is asked, as the episode's record shows it, with who says what; pictures are left out."""
        turns = [f"[{turn.role}]\n{turn.text}" for turn in self.turns]
        return "\n".join([f"[system]\n{self.system}", *turns])


@dataclass(frozen=True, slots=True)
class PlanReply:
    """What a planner answered. ``text`` is read by `homie_planner.parsing`, whatever planner wrote it.

    ``requests`` counts what was sent to a model for it, retries included. ``note`` is one line for people: why the text
    is not what a model would have said in peace (cut off at a limit, a tool call instead of text, retries).
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    requests: int = 0
    note: str = ""


class Backend(Protocol):
    """A planner.

    One object serves one episode at a time; `reset` starts the next one. `plan` is called once a step, and once more
    if the reply cannot be read and the planner `repairs`, from any thread; it has to return or raise before the
    deadline. Making one is cheap, so that its capabilities can be looked at: weights are loaded by the first `reset`,
    connections opened by the first `plan`. Nothing is asked of it after `close`.
    """

    @property
    def name(self) -> str:
        """The name that the result shows, e.g. ``expert``."""

    @property
    def capabilities(self) -> Capabilities:
        """What it needs and can do."""

    def reset(self) -> None:
        """Forget the last episode.

        Raises:
            PlannerError: what it needs cannot be loaded.
        """

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        """The reply to one request.

        Raises:
            PlannerError: there will be no reply; the episode ends as a planner failure.
        """

    def close(self) -> None:
        """Give back models, connections and ports. May be called twice."""


@runtime_checkable
class Announcing(Protocol):
    """A planner that has something to tell people while an episode runs, e.g. an address to open.

    ``announce`` is called with one line; whoever runs the planner replaces it with what its users see.
    """

    announce: Callable[[str], None]
