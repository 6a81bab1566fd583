from __future__ import annotations

import pytest

from support.skill_trials import SkillTrials


@pytest.fixture(scope="module")
def trials() -> SkillTrials:
    return SkillTrials()


def test_object_held_from_above_is_taken_anew_for_the_microwave(trials: SkillTrials) -> None:
    trial = trials.run("put", seed=2, number=5)
    assert trial.receptacle == "microwave"
    assert trial.fault == ""
    assert trial.damage == ""


def test_same_arguments_give_the_same_trial(trials: SkillTrials) -> None:
    first, second = (trials.run("open", seed=1, number=0) for _ in range(2))
    assert (first.house, first.target) == (second.house, second.target)
    assert first.simulated_seconds == second.simulated_seconds
