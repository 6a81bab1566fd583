"""Similar steps of past successes: what is remembered, and what is most alike."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from homie_core.episode import Outcome
from homie_core.subtask import Subtask
from homie_planner.retrieval import Cue, Experience, Memory, RetrievalError, similarity
from support.memories import MUG_RUN, write_run

FAILED_AT_FIRST = """(1) [Go to, mug](fail)
(2) [Go to, mug](success)
(3) [Pick, mug](success)
(4) [Go to, sofa](success)
(5) [Put, mug, sofa](success)
(6) [End]"""
HALF = """(1) [Go to, mug](success)
(2) [End]"""

words = st.lists(st.sampled_from(["go", "to", "mug", "Pick", "fridge", "success", "fail"]), max_size=6).map(" ".join)
cues = st.builds(Cue, task=words, inventory=st.lists(words, max_size=2).map(tuple), history=words, feedback=words)
experiences = st.lists(
    st.builds(
        Experience,
        episode_id=st.sampled_from(["e1", "e2", "e3"]),
        cue=cues,
        analysis=words,
        subtask=st.builds(Subtask, st.sampled_from(["Go to", "Pick"]), words),
    ),
    max_size=12,
)


def test_similarity_by_hand() -> None:
    first = Cue("bring the mug", (), "(1) Go to, mug(success) ", "None")
    second = Cue("bring the red bowl", ("bowl",), "(1) Go to, bowl(success) ", "None")
    # Task: bring, the of 3 and 4 words; inventory: none of 1; history: 1 go to success of 5 and 5; feedback: equal.
    assert similarity(first, second) == pytest.approx((4 / 7 + 0 + 8 / 10 + 1) / 4)


@given(cues, cues)
@example(Cue("", (), "", ""), Cue("", (), "", ""))
def test_similarity_is_a_similarity(first: Cue, second: Cue) -> None:
    assert similarity(first, first) == 1.0
    assert 0.0 <= similarity(first, second) <= 1.0
    assert similarity(first, second) == similarity(second, first)


@given(experiences, cues, st.integers(1, 10), st.sampled_from(["", "e1"]))
def test_the_most_similar_come_first_and_equal_ones_in_their_order(
    known: list[Experience], cue: Cue, count: int, own: str
) -> None:
    found = Memory(known).similar(cue, count, own)
    assert found == Memory(known).similar(cue, count, own)
    ranks = [(-similarity(each.cue, cue), known.index(each)) for each in found]
    assert ranks == sorted(ranks)
    allowed = {(each.cue, each.subtask) for each in known if each.episode_id != own}
    assert len(found) == min(count, len(allowed))
    assert len({(each.cue, each.subtask) for each in found}) == len(found)
    assert all(each.episode_id != own for each in found)
    worst = min((similarity(each.cue, cue) for each in found), default=0.0)
    left_out = allowed - {(each.cue, each.subtask) for each in found}
    assert all(similarity(other, cue) <= worst for other, _ in left_out)


def test_successful_steps_of_successful_episodes_are_remembered(tmp_path: Path) -> None:
    write_run(tmp_path / "run_1", "e1", FAILED_AT_FIRST)
    write_run(tmp_path / "run_2", "e2", HALF)
    write_run(tmp_path / "run_3", "e3", MUG_RUN, outcome=Outcome.PLANNER_FAILURE)
    write_run(tmp_path / "run_4", "e4", MUG_RUN, outcome=None)
    (tmp_path / "run_5" / "bag").mkdir(parents=True)
    (tmp_path / "run_5" / "bag" / "bag_0.mcap").write_bytes(b"not a bag")
    memory = Memory.load(tmp_path)
    found = memory.similar(Cue("bring the mug"), 10)
    assert len(memory) == 5
    assert {each.episode_id for each in found} == {"e1"}
    assert [each.subtask.brackets() for each in found if each.cue.history.count("(") == 2] == ["[Go to, mug]"]
    assert {each.cue.inventory for each in found if each.subtask.action == "Put"} == {("mug",)}


def test_the_situation_decides(tmp_path: Path) -> None:
    write_run(tmp_path / "run_1", "e1", MUG_RUN)
    memory = Memory.load(tmp_path)
    holding = Cue("bring the cup", ("cup",), "(1) Go to, cup(success) (2) Pick, cup(success) ")
    (best,) = memory.similar(holding, 1)
    assert best.subtask.brackets() == "[Go to, sofa]"
    (first,) = memory.similar(Cue("bring the cup"), 1)
    assert first.subtask.brackets() == "[Go to, mug]"


def test_an_episode_is_no_example_for_itself(tmp_path: Path) -> None:
    write_run(tmp_path / "run_1", "e1", MUG_RUN)
    write_run(tmp_path / "run_2", "e2", MUG_RUN)
    memory = Memory.load(tmp_path)
    assert {each.episode_id for each in memory.similar(Cue("bring the mug"), 9)} == {"e1"}
    assert {each.episode_id for each in memory.similar(Cue("bring the mug"), 9, "e1")} == {"e2"}


def test_bags_may_lie_deep_and_are_read_by_name(tmp_path: Path) -> None:
    write_run(tmp_path / "b" / "inner" / "run", "late", MUG_RUN)
    write_run(tmp_path / "a" / "run", "early", MUG_RUN)
    memory = Memory.load(tmp_path)
    assert memory.similar(Cue("bring the mug"), 1)[0].episode_id == "early"
    # What was read stays known.
    shutil.rmtree(tmp_path / "a")
    assert memory.similar(Cue("bring the mug"), 1)[0].episode_id == "early"


def test_the_history_window_holds_for_what_is_remembered_too(tmp_path: Path) -> None:
    write_run(tmp_path / "run_1", "e1", MUG_RUN)
    histories = [each.cue.history for each in Memory.load(tmp_path, window=1).similar(Cue("bring the mug"), 9)]
    assert max(history.count("success") for history in histories) == 1


@pytest.mark.parametrize("content", ["missing", "empty", "no success"])
def test_a_useless_folder_is_one_clear_line(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "memory"
    if content != "missing":
        folder.mkdir()
    if content == "no success":
        write_run(folder / "run_1", "e1", HALF)
    reason = {"missing": "is no folder", "empty": "holds no bag", "no success": "none of its 1 bags"}[content]
    with pytest.raises(RetrievalError, match=reason) as caught:
        Memory.load(folder)
    assert str(folder) in str(caught.value) and "\n" not in str(caught.value)
