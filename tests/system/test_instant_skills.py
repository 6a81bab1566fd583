"""``homie demo --skills oracle``: the same task, the same records, without motion."""

import json
from pathlib import Path

import pytest

from homie_core.episode import Outcome
from homie_core.errors import ErrorCode
from homie_eval.bag import read_bag
from homie_eval.trajectory import Trajectory
from support.system_support import Finished, run_demo

ORACLE = ("--skills", "oracle", "--video-fps", "0")


def trajectory_of(run: Finished) -> Trajectory:
    (trajectory,) = read_bag(run.folder / "bag").trajectories
    return trajectory


@pytest.fixture(scope="module")
def instant(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_demo(tmp_path_factory.mktemp("oracle"), *ORACLE, "--views", "needed")


def test_the_task_is_done(instant: Finished) -> None:
    assert instant.code == 0, instant.output
    summary = json.loads((instant.folder / "run.json").read_text())
    assert (summary["outcome"], summary["score"]["TP"], summary["score"]["GC"]) == ("ended", 1.0, 1.0)
    state = trajectory_of(instant).final_state
    assert state is not None
    assert state["potted_meat_can_1"].parent == "fridge"


def test_simulated_time_runs_on_and_wall_time_hardly(instant: Finished) -> None:
    trajectory = trajectory_of(instant)
    assert trajectory.result is not None
    assert trajectory.result.sim_seconds > 30
    assert trajectory.result.wall_seconds < 10
    stamps = [step.stamp for step in trajectory.steps]
    assert stamps == sorted(stamps)


def test_the_record_says_what_was_run(instant: Finished) -> None:
    configuration = json.loads(trajectory_of(instant).info.configuration_json)
    assert (configuration["skills"], configuration["success_rates"], configuration["views"]) == ("oracle", "", "needed")


def test_the_report_does_without_pictures(instant: Finished) -> None:
    assert (instant.folder / "report.html").stat().st_size > 1000


def test_views_can_be_had_all_the_same(tmp_path: Path) -> None:
    run = run_demo(tmp_path, *ORACLE, "--max-steps", "1")
    assert run.code == 0, run.output
    assert (run.folder / "report.html").read_text().count("data:image/") >= 4


def test_the_errors_are_those_of_the_physical_run(tmp_path: Path) -> None:
    run = run_demo(tmp_path, *ORACLE, "--views", "needed", "--planner", "replay:case_1")
    failed = {step.index: step.error_code for step in trajectory_of(run).steps if not step.success}
    assert failed == {4: ErrorCode.CONTAINER_CLOSED, 5: ErrorCode.HAND_FULL}


def test_skills_that_never_succeed_are_too_difficult(tmp_path: Path) -> None:
    rates = ("--success-rates", "go_to=0,open=0,pick=0")
    run = run_demo(tmp_path, *ORACLE, "--views", "needed", *rates, "--max-steps", "3")
    trajectory = trajectory_of(run)
    assert trajectory.result is not None
    assert trajectory.result.outcome is Outcome.STEP_LIMIT
    assert {(step.error_code, step.attempts) for step in trajectory.steps} == {(ErrorCode.TOO_DIFFICULT, 3)}


def what_happened(run: Finished) -> list[tuple[object, ...]]:
    steps = trajectory_of(run).steps
    return [(step.subtask, step.success, step.error_code, step.attempts, step.stamp) for step in steps]


def test_luck_belongs_to_the_seed(tmp_path: Path) -> None:
    rates = ("--views", "needed", "--success-rates", "table_4")
    runs = [
        run_demo(tmp_path / name, *ORACLE, *rates, "--seed", seed)
        for name, seed in (("a", "3"), ("b", "3"), ("c", "4"))
    ]
    first, again, other = map(what_happened, runs)
    assert first == again
    assert first != other
    assert any(step.attempts > 1 for step in trajectory_of(runs[0]).steps)


def test_one_process_per_node(tmp_path: Path) -> None:
    run = run_demo(tmp_path, *ORACLE, "--views", "needed", "--processes")
    assert run.code == 0, run.output
    assert json.loads((run.folder / "run.json").read_text())["score"]["TP"] == 1.0
