"""Scores of a bag's episodes, and how scores are written. Live and offline use the same functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from homie_core.errors import ErrorCode
from homie_eval.bag import read_bag
from homie_eval.emmoe.metrics import EpisodeScore, Summary, Value, aggregate, score_episode
from homie_eval.emmoe.tasks import Task, TaskError, from_json, load_task
from homie_eval.spending import spending, spending_rows
from homie_eval.trajectory import Trajectory


def agrees(score: EpisodeScore, live: Mapping[str, float]) -> bool:
    """Whether the live referee's numbers are those of ``score``, to the last digit."""
    here = {name: value.number for name, value in score.values.items()}
    return here.keys() == live.keys() and all(_same(here[name], live[name]) for name in here)


@dataclass(frozen=True, slots=True)
class ScoredEpisode:
    """An episode of a bag with its score. ``live`` are the live referee's final numbers, or None if it gave none."""

    trajectory: Trajectory
    task: Task
    score: EpisodeScore
    live: dict[str, float] | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether the live referee gave the same numbers; None if it gave none. Not defined equals not defined."""
        return None if self.live is None else agrees(self.score, self.live)


@dataclass(frozen=True, slots=True)
class BagScore:
    """Every episode of a bag that could be scored, and one line for each thing that could not."""

    path: Path
    episodes: tuple[ScoredEpisode, ...]
    problems: tuple[str, ...] = ()

    @property
    def summary(self) -> Summary:
        return aggregate(episode.score for episode in self.episodes)


def score_bag(path: str | Path) -> BagScore:
    """Score every episode of a bag. Each carries its task with it; an older one is looked up by its id.

    Raises:
        BagError: there is no bag, or it holds no episode.
    """
    contents = read_bag(path)
    episodes: list[ScoredEpisode] = []
    problems = list(contents.problems)
    for trajectory in contents.trajectories:
        try:
            task = _task_of(trajectory)
        except TaskError as error:
            problems.append(f"episode {trajectory.info.episode_id} is not scored: {error}")
            continue
        live = contents.live_scores.get(trajectory.info.episode_id)
        episodes.append(ScoredEpisode(trajectory, task, score_episode(trajectory, task), live))
    return BagScore(contents.path, tuple(episodes), tuple(problems))


def _task_of(trajectory: Trajectory) -> Task:
    info = trajectory.info
    return from_json(info.task_json) if info.task_json else load_task(info.task_id)


def format_value(value: Value) -> str:
    """A metric in percent with the paper's two digits, or that it is not defined."""
    return f"{100 * value.number:.2f} %" if value.defined else "not defined"


def format_errors(errors: Counter[ErrorCode]) -> str:
    """Error codes with their counts, e.g. ``L1 1, L3 2``."""
    return ", ".join(f"{code.value} {errors[code]}" for code in ErrorCode if errors[code]) or "none"


def format_outcome(score: EpisodeScore) -> str:
    """How the episode stopped, in words."""
    if score.outcome is None:
        return f"not finished, {score.steps} steps recorded"
    return f"{score.outcome.value.replace('_', ' ')} after {score.steps} steps"


def format_score(score: EpisodeScore) -> str:
    """The numbers of one episode, a line each, and the facts behind them."""
    lines = [_row(name, format_value(value)) for name, value in score.values.items()]
    lines.append(_row("errors", format_errors(score.errors)))
    return "\n".join([*lines, "", *score.explanation()])


def format_episode(episode: ScoredEpisode) -> str:
    """One episode: what was run, how it stopped, its score."""
    info = episode.trajectory.info
    cause = episode.trajectory.result.cause if episode.trajectory.result else ""
    head = [
        _row("episode", info.episode_id),
        _row("task", f"{episode.task.id}: {info.instruction}"),
        _row("planner", f"{info.planner}, seed {info.seed}, trial {info.trial}"),
        _row("outcome", format_outcome(episode.score) + (f": {cause}" if cause else "")),
    ]
    if episode.agrees is not None:
        head.append(_row("live", "the same numbers" if episode.agrees else f"other numbers: {episode.live}"))
    head += [_row(name, text) for name, text in spending_rows(spending(episode.trajectory.steps))]
    return "\n".join([*head, "", format_score(episode.score)])


def format_summary(summary: Summary) -> str:
    """The pooled numbers of several episodes."""
    lines = [_row("episodes", f"{summary.judged} judged")]
    lines += [_row("", f"{count} {name.replace('_', ' ')}") for name, count in summary.apart.items()]
    lines += [_row(name, _format_ratio(summary, name)) for name in summary.ratios]
    lines.append(_row("errors", f"in successful: {format_errors(summary.successful_errors.counts)}"))
    lines.append(_row("", f"in failed: {format_errors(summary.failed_errors.counts)}"))
    return "\n".join(lines)


def format_bag(score: BagScore) -> str:
    """All episodes of a bag; the pooled numbers too if there are several."""
    parts = [format_episode(episode) for episode in score.episodes]
    if len(score.episodes) > 1:
        spent = spending(step for episode in score.episodes for step in episode.trajectory.steps)
        rows = [_row(name, text) for name, text in spending_rows(spent)]
        parts.append("\n".join([format_summary(score.summary), *rows]))
    parts += [f"note: {problem}" for problem in score.problems]
    return "\n\n".join(parts)


def _format_ratio(summary: Summary, name: str) -> str:
    ratio = summary.ratios[name]
    if not ratio.value.defined:
        return f"not defined, {ratio.reason}"
    return f"{format_value(ratio.value):>9}  ({ratio.numerator:.4g}/{ratio.denominator:.4g})"


def _row(name: str, text: str) -> str:
    return f"{name:<9}{text}"


def _same(first: float, second: float) -> bool:
    both_undefined = first != first and second != second  # NaN is the only number that differs from itself
    return first == second or both_undefined
