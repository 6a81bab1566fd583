"""The plan that ``homie eval`` makes of what it is given."""

from pathlib import Path

import pytest

from homie_bringup.evaluation_settings import make_plan, run_for
from homie_bringup.settings import SettingsError
from homie_eval.runs.plan import RunPlan


def plan(**values: object) -> RunPlan:
    return make_plan({"homie": "test"}, **values)


def test_the_paper_runs_a_hundred_tasks_three_times() -> None:
    made = plan(skills="oracle")
    assert len(made.episodes) == 300
    assert made.planners[0].label == "expert"
    assert made.versions == {"homie": "test"}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("84", [84]),
        ("100, 33,33", [100, 33]),
        ("39-41", [39, 40, 41]),
        ("1-2,100_green_can_to_fridge", [1, 2, 100]),
    ],
)
def test_tasks(text: str, numbers: list[int]) -> None:
    assert [task.number for task in plan(tasks=text).tasks] == numbers


def test_splits_part_the_suite() -> None:
    train, test = ({task.id for task in plan(tasks=split).tasks} for split in ("train", "test"))
    assert (len(train), len(test)) == (90, 10)
    assert not train & test


def test_labels(tmp_path: Path) -> None:
    file = tmp_path / "my_model.yaml"
    file.write_text("planner: expert\noptions: {forget: 1}\n")
    made = plan(planners=("expert", "again=expert", "replay:case_1", str(file)), tasks="33")
    assert [planner.label for planner in made.planners] == ["expert", "again", "replay_case_1", "my_model"]


def test_a_plan_does_not_change_with_the_file_that_it_was_made_of(tmp_path: Path) -> None:
    file = tmp_path / "my_model.yaml"
    lines = ("options: {forget: 0.5}", "instruction: {history_window: 3}", "prices: {input: 1, output: 2}")
    file.write_text("\n".join(("planner: expert", *lines)))
    made = plan(planners=(str(file),), planner_options=("repair=false", "instruction.image_size=64"), tasks="33")
    before = run_for(made, made.episodes[0]).planner
    file.write_text("planner: replay:case_1\n")
    again = run_for(RunPlan.model_validate_json(made.model_dump_json()), made.episodes[0]).planner
    assert again == before
    assert (again.planner, again.options, again.repair) == ("expert", {"forget": 0.5}, False)
    assert (again.instruction.history_window, again.instruction.image_size) == (3, 64)
    assert again.prices is not None and again.prices.output == 2.0


def test_every_episode_gets_the_settings_of_the_run(tmp_path: Path) -> None:
    made = plan(tasks="33", skills="oracle", success_rates="pick=0.5", max_steps=7, planner_options=("repair=false",))
    episode = made.episodes[-1]
    run = run_for(made, episode)
    assert (run.settings.seed, run.settings.trial, run.task.id) == (episode.seed, 3, episode.task)
    assert (run.settings.skills, run.settings.success_rates, run.settings.max_steps) == ("oracle", "pick=0.5", 7)
    assert not run.planner.repair
    assert not run.views


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tasks": "0"}, "unknown task '0'"),
        ({"tasks": "200-300"}, "tasks '200-300': there is no task with such a number"),
        ({"trials": 0}, "trials 0"),
        ({"planners": ("expert", "expert")}, "planner 'expert' is given twice"),
        ({"planners": ("a/b=expert",)}, "the label 'a/b' must be"),
        ({"success_rates": "pick=0.5"}, "success_rates are for skills oracle"),
        ({"planner_options": ("options.forget=3",)}, "forget 3"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(values: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as error:
        plan(**values)
    assert "\n" not in str(error.value)
