"""EMMOE's metrics (paper, sections 2.3, 4.3 and 4.5, appendix C) as pure functions of recorded trajectories.

The one place where they are computed: the live referee and ``homie score`` both call :func:`score_episode`, so their
numbers are equal to the last digit.

=======  ============================================================  =================================================
metric   over many trajectories                                        of one
=======  ============================================================  =================================================
SR       successful / all                                              1 or 0; success is TP = 100 %
PLWSR    sum over successful of L / max(L, l), divided by all          L / max(L, l) if successful, else 0
TP       mean of TP                                                    best share of a key path (equation 1)
SRR      re-plans in successful / re-plans in all (equation 3)         1 or 0; not defined without a re-plan
SER      successful / those whose final action is End (equation 2)     1 or 0; not defined without a final End
GC       mean of GC                                                    share of goal conditions that hold at the end
=======  ============================================================  =================================================

``l`` is the number of steps, ``L`` that of the expert, both with End. The paper's text prints ``l / max(L, l)``, which
could never punish a detour; L is what the authors' code and the cited ALFRED use. A re-plan is a step whose predecessor
failed (appendix C.3), whatever its own outcome; an End after a failure is one. A value that is not defined is NaN, with
the reason beside it.

Trajectories that say nothing about the planner (a failure of the planner's backend or of the infrastructure, cancelled,
cut off) are scored but not pooled: they are counted apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from homie_core.episode import Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.goals import Condition, GoalResult, WorldScene, evaluate
from homie_core.key_path import KeyPath, Progress, task_progress
from homie_core.world_state import WorldState
from homie_eval.emmoe.tasks import Task
from homie_eval.trajectory import Trajectory

METRICS = ("SR", "PLWSR", "TP", "SRR", "SER", "GC")
"""Names in the order of the paper's tables, GC last."""

JUDGED = frozenset({Outcome.ENDED, Outcome.STEP_LIMIT})
"""How an episode stops when the planner is to be judged by it."""


