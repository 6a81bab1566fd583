"""Runs whose planner is told what is seen: from the renderer to the prompt, the bag and the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from homie_core.episode import Step
from homie_eval.bag import Bag, read_bag
from support.system_support import Finished, run_demo

INSTANT = ("--skills", "oracle", "--video-fps", "0", "--views", "needed")
TEXT = (*INSTANT, "--planner-option", "instruction.observation=text")


def steps_of(run: Finished) -> tuple[Step, ...]:
    assert run.code == 0, run.output
    (trajectory,) = read_bag(run.folder / "bag").trajectories
    return trajectory.steps


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_demo(tmp_path_factory.mktemp("told"), *TEXT)


def test_the_text_is_in_the_bag_and_in_the_prompt_and_no_picture_is(told: Finished) -> None:
    with Bag(told.folder / "bag") as bag:
        observations = [record.decode() for record in bag.records("observation")]
    steps = steps_of(told)
    assert len(observations) == len(steps)
    for observation, step in zip(observations, steps, strict=True):
        assert len(observation.views) == 0
        assert observation.text.startswith("room: ")
        assert f"\n[user]\nObservation:\n{observation.text}\nTask: put the green_can" in step.prompt


def test_what_is_in_the_fridge_is_told_only_after_it_was_opened(told: Finished) -> None:
    steps = steps_of(told)
    assert [step.subtask.action for step in steps[:2]] == ["Go to", "Open"]
    assert not any("orange" in step.prompt for step in steps[:2])
    assert "orange (in fridge)" in steps[2].prompt


def test_the_report_shows_who_was_told_what(told: Finished) -> None:
    page = (told.folder / "report.html").read_text()
    assert "[system]\nYou are a powerful housework assistant" in page
    assert "[user]\nObservation:\nroom: kitchen\nfront: " in page


def test_one_process_per_node_is_told_the_same(told: Finished, tmp_path: Path) -> None:
    apart = run_demo(tmp_path, *TEXT, "--processes")
    assert [step.prompt for step in steps_of(apart)] == [step.prompt for step in steps_of(told)]


def test_past_successes_come_first_as_examples(told: Finished, tmp_path: Path) -> None:
    options = ("instruction.retrieve=1", f"instruction.memory={told.folder}", "instruction.one_shot=true")
    run = run_demo(tmp_path, *TEXT, *(word for option in options for word in ("--planner-option", option)))
    for now, before in zip(steps_of(run), steps_of(told), strict=True):
        parts = now.prompt.split("\n[user]\n")
        assert parts[1].startswith("here is an example output")
        assert f"[assistant]\nAnalysis: {before.analysis}\nSubtask: {before.subtask.brackets()}\n" in parts[2]
        assert parts[3].startswith("Observation:\nroom: ")
