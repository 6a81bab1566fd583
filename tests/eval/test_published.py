"""The published notebooks' way of counting, by hand, beside that of the paper's text."""

from dataclasses import replace

import pytest

from homie_core.episode import Outcome
from homie_eval.emmoe.metrics import score_episode
from homie_eval.emmoe.published import assumed_skill_rate, published_score, published_summary
from homie_eval.emmoe.tasks import load_task
from homie_eval.trajectory import Trajectory
from support.trajectories import APPENDIX_C_1, APPENDIX_C_2, info, result, steps_of

DRAWER, FRIDGE = load_task("84"), load_task("39")


def trajectory(text: str, outcome: Outcome = Outcome.ENDED, trial: int = 3, last: str = "") -> Trajectory:
    steps = steps_of(text)
    steps = (*steps[:-1], replace(steps[-1], raw_output=last or steps[-1].subtask.brackets()))
    return Trajectory(info(trial=trial), steps, result(steps, outcome))


def test_a_finished_run() -> None:
    score = published_score(trajectory(APPENDIX_C_2), FRIDGE)
    assert score.success and score.ended
    assert (score.replans, score.length) == (2, 16)
    assert sum(score.errors.values()) == 2


def test_the_last_step_of_an_unfinished_run_is_not_seen() -> None:
    # The task is done by the last of the steps, but no prompt tells of it.
    steps = "(1) [Open, drawer](success)\n(2) [Put, short_can, drawer](success)"
    run = trajectory(steps, Outcome.STEP_LIMIT)
    assert score_episode(run, DRAWER).progress.value == pytest.approx(2 / 3)
    assert published_score(run, DRAWER).progress == pytest.approx(1 / 3)


def test_the_word_end_in_an_analysis_counts_as_an_end() -> None:
    steps = "(1) [Open, drawer](success)\n(2) [Put, short_can, drawer](success)\n(3) [Go to, sofa](success)"
    run = trajectory(steps, Outcome.STEP_LIMIT, last="Analysis: soon I can End the task\nSubtask: [Go to, sofa]")
    assert published_score(run, DRAWER).success
    assert not score_episode(run, DRAWER).success


def test_the_system_text_was_not_part_of_the_records() -> None:
    steps = steps_of("(1) [Open, drawer](success)\n(2) [Put, short_can, drawer](success)\n(3) [Go to, sofa](success)")
    prompt = "choose from [Go to, Pick, Put, Open, Close, End]\nTask: check the drawer\nInventory: None\n"
    last = replace(steps[-1], prompt=prompt, raw_output="Subtask: [Go to, sofa]")
    run = Trajectory(info(), (*steps[:-1], last), result(steps, Outcome.STEP_LIMIT))
    assert not published_score(run, DRAWER).ended


def test_a_failure_right_before_end_is_no_re_plan() -> None:
    steps = "(1) [Open, drawer](fail)\n(2) [Open, drawer](fail)\n(3) [End]"
    assert published_score(trajectory(steps), DRAWER).replans == 1
    assert score_episode(trajectory(steps), DRAWER).replans == 2
    unfinished = "(1) [Open, drawer](fail)\n(2) [Open, drawer](fail)\n(3) [Go to, sofa](success)"
    assert published_score(trajectory(unfinished, Outcome.STEP_LIMIT), DRAWER).replans == 2


def test_only_the_third_trial_counts_for_srr() -> None:
    good, bad = trajectory(APPENDIX_C_2), trajectory(APPENDIX_C_1, Outcome.STEP_LIMIT)
    first = trajectory(APPENDIX_C_2, trial=1)
    scores = [published_score(good, FRIDGE), published_score(first, FRIDGE), published_score(bad, DRAWER)]
    ratios = published_summary(scores)
    assert (ratios["SRR"].numerator, ratios["SRR"].denominator) == (2, 2 + 9)
    assert (ratios["SR"].numerator, ratios["SR"].denominator) == (2, 3)
    assert (ratios["SER"].numerator, ratios["SER"].denominator) == (2, 2)
    assert ratios["PLWSR"].numerator == pytest.approx(2 * FRIDGE.expert_length / 16)


def test_an_empty_run_is_no_crash() -> None:
    empty = Trajectory(info(), (), result((), Outcome.STEP_LIMIT))
    score = published_score(empty, DRAWER)
    assert (score.progress, score.ended, score.length) == (0.0, False, 0)
    assert not published_summary([])["SR"].value.defined


@pytest.mark.parametrize(
    ("failures", "successes", "printed"),
    [  # table H7: failures, successes that its bounds imply; lower bound, average, upper bound
        (938, 13636, (31.19, 45.32, 82.89)),
        (1213, 1483, (18.34, 22.45, 28.95)),
        (178, 1211, (29.06, 40.97, 69.40)),
        (81, 763, (30.13, 43.13, 75.84)),
        (27, 109, (26.72, 36.45, 57.37)),
    ],
)
def test_skill_rates_of_table_h7(failures: int, successes: int, printed: tuple[float, float, float]) -> None:
    for tries, number in zip((3, 2, 1), printed, strict=True):
        assert 100 * assumed_skill_rate(successes, failures, tries).value.number == pytest.approx(number, abs=0.0051)
