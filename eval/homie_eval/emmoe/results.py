"""The results of a run: every episode with its score, and the metrics of each planner with their intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from homie_core.vocabulary import EMMOE_VERBS
from homie_eval.emmoe.metrics import METRICS, EpisodeScore, Summary, Value, aggregate, score_episode
from homie_eval.emmoe.tasks import Task
from homie_eval.runs.plan import Episode, RunPlan
from homie_eval.runs.store import Record, RunStore, State
from homie_eval.score import agrees
from homie_eval.statistics import Difference, Interval, holm, mcnemar, paired_bootstrap, task_bootstrap, wilson
from homie_eval.trajectory import Trajectory

COUNTED_METRICS = ("SR", "SER")
"""Metrics that count trajectories: their interval is Wilson's. The others are resampled over tasks: a trajectory's
re-plans succeed or fail together, so those of SRR are no independent trials either."""

NOISE_LEVEL = 0.05
"""A difference whose p, corrected for the number of pairs, is not below this is called noise."""

_SEED = 0x454D4D4F45
"""Of the resampling. Fixed, so that a report made again shows the same digits."""


@dataclass(frozen=True, slots=True)
class RunEpisode:
    """One episode of a run. ``score`` is None where no trajectory was kept; ``live`` are the live referee's numbers."""

    episode: Episode
    task: Task
    state: State
    tries: int
    cause: str
    seconds: float
    trajectory: Trajectory | None
    score: EpisodeScore | None
    live: dict[str, float] | None = None

    @property
    def judged(self) -> bool:
        """Whether it counts in the planner's metrics."""
        return self.state is State.DONE and self.score is not None and self.score.judged


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric with how sure it is. ``interval`` is None where none can be had: see `homie_eval.statistics`."""

    value: Value
    numerator: float
    denominator: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two planners in one metric, over the episodes (task and trial) that both have.

    ``p`` is corrected by Holm's method for the number of pairs of planners in this metric.
    """

    metric: str
    first: str
    second: str
    pairs: int
    difference: float
    interval: Interval | None
    p: float

    @property
    def is_noise(self) -> bool:
        """Whether the difference may well be chance."""
        return not self.p < NOISE_LEVEL


@dataclass(frozen=True)
class PlannerResults:
    """The episodes of one planner."""

    label: str
    episodes: tuple[RunEpisode, ...]

    @cached_property
    def scores(self) -> tuple[EpisodeScore, ...]:
        """The scores that judge the planner."""
        return tuple(episode.score for episode in self.episodes if episode.judged and episode.score is not None)

    @cached_property
    def summary(self) -> Summary:
        return aggregate(self.scores)

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The metrics by name, in the order of the paper's tables."""
        summaries = _by_task(self.scores)
        return {name: _estimate(name, self.summary, summaries) for name in METRICS}

    @cached_property
    def skills(self) -> dict[str, Estimate]:
        """By verb: the share of recorded tries that succeeded (the paper's table 4 had to assume the tries)."""
        tries = dict.fromkeys((verb.name for verb in EMMOE_VERBS if verb.skill), 0)
        successes = dict(tries)
        for episode in self.episodes:
            for step in episode.trajectory.steps if episode.judged and episode.trajectory else ():
                if step.attempts and step.subtask.action in tries:
                    tries[step.subtask.action] += step.attempts
                    successes[step.subtask.action] += step.success
        return {
            verb: Estimate(
                Value(successes[verb] / count) if count else Value(float("nan"), "never tried"),
                successes[verb],
                count,
                wilson(successes[verb], count) if count else None,
            )
            for verb, count in tries.items()
        }

    def subset(self, wanted: Callable[[Task], bool]) -> PlannerResults:
        """The episodes of some tasks."""
        return PlannerResults(self.label, tuple(episode for episode in self.episodes if wanted(episode.task)))


