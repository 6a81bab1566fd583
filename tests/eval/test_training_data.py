"""SFT and DPO records, against the paper's samples and formulas."""

import pytest

from homie_core.subtask import Subtask
from homie_eval.emmoe.data.dpo import PairKind, dpo_pairs
from homie_eval.emmoe.data.info_file import Demonstration, parse_info
from homie_eval.emmoe.data.sft import Turn, sft_records, turns
from support.demonstrations import CLEAN_SOFA
from support.trajectories import steps_of


def of(text: str = CLEAN_SOFA) -> tuple[Turn, ...]:
    return turns(parse_info(text), "21", [[f"21/subtask{n}_{v}.png" for v in ("front", "left")] for n in range(1, 7)])


def test_a_record_has_the_form_of_the_papers_samples() -> None:
    record = of()[3].record()
    assert record == {
        "id": "21_info_subtask4",
        "image": ["21/subtask4_front.png", "21/subtask4_left.png"],
        "conversations": [
            {
                "from": "human",
                "value": "Task: clean up the blue sofa\nInventory: cracker_box\nHistorical Execution:"
                "(1)[Go to, blue_sofa] (PixNav) (success)\n(2)[Pick, cracker_box] (RT-1-X) (fail)\n"
                "(3)[Pick, cracker_box] (RT-1-X) (success)\n\nFeedback: None\n"
                "Now, please output Analysis, Subtask and Model, according to the instruction above.",
            },
            {
                "from": "gpt",
                "value": "Analysis: I hold it, so I go to the counter\nSubtask: [Go to, kitchen_counter]\nModel: NoMaD",
            },
        ],
    }


def test_the_first_and_the_last_record() -> None:
    first, *_, last = of()
    assert first.prompt == (
        "Task: clean up the blue sofa\nInventory: None\nHistorical Execution: None\nFeedback: None\n"
        "Now, please output Analysis, Subtask and Model, according to the instruction above."
    )
    assert last.choice == "Subtask: [End]\nModel: None"
    assert "Feedback: Unable to pick, the subtask is too difficult to perform\n" in of()[2].prompt


def test_failed_subtasks_are_no_sft_data() -> None:
    assert [record["id"] for record in sft_records(of())] == [f"21_info_subtask{n}" for n in (1, 3, 4, 5, 6)]


def test_pairs_follow_the_papers_formula() -> None:
    # (successful - End) x 3 + failures with a successful re-plan (paper's totals: (3720 - 400) x 3 + 36 x 4 = 10104).
    pairs = dpo_pairs(of())
    assert len(pairs) == (5 - 1) * 3 + 1
    (replan,) = [pair for pair in pairs if pair.kind is PairKind.REPLAN]
    assert replan.prompt == of()[1].prompt
    assert replan.chosen == replan.rejected == "Subtask: [Pick, cracker_box]\nModel: RT-1-X"


def test_each_kind_of_change() -> None:
    changed = {pair.kind: pair for pair in dpo_pairs(of()) if "[Go to, kitchen_counter]" in pair.chosen}
    assert changed[PairKind.MODEL].rejected == "Subtask: [Go to, kitchen_counter]\nModel: PixNav"
    assert changed[PairKind.ACTION].rejected == "Subtask: [Move, kitchen_counter]\nModel: NoMaD"
    assert changed[PairKind.ORDER].rejected == "Subtask: [Put, cracker_box, kitchen_counter]\nModel: RT-1-X"
    assert changed[PairKind.ORDER].record()["prompt"] == of()[3].prompt


def test_end_is_never_chosen() -> None:
    pairs = dpo_pairs(of())
    assert not any("[End]" in pair.chosen for pair in pairs)
    assert sum("[End]" in pair.rejected for pair in pairs) == 1


def test_a_failure_before_end_or_before_another_failure_is_no_pair() -> None:
    opening = "(1) [Open, fridge](fail)\n(2) [Open, fridge](fail)\n(3) [Open, fridge](success)\n"
    steps = steps_of(opening + "(4) [Open, sofa](fail)\n(5) [End]")
    kinds = [pair.kind for pair in dpo_pairs(turns(Demonstration("t", steps), "1"))]
    assert kinds.count(PairKind.REPLAN) == 1


@pytest.mark.parametrize("model", ["M3", ""])
def test_a_model_without_counterpart_gives_no_pair(model: str) -> None:
    text = CLEAN_SOFA.replace("(RT-1-X)", f"({model or 'None'})")
    kinds = [pair.kind for pair in dpo_pairs(of(text))]
    assert kinds.count(PairKind.MODEL) == 2
    assert of(text)[2].step.subtask == Subtask("Pick", "cracker_box", "", model)
