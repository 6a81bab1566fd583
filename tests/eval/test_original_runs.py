"""The original system's run folders, whole and damaged."""

import json
from pathlib import Path

import pytest

from homie_core.episode import Outcome
from homie_core.errors import ErrorCode
from homie_eval.emmoe.data.original_runs import (
    UNKNOWN_RESULT,
    OriginalRunError,
    is_original_layout,
    read_original_run,
    read_original_runs,
)
from homie_eval.emmoe.metrics import score_episode
from homie_eval.emmoe.published import published_score
from homie_eval.emmoe.tasks import load_task

TASK = "put the green_can on the brown_table to the fridge"
CLOSING = "Now based on the instruction above, please output Analysis, Subtask and Model in the mentioned format."


def a_round(inventory: str, history: str, feedback: str, subtask: str, model: str = "NoMaD") -> str:
    return (
        f"USER:\nTask: {TASK}\nInventory: {inventory}\n"
        f"Historical Execution: {history}\nFeedback: {feedback}\n{CLOSING}\n"
        f"ASSISTANT:\nAnalysis: I think so\nSubtask: {subtask}\nModel: {model}\n"
    )


ROUNDS = [
    a_round("None", "None", "None", "[Pick, green_can]", "RT-1-X"),
    a_round("green_can", "(1) Pick, green_can(success) ", "None", "[Put, green_can, fridge]", "RT-1-X"),
    a_round(
        "green_can",
        "(1) Pick, green_can(success) (2) Put, green_can, fridge(fail) ",
        "Unable to put, the fridge is closed, you should open it first",
        "[End]",
        "NoMaD</s>",
    ),
]


def write(folder: Path, task: str, trial: str, content: object) -> Path:
    path = folder / task / trial / "conversation.json"
    path.parent.mkdir(parents=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_rounds_become_steps_with_the_results_of_the_next_round(tmp_path: Path) -> None:
    run = read_original_run(write(tmp_path, "100", "2", ROUNDS), planner="GPT4")
    assert (run.task_id, run.trial) == ("100", 2)
    first, second, last = run.trajectory.steps
    assert (first.subtask.brackets(), first.subtask.model, first.success) == ("[Pick, green_can]", "RT-1-X", True)
    assert first.inventory_after == ("green_can",)
    assert (second.success, second.error_code) == (False, ErrorCode.CONTAINER_CLOSED)
    assert (last.subtask.is_end, last.success, last.subtask.model) == (True, True, "NoMaD")
    assert run.trajectory.result is not None and run.trajectory.result.outcome is Outcome.ENDED
    task = load_task("100")
    assert score_episode(run.trajectory, task).replans == 1
    assert published_score(run.trajectory, task).replans == 0


def test_the_result_of_a_last_round_that_is_no_end_is_unknown(tmp_path: Path) -> None:
    run = read_original_run(write(tmp_path, "1", "1", ROUNDS[:2]), planner="GPT4")
    assert run.trajectory.steps[-1].feedback == UNKNOWN_RESULT
    assert not run.trajectory.steps[-1].success
    assert run.trajectory.problems == (UNKNOWN_RESULT,)


def test_of_a_whole_plan_the_last_block_was_carried_out(tmp_path: Path) -> None:
    plan = ROUNDS[0] + "Analysis: then\nSubtask: [Go to, fridge]\nModel: NoMaD\n"
    run = read_original_run(write(tmp_path, "1", "1", [plan]), planner="GPT4")
    assert run.trajectory.steps[0].subtask.brackets() == "[Go to, fridge]"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "Expecting value"),
        ([], "holds no round"),
        ({"a": 1}, "must be a list of texts"),
        ([1, 2], "must be a list of texts"),
        ([ROUNDS[0].replace("Inventory", "Bag")], "round 1: line 3 does not begin with 'Inventory:'"),
        (["USER:"], "line 2 does not begin with 'Task:'"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, content: object, message: str) -> None:
    path = write(tmp_path, "7", "1", content)
    with pytest.raises(OriginalRunError, match=message) as error:
        read_original_run(path, planner="x")
    assert str(path) in str(error.value)


def test_what_is_readable_is_read_and_the_rest_is_listed(tmp_path: Path) -> None:
    for task, trial in (("10", "1"), ("2", "3"), ("2", "1")):
        write(tmp_path, task, trial, ROUNDS)
    write(tmp_path, "3", "1", "[")
    (tmp_path / "notes").mkdir()
    runs, problems = read_original_runs(tmp_path)
    assert [(run.task_id, run.trial) for run in runs] == [("2", 1), ("2", 3), ("10", 1)]
    assert len(problems) == 1 and "/3/1/conversation.json" in problems[0]
    assert is_original_layout(tmp_path)
    assert not is_original_layout(tmp_path / "notes")
