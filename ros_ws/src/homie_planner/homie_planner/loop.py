"""The loop of one episode: observe, plan, execute, record, until End or the step limit (paper, figure D4).

Plain Python over three ports. Whatever happens, an episode ends with exactly one result: a port that does not answer
makes it an infrastructure failure, a planner that gives up a planner failure, a cancellation leaves it cancelled. A
reply that cannot be read is a failed step (F1), and the episode goes on.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Protocol

from homie_core import inventory as inventories
from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import SUCCESS_FEEDBACK, ErrorCode, feedback
from homie_core.inventory import Inventory
from homie_core.subtask import Subtask
from homie_core.world_state import WorldState
from homie_planner.asking import ask
from homie_planner.backend import Backend, Picture, PlannerCancelled, PlannerError
from homie_planner.config import Prices
from homie_planner.parsing import Decision, ReplyError
from homie_planner.prompting import Prompter, Situation

DEFAULT_PLANNER_SECONDS = 300.0
"""Wall-clock seconds that a planner may take for one reply."""

EMPTY_REPLY = "an empty reply"
"""What stands in history and feedback for a reply without any text."""


class InfrastructureError(Exception):
    """A neighbour did not answer. The text names it: the cause that the episode's result shows."""


class Cancelled(Exception):
    """The episode was cancelled while a port was busy."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What the robot sees: four (256, 256, 3) RGB views (front, left, back, right), or a text. ``stamp`` in ns."""

    stamp: int
    views: tuple[Picture, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Executed:
    """How a subtask went, by the executor. ``stamp``: simulation time at its end, ns; 0 if nothing moved.

    ``target_id`` and ``destination_id`` are what its names were taken for, ``note`` says why if there was a choice.
    """

    success: bool
    error_code: ErrorCode | None
    feedback: str
    attempts: int
    inventory: Inventory
    stamp: int = 0
    target_id: str = ""
    destination_id: str = ""
    note: str = ""


class World(Protocol):
    """What the loop asks of the world. Every call may raise `InfrastructureError` or `Cancelled`."""

    def reset(self) -> int:
        """Put the world into the initial state of the task; the simulation time afterwards, ns."""

    def observe(self) -> Observed:
        """Look around."""

    def state(self) -> WorldState:
        """The privileged state; asked for only by planners that declare it."""


class Executor(Protocol):
    """Carries out subtasks."""

    def execute(self, step: int, subtask: Subtask, inventory: Inventory) -> Executed:
        """Carry out one subtask. May raise `InfrastructureError` or `Cancelled`."""


class Journal(Protocol):
    """Where the episode is written down as it happens."""

    def begin(self, info: EpisodeInfo, stamp: int) -> None: ...

    def step(self, step: Step) -> None: ...

    def end(self, result: EpisodeResult, stamp: int) -> None: ...


@dataclass
class EpisodeLoop:
    """Runs episodes of one planner in one world.

    ``cancelled`` may be set from any thread; the loop then stops at the next occasion, the ports and the planner as
    soon as they notice.
    """

    world: World
    executor: Executor
    journal: Journal
    backend: Backend
    prompter: Prompter = field(default_factory=Prompter)
    repair: bool = True
    prices: Prices | None = None
    planner_seconds: float = DEFAULT_PLANNER_SECONDS
    cancelled: threading.Event = field(default_factory=threading.Event)

    def run(self, info: EpisodeInfo) -> EpisodeResult:
        """Run one episode from reset to result. Raises only what `Journal` raises."""
        episode = _Episode(self, info)
        outcome, cause = episode.run()
        result = EpisodeResult(
            outcome,
            len(episode.steps),
            cause,
            wall_seconds=time.monotonic() - episode.wall_start,
            sim_seconds=(episode.stamp - episode.sim_start) / 1e9,
        )
        if not episode.begun:
            self.journal.begin(info, episode.stamp)
        self.journal.end(result, episode.stamp)
        return result


class _Episode:
    """The state of one running episode."""

    def __init__(self, loop: EpisodeLoop, info: EpisodeInfo) -> None:
        self._loop = loop
        self._info = info
        self.steps: list[Step] = []
        self.inventory: Inventory = ()
        self.begun = False
        self.sim_start = 0
        self.stamp = 0
        self.wall_start = time.monotonic()

    def run(self) -> tuple[Outcome, str]:
        """The outcome, and its cause in one line."""
        try:
            return self._run(), ""
        except (Cancelled, PlannerCancelled):
            return Outcome.CANCELLED, "cancelled on request"
        except InfrastructureError as error:
            return Outcome.INFRASTRUCTURE_FAILURE, one_line(str(error))
        except PlannerError as error:
            return Outcome.PLANNER_FAILURE, one_line(f"{self._loop.backend.name}: {error}")

    def _run(self) -> Outcome:
        self._loop.backend.reset()
        self._check_cancelled()
        self.sim_start = self.stamp = self._loop.world.reset()
        self._loop.journal.begin(self._info, self.stamp)
        self.begun = True
        for index in range(1, self._info.max_steps + 1):
            step = self._step(index)
            self.steps.append(step)
            self.inventory = step.inventory_after
            self.stamp = step.stamp
            self._loop.journal.step(step)
            if step.success and step.subtask.is_end:
                return Outcome.ENDED
        return Outcome.STEP_LIMIT

    def _step(self, index: int) -> Step:
        self._check_cancelled()
        loop = self._loop
        observed = loop.world.observe()
        self.stamp = observed.stamp
        self._check_sight(observed)
        privileged = loop.backend.capabilities.privileged
        situation = Situation(
            self._info,
            index,
            steps=tuple(self.steps),
            inventory=self.inventory,
            views=observed.views,
            observation=observed.text,
            world=loop.world.state() if privileged else None,
        )
        started = time.monotonic()
        request = loop.prompter.request(situation)
        seconds = loop.backend.capabilities.reply_seconds or loop.planner_seconds
        answer = ask(loop.backend, request, loop.prompter.vocabulary, seconds, loop.cancelled, repair=loop.repair)
        planned = time.monotonic()
        self._check_cancelled()
        decision, executed = self._carry_out(index, answer.decision)
        stamp = max(executed.stamp, observed.stamp)
        return Step(
            index=index,
            subtask=decision.subtask,
            success=executed.success,
            error_code=executed.error_code,
            feedback=executed.feedback,
            analysis=decision.analysis,
            prompt=answer.prompt,
            raw_output=answer.raw_output,
            target_id=executed.target_id,
            destination_id=executed.destination_id,
            note="; ".join(filter(None, (answer.note, executed.note))),
            attempts=executed.attempts,
            inventory_before=self.inventory,
            inventory_after=executed.inventory,
            planner_wall_seconds=planned - started,
            execution_wall_seconds=time.monotonic() - planned,
            sim_seconds=(stamp - observed.stamp) / 1e9,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            requests=answer.requests,
            cost_usd=loop.prices.cost(answer.tokens_in, answer.tokens_out) if loop.prices else None,
            stamp=stamp,
        )

    def _carry_out(self, index: int, decision: Decision | ReplyError) -> tuple[Decision, Executed]:
        if isinstance(decision, ReplyError):
            return self._unreadable(decision)
        if decision.subtask.is_end:
            return decision, Executed(True, None, SUCCESS_FEEDBACK, 0, self.inventory)
        return decision, self._loop.executor.execute(index, decision.subtask, self.inventory)

    def _unreadable(self, error: ReplyError) -> tuple[Decision, Executed]:
        """The failed step that an unreadable reply makes. What was written stands in the place of the action."""
        written = error.excerpt or EMPTY_REPLY
        subtask = Subtask(written)
        code = ErrorCode.NOT_IN_LIST
        inventory = inventories.update(self.inventory, subtask, False, code)
        sentence = feedback(code, written)
        return Decision(subtask), Executed(False, code, sentence, 0, inventory, note=str(error))

    def _check_sight(self, observed: Observed) -> None:
        """A planner that is asked about nothing fails at no fault of its own."""
        loop = self._loop
        if loop.prompter.wants_text:
            if not observed.text:
                raise InfrastructureError("instruction.observation is text, but the world describes nothing")
        elif loop.backend.capabilities.images and not observed.views:
            raise InfrastructureError(f"planner {loop.backend.name} looks at images, but the world shows none")

    def _check_cancelled(self) -> None:
        if self._loop.cancelled.is_set():
            raise Cancelled


def one_line(text: str) -> str:
    """``text`` without line breaks."""
    return " ".join(text.split())