@dataclass(frozen=True)
class RunResults:
    """All of a run."""

    plan: RunPlan
    episodes: tuple[RunEpisode, ...]

    @cached_property
    def planners(self) -> tuple[PlannerResults, ...]:
        """In the order of the plan."""
        return tuple(
            PlannerResults(label, tuple(each for each in self.episodes if each.episode.planner == label))
            for label in self.plan.planner_of
        )

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every pair of planners in every metric."""
        return tuple(
            comparison for metric in METRICS for comparison in _compare(metric, tuple(combinations(self.planners, 2)))
        )

    @property
    def disagreements(self) -> tuple[RunEpisode, ...]:
        """Episodes whose live score is not that of the recorded trajectory."""
        return tuple(
            each for each in self.episodes if each.live is not None and each.score and not agrees(each.score, each.live)
        )


def load_results(store: RunStore) -> RunResults:
    """Score every episode of a run from its record.

    Raises:
        TrajectoryJsonError: a record is damaged.
    """
    return RunResults(store.plan, tuple(run_episode(record, store.plan.task_of) for record in store.records()))


def run_episode(record: Record, task_of: Mapping[str, Task]) -> RunEpisode:
    """One record with its score.

    Raises:
        TrajectoryJsonError: the record is damaged.
    """
    task, trajectory = task_of[record.episode.task], record.trajectory
    return RunEpisode(
        episode=record.episode,
        task=task,
        state=record.state,
        tries=record.tries,
        cause=record.cause,
        seconds=record.seconds,
        trajectory=trajectory,
        score=None if trajectory is None else score_episode(trajectory, task),
        live=json.loads(record.live_scores_json) if record.live_scores_json else None,
    )


def _by_task(scores: Iterable[EpisodeScore]) -> dict[str, Summary]:
    groups: dict[str, list[EpisodeScore]] = {}
    for score in scores:
        groups.setdefault(score.task_id, []).append(score)
    return {task: aggregate(group) for task, group in groups.items()}


def _sums(metric: str, summaries: Sequence[Summary]) -> tuple[list[float], list[float]]:
    """Numerator and denominator of a metric, task by task."""
    ratios = [summary.ratios[metric] for summary in summaries]
    return [ratio.numerator for ratio in ratios], [ratio.denominator for ratio in ratios]


def _estimate(metric: str, summary: Summary, by_task: Mapping[str, Summary]) -> Estimate:
    ratio = summary.ratios[metric]
    interval: Interval | None = None
    if ratio.value.defined:
        if metric in COUNTED_METRICS:
            interval = wilson(round(ratio.numerator), round(ratio.denominator))
        else:
            interval = task_bootstrap(*_sums(metric, list(by_task.values())), np.random.default_rng(_SEED))
    return Estimate(ratio.value, ratio.numerator, ratio.denominator, interval)


def _compare(metric: str, pairs: Sequence[tuple[PlannerResults, PlannerResults]]) -> list[Comparison]:
    found = [_compared(metric, first, second) for first, second in pairs]
    corrected = holm([comparison.p for comparison in found])
    return [
        Comparison(each.metric, each.first, each.second, each.pairs, each.difference, each.interval, p)
        for each, p in zip(found, corrected, strict=True)
    ]


def _compared(metric: str, first: PlannerResults, second: PlannerResults) -> Comparison:
    """One pair; ``p`` not yet corrected."""
    own, others = _judged(first), _judged(second)
    common = [key for key in own if key in others]
    left, right = [own[key] for key in common], [others[key] for key in common]
    tasks = list(dict.fromkeys(task for task, _ in common))
    groups = [_by_task(left), _by_task(right)]
    difference = paired_bootstrap(
        _sums(metric, [groups[0][task] for task in tasks]),
        _sums(metric, [groups[1][task] for task in tasks]),
        np.random.default_rng(_SEED),
    )
    value = aggregate(left).ratios[metric].value.number - aggregate(right).ratios[metric].value.number
    p = _p(metric, left, right, difference)
    interval = None if difference is None else difference.interval
    return Comparison(metric, first.label, second.label, len(common), value, interval, p)


def _p(
    metric: str, left: Sequence[EpisodeScore], right: Sequence[EpisodeScore], difference: Difference | None
) -> float:
    if metric == "SR":
        pairs = list(zip(left, right, strict=True))
        return mcnemar(
            sum(one.success and not other.success for one, other in pairs),
            sum(other.success and not one.success for one, other in pairs),
        )
    return 1.0 if difference is None else difference.p


def _judged(results: PlannerResults) -> dict[tuple[str, int], EpisodeScore]:
    return {
        (each.episode.task, each.episode.trial): each.score
        for each in results.episodes
        if each.judged and each.score is not None
    }
