"""Carries out one subtask: checks, up to three tries, the arm reset before each (paper, appendix E.1).

Plain Python over two ports: a monitor that judges and skills that act. Which skill server a model means is looked up in
a fixed table, and what the servers get are ids from the monitor; a planner's words never become a name in the system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from homie_core import inventory as inventories
from homie_core.episode import ATTEMPT_LIMIT, Setting
from homie_core.errors import SUCCESS_FEEDBACK, ErrorCode
from homie_core.inventory import Inventory
from homie_core.skill import SkillErrorCode
from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE, Vocabulary

RESET_ARM = "reset_arm"
BACKGROUND_MODEL = "M3"
"""The model that carries out everything in the setting with background information (paper, section 3.3)."""

DEFAULT_TIMEOUTS = {"go_to": 180.0, "pick": 120.0, "put": 120.0, "open": 120.0, "close": 120.0, RESET_ARM: 30.0}
"""Simulation seconds that one try of a skill may take."""


class Unavailable(Exception):
    """A neighbour did not answer. The text names it and says what was waited for."""


class Cancelled(Exception):
    """The subtask was cancelled."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A subtask of an episode, as the planner gave it. ``inventory`` is what the planner believes to be in the hand.

    ``seed`` is the episode's, ``step`` counts from 1.
    """

    subtask: Subtask
    inventory: Inventory = ()
    episode_id: str = ""
    seed: int = 0
    step: int = 1


@dataclass(frozen=True, slots=True)
class Check:
    """The monitor's answer. ``hand`` is what the hand really holds (a name, empty for nothing), None if unknown.

    ``object_id`` and ``receptacle_id`` say what the subtask's names mean; ``retry`` whether another try makes sense.
    """

    code: ErrorCode | None = None
    feedback: str = SUCCESS_FEEDBACK
    detail: str = ""
    note: str = ""
    retry: bool = False
    object_id: str = ""
    receptacle_id: str = ""
    hand: str | None = None

    @property
    def ok(self) -> bool:
        return self.code is None


@dataclass(frozen=True, slots=True)
class SkillCall:
    """One try of one skill, as its server is asked for it.

    ``timeout`` in simulation seconds. Episode's seed, step and number of the try (from 1; the arm reset before a try
    carries its number) fix every random choice, so that nothing depends on what else the server has done.
    """

    skill: str
    object_id: str
    receptacle_id: str
    timeout: float
    seed: int
    step: int
    attempt: int


@dataclass(frozen=True, slots=True)
class SkillResult:
    """How one try ended, by the skill server. ``stamp``: simulation time at its end, nanoseconds.

    ``fingers_shut``: the gripper's joints say that nothing is between the fingers; False: they do not tell.
    """

    success: bool
    message: str = ""
    stamp: int = 0
    code: SkillErrorCode = SkillErrorCode.NONE
    fingers_shut: bool = False


@dataclass(frozen=True, slots=True)
class Execution:
    """The outcome of a subtask. ``attempts`` counts the tries that were made: 0 if a check forbade to start.

    ``target_id``, ``destination_id`` and ``note`` are what the monitor took the subtask's names for, and why.
    """

    success: bool
    code: ErrorCode | None = None
    feedback: str = SUCCESS_FEEDBACK
    attempts: int = 0
    inventory: Inventory = ()
    target_id: str = ""
    destination_id: str = ""
    note: str = ""
    detail: str = ""
    stamp: int = 0


class Monitor(Protocol):
    """Judges subtasks."""

    def before(self, assignment: Assignment) -> Check:
        """Whether the subtask may start.

        Raises:
            Unavailable: no answer.
        """

    def after(self, assignment: Assignment, attempt: int, start: Check, result: SkillResult) -> Check:
        """Whether the try reached the goal. ``start`` is what `before` answered.

        Raises:
            Unavailable: no answer.
        """


class Skills(Protocol):
    """Acts through skill servers."""

    def execute(self, server: str, call: SkillCall) -> SkillResult:
        """One try of a skill.

        Raises:
            Unavailable: the server is not there, refused the goal, or fell silent.
            Cancelled: the subtask was cancelled, and the skill has stopped.
        """


def read_server(text: str, vocabulary: Vocabulary = EMMOE) -> tuple[str, str]:
    """Model and skill server of ``MODEL=server``; the server's action is ``skills/<server>/execute``.

    Raises:
        ValueError: the model is none of the vocabulary, or the server is no plain name.
    """
    model, _, server = text.partition("=")
    if vocabulary.model(model) != model or not server.isidentifier() or not server.islower():
        raise ValueError(f"must be MODEL=server, with a model of {', '.join(vocabulary.models)} and a lower-case name")
    return model, server


Progress = Callable[[str, int], None]
"""Called with a phase ("check", "reset_arm", "pick", ...) and the number of the try."""


def _ignore(phase: str, attempt: int) -> None:
    """Progress that nobody looks at."""


@dataclass(frozen=True, slots=True)
class Executor:
    """Carries out subtasks in one setting.

    ``servers`` maps models to skill servers: ``{"M3": "m3"}``. It is the allow-list: a model that is not in it is never
    asked. With background information M3's server carries out whatever listed model the planner named.
    """

    monitor: Monitor
    skills: Skills
    servers: Mapping[str, str]
    setting: Setting = Setting.BACKGROUND_INFORMATION
    vocabulary: Vocabulary = EMMOE
    timeouts: Mapping[str, float] = field(default_factory=lambda: DEFAULT_TIMEOUTS)

    def execute(self, assignment: Assignment, progress: Progress = _ignore) -> Execution:
        """Check, try up to three times, judge.

        Raises:
            Unavailable: the monitor or the skill server did not answer.
            Cancelled: the subtask was cancelled.
        """
        if assignment.subtask.is_end:
            return Execution(True, inventory=assignment.inventory)
        progress("check", 0)
        start = self.monitor.before(assignment)
        if not start.ok:
            return _finish(assignment, start, start)
        skill, server = self._route(assignment.subtask)
        attempt = 0
        while True:
            attempt += 1
            progress(RESET_ARM, attempt)
            reset = self.skills.execute(server, self._call(assignment, RESET_ARM, attempt))
            if reset.code is SkillErrorCode.OBJECT_LOST:
                # Nothing is left to carry or to put: the skill does not begin.
                result = reset
            else:
                progress(skill, attempt)
                result = self.skills.execute(server, self._call(assignment, skill, attempt, start))
            check = self.monitor.after(assignment, attempt, start, result)
            if check.ok or not check.retry or attempt == ATTEMPT_LIMIT:
                remark = "" if reset.success else f"the arm was not reset: {reset.message}"
                return _finish(assignment, start, check, attempt, result.stamp, remark)

    def _call(self, assignment: Assignment, skill: str, attempt: int, start: Check | None = None) -> SkillCall:
        return SkillCall(
            skill,
            start.object_id if start else "",
            start.receptacle_id if start else "",
            self.timeouts[skill],
            assignment.seed,
            assignment.step,
            attempt,
        )

    def _route(self, subtask: Subtask) -> tuple[str, str]:
        """The skill and the server for a subtask that the monitor let pass.

        Raises:
            Unavailable: no server is configured for the model.
        """
        verb = self.vocabulary.verb(subtask.action)
        if verb is None or verb.skill is None:
            raise Unavailable(f"the monitor let pass the unknown action {subtask.action!r}")
        background = self.setting is Setting.BACKGROUND_INFORMATION
        model = BACKGROUND_MODEL if background else self.vocabulary.model(subtask.model)
        server = self.servers.get(model or "")
        if server is None:
            known = ", ".join(sorted(self.servers)) or "none"
            raise Unavailable(f"no skill server is configured for model {model!r}; configured: {known}")
        return verb.skill, server


def _finish(
    assignment: Assignment, start: Check, check: Check, attempts: int = 0, stamp: int = 0, remark: str = ""
) -> Execution:
    """The outcome as ``check`` says; ``start`` is the answer before, which knows what the names mean."""
    believed = inventories.update(assignment.inventory, assignment.subtask, check.ok, check.code)
    inventory, correction = reconcile(believed, check.hand)
    return Execution(
        success=check.ok,
        code=check.code,
        feedback=check.feedback,
        attempts=attempts,
        inventory=inventory,
        target_id=start.object_id,
        destination_id=start.receptacle_id,
        note=start.note,
        detail="; ".join(part for part in (check.detail, remark, correction) if part),
        stamp=stamp,
    )


def reconcile(inventory: Inventory, hand: str | None) -> tuple[Inventory, str]:
    """``inventory`` made to agree with what the hand really holds, and what was wrong with it (empty if nothing).

    A failed skill may leave something in the hand, or lose it, without the paper's rule noticing; a planner that goes
    by the wrong inventory can never get out of that. ``hand`` is None where nobody can look: then the rule stands.
    """
    if hand is None or bool(hand) == bool(inventory):
        return inventory, ""
    if hand:
        return (hand,), f"the inventory was empty, but the hand holds {hand}"
    return (), f"the inventory said {inventories.text(inventory)}, but the hand is empty"
