"""The file of a run whose episodes ended as a test says, without anything being run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from homie_core.episode import Outcome
from homie_eval.emmoe.metrics import score_episode
from homie_eval.runs.plan import Episode, RunPlan
from homie_eval.runs.store import RunStore
from homie_eval.trajectory import Trajectory
from support.trajectories import info, result, steps_of


def trajectory_of(episode: Episode, text: str) -> Trajectory:
    """A trajectory of ``episode`` from steps as the paper prints them."""
    steps = steps_of(text)
    ended = bool(steps) and steps[-1].subtask.is_end
    announced = info(episode.id, task_id=episode.task, trial=episode.trial, seed=episode.seed, planner=episode.planner)
    return Trajectory(announced, steps, result(steps, Outcome.ENDED if ended else Outcome.STEP_LIMIT))


def finished_run(path: Path, plan: RunPlan, steps_for: Callable[[Episode], str | None]) -> RunStore:
    """A run in which each episode has the steps that ``steps_for`` gives; None: it failed for good."""
    store = RunStore.create(path, plan)
    while (episode := store.claim("w", 1.0)) is not None:
        text = steps_for(episode)
        if text is None:
            store.fail(episode, "w", "the bridge died", 2.0, max_tries=1)
            continue
        trajectory = trajectory_of(episode, text)
        score = score_episode(trajectory, plan.task_of[episode.task])
        live = {name: value.number for name, value in score.values.items()}
        store.finish(episode, trajectory, json.dumps(live), 2.0, 1.5)
    return store