@dataclass(frozen=True, slots=True)
class Value:
    """A metric. ``number`` is NaN when it is not defined, and ``reason`` then says why."""

    number: float
    reason: str = ""

    @property
    def defined(self) -> bool:
        return not math.isnan(self.number)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A metric over many trajectories, with what it was divided from."""

    numerator: float
    denominator: float
    reason: str = ""
    """Why there is nothing to divide by, if so."""

    @property
    def value(self) -> Value:
        if self.denominator == 0:
            return Value(math.nan, self.reason)
        return Value(self.numerator / self.denominator)


def _undefined(reason: str) -> Value:
    return Value(math.nan, reason)


@dataclass(frozen=True, slots=True)
class EpisodeScore:
    """The score of one trajectory.

    ``outcome`` is None when its end was not recorded. ``errors`` counts error codes; ``goal`` is None when there was no
    world state or no condition to check.
    """

    episode_id: str
    task_id: str
    outcome: Outcome | None
    stamp: int
    """Simulation time of the last step, nanoseconds."""
    steps: int
    executed: int
    """Steps without End: what an error can happen in."""
    ended: bool
    """Whether End is the final action."""
    progress: Progress
    replans: int
    path_weight: Value
    """L / max(L, l), whether successful or not."""
    goal: GoalResult | None
    goal_reason: str
    errors: Counter[ErrorCode]
    problems: tuple[str, ...] = ()

    @property
    def success(self) -> bool:
        """TP = 100 %."""
        return self.progress.success

    @property
    def judged(self) -> bool:
        """Whether it counts in pooled metrics."""
        return self.outcome in JUDGED

    @property
    def values(self) -> dict[str, Value]:
        """The metrics of this trajectory alone, by name, in the order of :data:`METRICS`."""
        success = Value(float(self.success))
        return {
            "SR": success,
            "PLWSR": self.path_weight if self.success else Value(0.0),
            "TP": Value(self.progress.value),
            "SRR": success if self.replans else _undefined("no re-plan"),
            "SER": success if self.ended else _undefined("the final action is not End"),
            "GC": _undefined(self.goal_reason) if self.goal is None else Value(self.goal.share),
        }

    def explanation(self) -> tuple[str, ...]:
        """One line a fact: which node matched when, which goal condition holds, what is not defined and why."""
        lines = [f"TP: {line}" for line in self.progress.explanation()]
        if self.goal is not None:
            lines += [f"GC: {verdict.explanation}" for verdict in self.goal.verdicts]
        lines += [f"{name}: not defined, {value.reason}" for name, value in self.values.items() if not value.defined]
        return (*lines, *(f"note: {problem}" for problem in self.problems))


def replans(steps: Sequence[Step]) -> int:
    """Number of steps whose predecessor failed (paper, appendix C.3)."""
    return sum(not before.success for before, _ in pairwise(steps))


def error_counts(steps: Iterable[Step]) -> Counter[ErrorCode]:
    """How often each error code occurred."""
    return Counter(step.error_code for step in steps if step.error_code is not None)


def score_episode(trajectory: Trajectory, task: Task) -> EpisodeScore:
    """Score a trajectory, finished or not: after every step if one likes."""
    steps, result = trajectory.steps, trajectory.result
    goal, goal_reason = _goal(task.conditions, trajectory.final_state)
    return EpisodeScore(
        episode_id=trajectory.info.episode_id,
        task_id=task.id,
        outcome=None if result is None else result.outcome,
        stamp=steps[-1].stamp if steps else 0,
        steps=len(steps),
        executed=sum(not step.subtask.is_end for step in steps),
        ended=bool(steps) and steps[-1].subtask.is_end,
        progress=_progress(task.paths, steps, trajectory.final_state),
        replans=replans(steps),
        path_weight=_path_weight(task.expert_length, len(steps)),
        goal=goal,
        goal_reason=goal_reason,
        errors=error_counts(steps),
        problems=trajectory.problems,
    )


def _progress(paths: Sequence[KeyPath], steps: Sequence[Step], state: WorldState | None) -> Progress:
    return task_progress(paths, steps, None if state is None else state.categories)


def _path_weight(expert: int, real: int) -> Value:
    return Value(expert / max(expert, real))


def _goal(conditions: Sequence[Condition], state: WorldState | None) -> tuple[GoalResult | None, str]:
    if not conditions:
        return None, "the task has no goal condition"
    if state is None:
        return None, "no world state was recorded"
    return evaluate(conditions, WorldScene(state)), ""


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """Error counts of one class of trajectories, as in the paper's tables H3 to H6."""

    counts: Counter[ErrorCode]
    executed: int
    """Steps of these trajectories without End."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def share(self, code: ErrorCode) -> Value:
        """Share of one code among all errors of this class."""
        return Ratio(self.counts[code], self.total, "no error occurred").value

    def class_share(self, letter: str) -> Value:
        """Share of a class of errors (L, D, F or E) among all errors of this class of trajectories."""
        count = sum(number for code, number in self.counts.items() if code.value.startswith(letter))
        return Ratio(count, self.total, "no error occurred").value

    @property
    def rate(self) -> Value:
        """Share of steps that failed (the tables' column "All")."""
        return Ratio(self.total, self.executed, "no step was executed").value


@dataclass(frozen=True, slots=True)
class Summary:
    """Metrics over many trajectories. ``apart`` counts those that were not pooled, by how they stopped."""

    judged: int
    ratios: dict[str, Ratio]
    successful_errors: ErrorTable
    failed_errors: ErrorTable
    apart: dict[str, int]

    @property
    def values(self) -> dict[str, Value]:
        """The metrics by name, in the order of :data:`METRICS`."""
        return {name: ratio.value for name, ratio in self.ratios.items()}


def aggregate(scores: Iterable[EpisodeScore]) -> Summary:
    """Pool the trajectories that judge the planner, and count the others apart."""
    every = list(scores)
    judged = [score for score in every if score.judged]
    successful = [score for score in judged if score.success]
    failed = [score for score in judged if not score.success]
    goals = [score.goal.share for score in judged if score.goal is not None]
    others = (score.outcome for score in every if not score.judged)
    apart = Counter("unfinished" if outcome is None else outcome.value for outcome in others)
    none = "no trajectory to judge"
    return Summary(
        judged=len(judged),
        ratios={
            "SR": Ratio(len(successful), len(judged), none),
            "PLWSR": Ratio(math.fsum(score.path_weight.number for score in successful), len(judged), none),
            "TP": Ratio(math.fsum(score.progress.value for score in judged), len(judged), none),
            "SRR": Ratio(_replans(successful), _replans(judged), "no re-plan"),
            "SER": Ratio(sum(score.ended for score in successful), sum(score.ended for score in judged), "no End"),
            "GC": Ratio(math.fsum(goals), len(goals), "no goal condition was checked"),
        },
        successful_errors=_error_table(successful),
        failed_errors=_error_table(failed),
        apart=dict(sorted(apart.items())),
    )


def _replans(scores: Iterable[EpisodeScore]) -> int:
    return sum(score.replans for score in scores)


def _error_table(scores: Sequence[EpisodeScore]) -> ErrorTable:
    counts: Counter[ErrorCode] = Counter()
    for score in scores:
        counts.update(score.errors)
    return ErrorTable(counts, sum(score.executed for score in scores))
