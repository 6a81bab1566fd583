"""An episode as data: what was run, what happened at each step, how it stopped. Mirrors homie_msgs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from homie_core.errors import SUCCESS_FEEDBACK, ErrorCode
from homie_core.subtask import Subtask

FORMAT_VERSION = 1
"""Version of the episode topics; readers accept this and older ones."""

STEP_LIMIT = 20
"""Steps after which an episode stops (paper, section 4.3)."""

ATTEMPT_LIMIT = 3
"""Tries of one subtask before it counts as too difficult (paper, appendix E.1)."""


class Setting(StrEnum):
    """What the skills and the monitor may know (paper, section 3.3)."""

    BACKGROUND_INFORMATION = "background_information"
    NO_BACKGROUND_INFORMATION = "no_background_information"


class Outcome(StrEnum):
    """How an episode stopped. The last three say nothing about the planner's ability and are counted apart."""

    ENDED = "ended"
    STEP_LIMIT = "step_limit"
    PLANNER_FAILURE = "planner_failure"
    INFRASTRUCTURE_FAILURE = "infrastructure_failure"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class EpisodeInfo:
    """What is about to run."""

    episode_id: str
    benchmark: str
    task_id: str
    instruction: str
    scene: str
    seed: int
    trial: int
    planner: str
    setting: str
    max_steps: int = STEP_LIMIT
    task_json: str = ""
    configuration_json: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class Step:
    """One executed step, counted from 1. ``success`` was judged from the world.

    ``target_id`` and ``destination_id`` are what the subtask's words were taken for: things in the world, or canonical
    names where nobody may look at it; empty if not known. ``note`` is one line for people: what had to be overlooked to
    read the planner's reply, and how ambiguous names were understood.
    """

    index: int
    subtask: Subtask
    success: bool
    error_code: ErrorCode | None = None
    feedback: str = SUCCESS_FEEDBACK
    analysis: str = ""
    prompt: str = ""
    raw_output: str = ""
    target_id: str = ""
    destination_id: str = ""
    note: str = ""
    attempts: int = 0
    inventory_before: tuple[str, ...] = ()
    inventory_after: tuple[str, ...] = ()
    planner_wall_seconds: float = 0.0
    execution_wall_seconds: float = 0.0
    sim_seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    requests: int = 0
    """Sent to a model for this step, with retries and the repair turn."""
    cost_usd: float | None = None
    """By the price table of the planner's configuration; None without one."""
    stamp: int = 0
    """Simulation time at the end of the step, nanoseconds."""


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """How an episode stopped. ``cause`` is one line, for the failures."""

    outcome: Outcome
    steps: int
    cause: str = ""
    wall_seconds: float = 0.0
    sim_seconds: float = 0.0
