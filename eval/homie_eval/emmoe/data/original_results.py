"""Scores of the original system's run folders, by the key paths and expert lengths of EMMOE-100."""

from __future__ import annotations

from pathlib import Path

from homie_eval.emmoe.data.emmoe100 import Emmoe100Error, Sample, read_emmoe100
from homie_eval.emmoe.data.original_runs import OriginalRun, read_original_runs
from homie_eval.emmoe.metrics import score_episode
from homie_eval.emmoe.results import PlannerResults, RunEpisode
from homie_eval.emmoe.tasks import Attribute, Task
from homie_eval.runs.plan import Episode
from homie_eval.runs.store import State

SAMPLES = 100

_SHORT = {2, 7, 9, 19, 24, 27, 28, 31, 46, 47, 49, 60, 61, 70, 91, 92}
_OPEN = {20, 22, 44, 69, 76, 77, 96, 97, 98}
_LOGICAL = {
    *(1, 2, 3, 4, 12, 14, 15, 17, 18, 19, 20, 23, 26, 27, 34, 37, 38, 40, 42, 43, 44, 45, 52, 55, 56, 57, 59, 62, 64),
    *(68, 69, 71, 72, 73, 75, 76, 77, 80, 81, 83, 84, 85, 86, 87, 88, 94, 96, 98, 100),
}
_HUMAN = {
    *(1, 2, 3, 4, 5, 6, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 26, 27, 29, 33, 34, 36, 37, 38, 40, 41, 42),
    *(43, 44, 45, 49, 51, 52, 53, 54, 55, 56, 57, 59, 61, 62, 63, 64, 66, 68, 69, 71, 72, 73, 75, 76, 77, 79, 80, 82),
    *(83, 84, 85, 86, 87, 88, 91, 94, 96, 97, 98, 100),
}


def attributes_of(number: int) -> tuple[Attribute, ...]:
    """The attributes of a task by its number in EMMOE-100, as the published notebook lists them.

    These are not the numbers of the list that the paper prints.
    """
    lists: tuple[tuple[Attribute, bool], ...] = (
        ("short_horizon", number in _SHORT),
        ("long_horizon", number not in _SHORT),
        ("open_ended", number in _OPEN),
        ("logical", number in _LOGICAL),
        ("human_style", number in _HUMAN),
    )
    return tuple(name for name, has in lists if has)


def original_results(folder: Path, emmoe100: Path) -> tuple[PlannerResults, tuple[str, ...]]:
    """The results of ``exp/<name>``, and one line for each trial that is not scored and why.

    Raises:
        Emmoe100Error: ``emmoe100`` is no data set.
    """
    found = read_emmoe100(emmoe100)
    samples = {sample.id: sample for sample in found.samples}
    runs, problems = read_original_runs(folder)
    notes = [*found.problems, *problems]
    episodes = []
    for run in runs:
        sample = samples.get(run.task_id)
        if sample is None:
            notes.append(f"{folder.name}/{run.task_id}/{run.trial} is not scored: {emmoe100} has no such task")
            continue
        episodes.append(_episode(run, _task(sample, whole=len(samples) == SAMPLES)))
    if not episodes:
        raise Emmoe100Error(f"{folder} holds no trial that can be scored: {'; '.join(notes[:3])}")
    return PlannerResults(folder.name, tuple(episodes)), tuple(notes)


def _task(sample: Sample, *, whole: bool) -> Task:
    """The task of a sample; in the whole data set the numbers tell the attributes."""
    task = sample.scored_task()
    return task.model_copy(update={"attributes": attributes_of(int(sample.id))}) if whole else task


def _episode(run: OriginalRun, task: Task) -> RunEpisode:
    return RunEpisode(
        episode=Episode(planner=run.trajectory.info.planner, task=task.id, trial=run.trial, seed=0),
        task=task,
        state=State.DONE,
        tries=0,
        cause="",
        seconds=0.0,
        trajectory=run.trajectory,
        score=score_episode(run.trajectory, task),
    )
