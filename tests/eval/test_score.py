"""How scores are written: the same text live and offline."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from homie_core.episode import EpisodeResult, Outcome
from homie_eval.emmoe.metrics import Value, aggregate, score_episode
from homie_eval.emmoe.tasks import load_task
from homie_eval.score import (
    BagScore,
    ScoredEpisode,
    format_bag,
    format_episode,
    format_score,
    format_summary,
    format_value,
)
from homie_eval.trajectory import Trajectory
from support.trajectories import info, steps_of
from support.worlds import kitchen

TASK = load_task("39")
RUN = """(1) [Go to, yellow_box] (2) [Pick, yellow_box] (3) [Go to, fridge] (4) [Put, yellow_box, fridge](fail)
(5) [Open, fridge](fail)"""


def scored(run: str = RUN, outcome: Outcome | None = Outcome.STEP_LIMIT, cause: str = "") -> ScoredEpisode:
    steps = steps_of(run)
    result = None if outcome is None else EpisodeResult(outcome, len(steps), cause)
    trajectory = Trajectory(info(), steps, result, kitchen())
    return ScoredEpisode(trajectory, TASK, score_episode(trajectory, TASK))


def test_the_text_of_an_episode() -> None:
    episode = scored()
    live = {name: value.number for name, value in episode.score.values.items()}
    assert format_episode(replace(episode, live=live)) == (
        "episode  e1\n"
        "task     39_yellow_box_to_fridge: put the green_can on the brown_table to the fridge\n"
        "planner  replay:case_1, seed 7, trial 1\n"
        "outcome  step limit after 5 steps\n"
        "live     the same numbers\n"
        "\n"
        "SR       0.00 %\n"
        "PLWSR    0.00 %\n"
        "TP       50.00 %\n"
        "SRR      0.00 %\n"
        "SER      not defined\n"
        "GC       0.00 %\n"
        "errors   E1 2\n"
        "\n"
        "TP: [Go to, yellow_box] matched at step 1\n"
        "TP: [Pick, yellow_box] matched at step 2\n"
        "TP: [Go to, fridge] matched at step 3\n"
        "TP: [Open, fridge] not matched\n"
        "TP: [Put, yellow_box, fridge] not matched\n"
        "TP: [End] not matched\n"
        "GC: at least 1 sugar_box in fridge: no (0 of 0)\n"
        "SER: not defined, the final action is not End"
    )


def test_a_cause_and_a_missing_end_are_told() -> None:
    failed = format_episode(scored(outcome=Outcome.INFRASTRUCTURE_FAILURE, cause="the bridge did not answer"))
    assert "outcome  infrastructure failure after 5 steps: the bridge did not answer" in failed
    assert "outcome  not finished, 5 steps recorded" in format_episode(scored(outcome=None))
    assert "live     other numbers: {}" in format_episode(replace(scored(), live={}))


def test_the_text_of_several() -> None:
    episodes = (scored(), scored("(1) [Open, fridge] (2) [End]", Outcome.ENDED), scored(outcome=Outcome.CANCELLED))
    text = format_summary(aggregate(episode.score for episode in episodes))
    assert text.splitlines() == [
        "episodes 2 judged",
        "         1 cancelled",
        "SR          0.00 %  (0/2)",
        "PLWSR       0.00 %  (0/2)",
        "TP         37.50 %  (0.75/2)",
        "SRR         0.00 %  (0/1)",
        "SER         0.00 %  (0/1)",
        "GC          0.00 %  (0/2)",
        "errors   in successful: none",
        "         in failed: E1 2",
    ]
    whole = format_bag(BagScore(Path("bag"), episodes, ("part of it is gone",)))
    assert whole.endswith(f"{text}\n\nnote: part of it is gone")
    assert format_bag(BagScore(Path("bag"), episodes[:1])) == format_episode(episodes[0])


def test_values() -> None:
    assert format_value(Value(40 / 300)) == "13.33 %"
    assert format_value(Value(math.nan, "why")) == "not defined"


def test_live_and_offline_use_one_text() -> None:
    episode = scored()
    assert format_score(episode.score) in format_episode(episode)


def priced(episode: ScoredEpisode, cost: float | None) -> ScoredEpisode:
    steps = tuple(
        replace(step, tokens_in=100, tokens_out=10, requests=1, planner_wall_seconds=2.0, cost_usd=cost)
        for step in episode.trajectory.steps
    )
    return replace(episode, trajectory=replace(episode.trajectory, steps=steps))


def test_what_planning_took() -> None:
    episode = priced(scored(), 0.01)
    rows = "tokens   500 in, 50 out\nrequests 5 for 5 steps\nlatency  2.0 s a step on average\ncost     $0.0500\n"
    assert f"outcome  step limit after 5 steps\n{rows}\nSR " in format_episode(episode)
    both = format_bag(BagScore(Path("bag"), (episode, episode)))
    assert both.endswith(
        "tokens   1000 in, 100 out\nrequests 10 for 10 steps\nlatency  2.0 s a step on average\ncost     $0.1000"
    )
    assert "cost     not known, the configuration has no prices" in format_episode(priced(scored(), None))
    assert "tokens" not in format_episode(scored())
