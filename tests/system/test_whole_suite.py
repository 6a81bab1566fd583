"""The expert solves every task of the suite with the simulator's own skills, without a failed step."""

from __future__ import annotations

import pytest

from homie_core.episode import Outcome
from homie_eval.emmoe.suite import load_suite
from homie_eval.emmoe.tasks import Task
from support.suite_episodes import instant_episode


@pytest.mark.parametrize("task", load_suite().tasks, ids=lambda task: task.id)
def test_the_expert_solves_it_instantly(task: Task) -> None:
    episode = instant_episode(task)
    assert episode.result.outcome is Outcome.ENDED, episode
    assert episode.progress.value == 1, episode
    assert episode.goal.share == 1, episode
    assert all(step.success for step in episode.steps), episode
    assert len(episode.steps) == task.expert_length, episode
