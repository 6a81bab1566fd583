"""EMMOE's metrics: the paper's worked examples and printed counts, and what must always hold."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.subtask import parse_brackets
from homie_eval.emmoe.metrics import METRICS, EpisodeScore, ErrorTable, Ratio, Summary, aggregate, score_episode
from homie_eval.emmoe.tasks import Task, load_task
from homie_eval.trajectory import Trajectory
from support.trajectories import APPENDIX_C_1, APPENDIX_C_2, info, steps_of
from support.worlds import kitchen

DRAWER = load_task("84")
YELLOW_BOX = load_task("39")
GREEN_CAN = load_task("100")

CASE_1 = """(1) Go to, green_can(success) (2) Pick, green_can(success) (3) Go to, fridge(success)
(4) Put, green_can, fridge(fail) (5) Open, fridge(fail) (6) Go to, brown_table(success)
(7) Put, green_can, brown_table(success) (8) Go to, fridge(success) (9) Open, fridge(success)
(10) Go to, green_can(success) (11) Pick, green_can(success) (12) Go to, fridge(success)
(13) Put, green_can, fridge(success) (14) Close, fridge(success) (15) End(success)"""

CASE_2 = "(1) Go to, beige table(success) " + " ".join(
    f"({number}) Pick, {name}(fail)"
    for number, name in enumerate(["item"] * 6 + ["item on the table"] * 4 + ["stack of papers", "box"], start=2)
)

CASE_3 = """(1) Go to, living room(success) (2) Pick, yellow box(success) (3) Go to, kitchen(success)
(4) Open, fridge(fail) (5) Put, yellow box, counter(fail) (6) Put, yellow box, table(fail) (7) Go to, fridge(success)
(8) Open, fridge(fail) (9) Put, yellow box, counter(fail) (10) Open, fridge(fail)"""

ROOMS = ["kitchen"] * 6 + ["living room"] * 2 + ["kitchen"] * 2 + ["living room"] * 9
CASE_4 = " ".join(f"({number}) Go to, {room}(success)" for number, room in enumerate(ROOMS, start=1))

CASE_5 = """(1) [Go to, beige_table](success) (2) [Pick, cracker_box](fail) (3) [Go to, cracker_box](success)
(4) [Pick, cracker_box](success) (5) [Go to, beige_table](success) (6) [Put, cracker_box, beige_table](success)
(7) [Go to, brown_table](success) (8) [Put, sugar_box, brown_table](fail) (9) [Go to, beige_table](success)
(10) [Put, sugar_box, beige_table](fail) (11) [Go to, sugar_box](success) (12) [Pick, sugar_box](success)
(13) [Go to, beige_table](success) (14) [Put, sugar_box, beige_table](success) (15) [End](success)"""


def task(*path: str, expert_length: int = 9) -> Task:
    return Task(
        id="1_test",
        instruction="do it",
        scene="flat",
        key_paths=[list(path)],
        attributes=("short_horizon",),
        expert_length=expert_length,
    )


BEIGE = task(
    "[Pick, cracker_box]",
    "[Put, cracker_box, beige_table]",
    "[Pick, sugar_box]",
    "[Put, sugar_box, beige_table]",
    "[End]",
)


def trajectory(run: str, outcome: Outcome | None = Outcome.ENDED, id: str = "e1") -> Trajectory:
    steps = steps_of(run)
    result = None if outcome is None else EpisodeResult(outcome, len(steps))
    return Trajectory(info(id), steps, result)


def score(run: str, scored_task: Task, outcome: Outcome | None = Outcome.ENDED) -> EpisodeScore:
    return score_episode(trajectory(run, outcome), scored_task)


def number(scored: EpisodeScore, metric: str) -> float:
    return scored.values[metric].number


def test_appendix_c_1_task_progress_of_the_unfinished_run() -> None:
    scored = score(APPENDIX_C_1, DRAWER, Outcome.STEP_LIMIT)
    assert number(scored, "TP") == 0.5
    assert number(scored, "SR") == number(scored, "PLWSR") == number(scored, "SRR") == 0
    assert not scored.ended
    assert scored.values["SER"].reason == "the final action is not End"
    assert math.isnan(number(scored, "SER"))


def test_appendix_c_2_success_with_end() -> None:
    scored = score(APPENDIX_C_2, YELLOW_BOX)
    assert scored.success and scored.ended
    assert number(scored, "SER") == 1
    assert number(scored, "PLWSR") == 7 / 16


def test_appendix_c_3_re_plans_count_whatever_becomes_of_them() -> None:
    good, bad = score(APPENDIX_C_2, YELLOW_BOX), score(APPENDIX_C_1, DRAWER, Outcome.STEP_LIMIT)
    assert good.replans == 2
    assert bad.replans == 9
    assert number(good, "SRR") == 1
    assert aggregate([good, bad]).ratios["SRR"] == Ratio(2, 11, "no re-plan")


def test_case_1_succeeds_through_two_errors() -> None:
    scored = score(CASE_1, GREEN_CAN)
    assert number(scored, "TP") == 1
    assert (scored.steps, scored.replans, number(scored, "PLWSR")) == (15, 2, 7 / 15)


def test_case_2_ungrounded_picks_earn_nothing() -> None:
    scored = score(CASE_2, task("[Pick, sugar_box]", "[Put, sugar_box, kitchen]", "[End]"), Outcome.STEP_LIMIT)
    assert number(scored, "TP") == 0
    assert scored.replans == 11


def test_case_3_limited_execution_earns_its_pick() -> None:
    scored = score(CASE_3, YELLOW_BOX, Outcome.STEP_LIMIT)
    assert scored.progress.value == 0.4
    assert not scored.success


def test_case_4_steps_without_progress() -> None:
    sink = task("[Pick, bowl]", "[Put, bowl, sink]", "[Pick, bowl]", "[Put, bowl, sink]", "[End]")
    scored = score(CASE_4, sink, Outcome.STEP_LIMIT)
    assert number(scored, "TP") == 0
    assert scored.values["SRR"].reason == "no re-plan"


def test_case_5_an_error_that_is_solved() -> None:
    scored = score(CASE_5, BEIGE)
    assert scored.success
    assert scored.replans == 3
    assert number(scored, "PLWSR") == 9 / 15


def test_appendix_b_the_demonstration_of_the_data_set_succeeds() -> None:
    run = """(1) [Go to, blue_sofa] (2) [Go to, living_room] (3) [Go to, kitchen_drawer] (4) [Open, kitchen_drawer]
    (5) [Go to, kitchen_counter] (6) [Pick, short_can] (7) [Go to, kitchen_drawer] (8) [Put, short_can, kitchen_drawer]
    (9) [Close, kitchen_drawer] (10) [End]"""
    assert score(run, DRAWER).success


def test_end_must_be_the_final_action_and_the_action_itself() -> None:
    steps = (Step(1, parse_brackets("[Go to, kitchen]"), True, analysis="this is the End"),)
    scored = score_episode(Trajectory(info(), steps, EpisodeResult(Outcome.STEP_LIMIT, 1)), DRAWER)
    assert not scored.ended
    assert scored.progress.value == 0.25


def test_an_end_after_a_failure_is_a_re_plan_and_the_last_step_is_scored() -> None:
    assert score("(1) [Pick, mug](fail) (2) [End]", BEIGE).replans == 1
    assert score("(1) [Pick, mug](fail)", BEIGE, Outcome.STEP_LIMIT).replans == 0
    assert score("(1) [Pick, cracker_box](success)", BEIGE, Outcome.STEP_LIMIT).progress.value == 0.2


def test_a_detour_lowers_and_a_short_cut_does_not_raise_the_weight() -> None:
    assert score(CASE_5, BEIGE).path_weight.number == 9 / 15
    short = """(1) [Pick, cracker_box] (2) [Put, cracker_box, beige_table]
    (3) [Pick, sugar_box] (4) [Put, sugar_box, beige_table] (5) [End]"""
    assert score(short, BEIGE).path_weight.number == 1


def test_no_steps_at_all() -> None:
    scored = score("", GREEN_CAN, None)
    assert number(scored, "TP") == number(scored, "SR") == 0
    assert {name for name, value in scored.values.items() if not value.defined} == {"SRR", "SER", "GC"}
    assert tuple(scored.values) == METRICS


def test_goal_conditions_are_judged_from_the_final_world() -> None:
    steps = steps_of("(1) [End]")
    for state, expected in ((kitchen(), 0.0), (kitchen(can_in="fridge"), 1.0)):
        scored = score_episode(Trajectory(info(), steps, None, state), GREEN_CAN)
        assert number(scored, "GC") == expected
        assert "GC: at least 1 potted_meat_can in fridge" in " ".join(scored.explanation())
    assert score("(1) [End]", GREEN_CAN).values["GC"].reason == "no world state was recorded"
    assert score("(1) [End]", BEIGE).values["GC"].reason == "the task has no goal condition"


def test_an_ambiguous_name_is_read_in_the_scene_of_the_final_state() -> None:
    steps = steps_of("(1) [Pick, can] (2) [End]")
    picked = task("[Pick, potted_meat_can]", "[End]")
    assert score_episode(Trajectory(info(), steps, None, kitchen()), picked).success


def test_what_was_handled_counts_in_the_scene_of_the_final_state() -> None:
    steps = list(steps_of("(1) [Pick, apple](success) (2) [Open, fridge] (3) [Put, apple, fridge] (4) [End]"))
    steps[0] = replace(steps[0], target_id="potted_meat_can_1")
    steps[2] = replace(steps[2], target_id="potted_meat_can_1", destination_id="fridge")
    seen = Trajectory(info(), tuple(steps), EpisodeResult(Outcome.ENDED, 4), kitchen(can_in="fridge"))
    assert score_episode(seen, GREEN_CAN).success
    assert not score_episode(replace(seen, final_state=None), GREEN_CAN).success


def test_the_explanation_tells_every_fact() -> None:
    lines = score("(1) [Open, drawer] (2) [End]", DRAWER).explanation()
    assert lines == (
        "TP: [Open, kitchen_drawer] matched at step 1",
        "TP: [Put, short_can, kitchen_drawer] not matched",
        "TP: [End] not matched",
        "SRR: not defined, no re-plan",
        "GC: not defined, no world state was recorded",
    )


def test_what_does_not_judge_the_planner_is_counted_apart() -> None:
    scores = [score(CASE_5, BEIGE), score(CASE_5, BEIGE, Outcome.STEP_LIMIT)] + [
        score("(1) [Pick, mug](fail)", BEIGE, outcome)
        for outcome in (Outcome.INFRASTRUCTURE_FAILURE, Outcome.PLANNER_FAILURE, Outcome.CANCELLED, None, None)
    ]
    summary = aggregate(scores)
    assert summary.judged == 2
    assert summary.apart == {"cancelled": 1, "infrastructure_failure": 1, "planner_failure": 1, "unfinished": 2}
    assert summary.values["SR"].number == 1


def test_nothing_to_pool_is_not_defined() -> None:
    summary = aggregate([])
    assert all(math.isnan(value.number) and value.reason for value in summary.values.values())
    assert summary.successful_errors.rate.reason == "no step was executed"
    assert summary.successful_errors.share(ErrorCode.HAND_FULL).reason == "no error occurred"


def test_pooled_values_are_means_of_single_ones_where_the_paper_says_so() -> None:
    limit = Outcome.STEP_LIMIT
    scores = [score(APPENDIX_C_2, YELLOW_BOX), score(CASE_3, YELLOW_BOX, limit), score(APPENDIX_C_1, DRAWER, limit)]
    values = aggregate(scores).values
    assert values["SR"].number == 1 / 3
    assert values["TP"].number == math.fsum([1, 0.4, 0.5]) / 3
    assert values["PLWSR"].number == (7 / 16) / 3
    assert values["SER"].number == 1


def stand_in(success: bool, ended: bool) -> EpisodeScore:
    """A score with nothing but what SR and SER look at."""
    run = "(1) [Pick, mug]" + (" (2) [End]" if ended else "")
    return score(run, task("[Pick, mug]", "[End]") if success else task("[Pick, bowl]", "[End]"), Outcome.STEP_LIMIT)


@pytest.mark.parametrize(
    ("successes", "ends", "trials", "sr", "ser"),
    [
        (40, 81, 300, 13.33, 49.38),
        (52, 93, 300, 17.33, 55.91),
        (3, 12, 300, 1.00, 25.00),
        (2, 5, 300, 0.67, 40.00),
        (83, 154, 300, 27.67, 53.90),
        (90, 148, 297, 30.30, 60.81),
        (77, 143, 270, 28.52, 53.85),
        (6, 11, 30, 20.00, 54.55),
        (85, 140, 267, 31.84, 60.71),
        (5, 8, 30, 16.67, 62.50),
    ],
)
def test_the_papers_percentages_from_their_counts(
    successes: int, ends: int, trials: int, sr: float, ser: float
) -> None:
    summary = aggregate(
        [stand_in(True, True)] * successes
        + [stand_in(False, True)] * (ends - successes)
        + [stand_in(False, False)] * (trials - ends)
    )
    assert round(100 * summary.values["SR"].number, 2) == sr
    assert round(100 * summary.values["SER"].number, 2) == ser


H5_GPT = {"L1": 5, "L2": 1, "L3": 1, "D1": 56, "F1": 2, "F2": 22, "E1": 20, "E2": 19}
H6_GPT = {"L1": 228, "L2": 4, "L3": 23, "L4": 121, "D1": 279, "D2": 2, "F1": 19, "F2": 2152, "E1": 464, "E2": 25}


@pytest.mark.parametrize(
    ("counts", "executed", "shares", "classes", "rate"),
    [
        (H5_GPT, 416, {"L1": 3.97, "D1": 44.44, "F2": 17.46}, {"L": 5.56, "D": 44.44, "F": 19.05, "E": 30.95}, 30.29),
        (H6_GPT, 4506, {"L1": 6.87, "D1": 8.41, "F2": 64.88}, {"L": 11.34, "D": 8.47, "F": 65.45, "E": 14.74}, 73.61),
    ],
)
def test_the_papers_error_shares_from_their_counts(
    counts: dict[str, int], executed: int, shares: dict[str, float], classes: dict[str, float], rate: float
) -> None:
    table = ErrorTable(Counter({ErrorCode(code): count for code, count in counts.items()}), executed)
    assert {code: round(100 * table.share(ErrorCode(code)).number, 2) for code in shares} == shares
    assert {letter: round(100 * table.class_share(letter).number, 2) for letter in classes} == classes
    assert round(100 * table.rate.number, 2) == rate


def test_errors_are_split_by_the_success_of_their_trajectory() -> None:
    summary = aggregate([score(APPENDIX_C_2, YELLOW_BOX), score(APPENDIX_C_1, DRAWER, Outcome.STEP_LIMIT)])
    assert (summary.successful_errors.total, summary.successful_errors.executed) == (2, 15)
    assert (summary.failed_errors.total, summary.failed_errors.executed) == (9, 20)


NODES = [
    "[Pick, yellow_box]",
    "[Open, fridge]",
    "[Put, yellow_box, fridge]",
    "[Close, fridge]",
    "[Go to, sofa]",
    "[End]",
]
runs = st.lists(st.tuples(st.sampled_from(NODES), st.booleans()), max_size=20)
outcomes = st.sampled_from([*Outcome, None])


def _trajectory(drawn: list[tuple[str, bool]], outcome: Outcome | None) -> Trajectory:
    run = " ".join(f"({index}) {text}({'success' if good else 'fail'})" for index, (text, good) in enumerate(drawn, 1))
    return trajectory(run, outcome)


@given(runs, runs)
def test_more_steps_never_lower_task_progress(first: list[tuple[str, bool]], more: list[tuple[str, bool]]) -> None:
    before, after = (score_episode(_trajectory(drawn, None), YELLOW_BOX) for drawn in (first, first + more))
    assert 0 <= before.progress.value <= after.progress.value <= 1


@given(st.lists(st.tuples(runs, outcomes), max_size=8))
def test_values_are_shares_or_not_defined_and_nothing_is_lost(
    drawn: list[tuple[list[tuple[str, bool]], Outcome | None]],
) -> None:
    scores = [score_episode(_trajectory(run, outcome), YELLOW_BOX) for run, outcome in drawn]
    summary: Summary = aggregate(scores)
    for values in (summary.values, *(scored.values for scored in scores)):
        for value in values.values():
            assert 0 <= value.number <= 1 if value.defined else value.reason
    assert summary.judged + sum(summary.apart.values()) == len(scores)
    assert summary == aggregate(reversed(scores))


@given(runs, outcomes)
def test_success_means_all_of_task_progress_and_an_end(drawn: list[tuple[str, bool]], outcome: Outcome | None) -> None:
    scored = score_episode(_trajectory(drawn, outcome), YELLOW_BOX)
    assert scored.success == (scored.progress.value == 1)
    assert not scored.success or ("[End]", True) in drawn
