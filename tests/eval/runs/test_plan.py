"""What a run consists of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from homie_eval.runs.plan import Planner, RunPlan, Shard, episode_seed
from support.run_plans import plan


def test_every_planner_meets_every_task_in_every_trial_once() -> None:
    episodes = plan().episodes
    assert len({episode.id for episode in episodes}) == len(episodes) == 2 * 3 * 2
    assert {episode.trial for episode in episodes[:6]} == {1}
    assert episodes[0].id == "a/33_apple_to_sofa/trial1"


def test_planners_meet_the_same_worlds_and_trials_differ() -> None:
    seeds = {(episode.planner, episode.task, episode.trial): episode.seed for episode in plan().episodes}
    for (planner, task, trial), seed in seeds.items():
        assert seeds["a", task, trial] == seed, planner
    assert len(set(seeds.values())) == 3 * 2


def test_a_seed_is_the_same_on_every_machine() -> None:
    # From numpy's SeedSequence, whose output is fixed for all time: a change here changes every published run.
    assert episode_seed(0, "100_green_can_to_fridge", 1) == episode_seed(0, "100_green_can_to_fridge", 1)
    assert episode_seed(0, "a", 1) != episode_seed(0, "a", 2) != episode_seed(1, "a", 2)


@given(st.integers(0, 2**63 - 1), st.text("abc_0123", min_size=1, max_size=30), st.integers(1, 1000))
def test_a_seed_fits_into_a_message(seed: int, task: str, trial: int) -> None:
    assert 0 <= episode_seed(seed, task, trial) < 2**63


@given(st.integers(1, 15))
def test_shards_miss_nothing_and_double_nothing(count: int) -> None:
    whole = plan()
    parts = [plan(Shard(number=number, count=count)) for number in range(1, count + 1)]
    ids = [episode.id for part in parts for episode in part.episodes]
    assert sorted(ids) == sorted(episode.id for episode in whole.episodes)
    assert {part.fingerprint for part in parts} == {whole.fingerprint}


def test_another_run_has_another_fingerprint() -> None:
    assert len({plan().fingerprint, plan(seed=6).fingerprint, plan(trials=3).fingerprint}) == 3


def test_it_comes_back_from_its_text() -> None:
    again = RunPlan.model_validate_json(plan().model_dump_json())
    assert again == plan()
    assert again.fingerprint == plan().fingerprint


@pytest.mark.parametrize("label", ["", "../up", "a b", ".hidden", "x" * 65, "a/b"])
def test_a_label_is_a_plain_name(label: str) -> None:
    with pytest.raises(ValidationError):
        Planner(label=label, settings={})


def test_nothing_is_given_twice() -> None:
    with pytest.raises(ValidationError, match="planner 'a' is given twice"):
        plan(planners=("a", "a"))
    with pytest.raises(ValidationError, match="shard 3/2"):
        Shard(number=3, count=2)
