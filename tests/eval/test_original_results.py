"""The original system's runs, scored by EMMOE-100."""

import json
from pathlib import Path

import pytest

from homie_eval.emmoe.data.emmoe100 import Emmoe100Error
from homie_eval.emmoe.data.original_results import attributes_of, original_results
from support.demonstrations import CLEAN_SOFA

KEY_PATHS = [["[Pick, cracker_box]", "[Put, cracker_box, kitchen_counter]", "[End]"]]


def data_set(folder: Path, *numbers: int) -> Path:
    for number in numbers:
        path = folder / "data" / ("train" if number <= 90 else "test") / str(number)
        path.mkdir(parents=True)
        (path / "info.txt").write_text(CLEAN_SOFA)
        (path / "keypath.json").write_text(json.dumps(KEY_PATHS))
    return folder


def a_round(history: str, feedback: str, subtask: str) -> str:
    return (
        f"USER:\nTask: clean up the blue sofa\nInventory: None\nHistorical Execution: {history}\nFeedback: {feedback}\n"
        f"Now\nASSISTANT:\nAnalysis: so\nSubtask: {subtask}\nModel: octo\n"
    )


GOOD = [
    a_round("None", "None", "[Pick, cracker_box]"),
    a_round("(1) Pick, cracker_box(success) ", "None", "[Put, cracker_box, kitchen_counter]"),
    a_round("(1) Pick, cracker_box(success) (2) Put, cracker_box, kitchen_counter(success) ", "None", "[End]"),
]


def write(folder: Path, task: str, trial: str, content: object) -> None:
    path = folder / task / trial
    path.mkdir(parents=True)
    (path / "conversation.json").write_text(json.dumps(content))


def test_runs_are_scored_by_the_key_paths_and_lengths_of_the_data_set(tmp_path: Path) -> None:
    exp = tmp_path / "exp" / "GPT4"
    write(exp, "21", "1", GOOD)
    write(exp, "21", "2", GOOD[:2])
    write(exp, "95", "1", GOOD)
    write(exp, "22", "1", GOOD)
    write(exp, "21", "3", [])
    results, notes = original_results(exp, data_set(tmp_path / "set", 21, 95))
    assert results.label == "GPT4"
    success = results.estimates["SR"]
    assert (success.numerator, success.denominator) == (2, 3)
    # The expert of the data set needs 6 steps, failed ones included, these runs 3.
    assert results.estimates["PLWSR"].numerator == 2.0
    assert results.subset(lambda task: task.split == "test").estimates["SR"].denominator == 1
    assert len(notes) == 2
    assert any("22/1 is not scored" in note for note in notes)
    assert any("21/3/conversation.json holds no round" in note for note in notes)


def test_nothing_to_score(tmp_path: Path) -> None:
    exp = tmp_path / "exp" / "GPT4"
    write(exp, "1", "1", GOOD)
    with pytest.raises(Emmoe100Error, match=r"no trial that can be scored: .*has no such task"):
        original_results(exp, data_set(tmp_path / "set", 2))


def test_attributes_have_the_papers_numbers() -> None:
    # Paper, figure B2 and section 2.2: 84 long-horizon (76 + 8), 9 open-ended (6 + 3); notebook: 16, 49 and 70.
    lists = {number: attributes_of(number) for number in range(1, 101)}

    def count(name: str, last: int = 100) -> int:
        return sum(name in lists[number] for number in range(1, last + 1))

    assert (count("long_horizon"), count("long_horizon", 90)) == (84, 76)
    assert (count("open_ended"), count("open_ended", 90)) == (9, 6)
    assert (count("short_horizon"), count("logical"), count("human_style")) == (16, 49, 70)
    assert (count("logical", 90), count("human_style", 90)) == (45, 64)
