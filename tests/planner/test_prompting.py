"""From a situation to a request: the paper's by default, and what each option changes of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from homie_planner.backend import Picture, Turn
from homie_planner.instruction import SYSTEM_TEXT, InstructionOptions, ObservationKind, instruction
from homie_planner.prompting import Prompter, Situation
from homie_planner.retrieval import RetrievalError
from support.bags import picture
from support.episodes import episode_info
from support.memories import MUG_RUN, write_run
from support.trajectories import steps_of

SEEN = "room: kitchen\nfront: mug 1 m"
STEPS = steps_of("(1) [Go to, mug](success)\n(2) [Pick, mug](success)\n(3) [Go to, sofa](fail)")


def situation(views: tuple[Picture, ...] = ()) -> Situation:
    return Situation(episode_info(), 4, STEPS, ("mug",), views or tuple(map(picture, range(4))), SEEN)


def test_the_default_is_the_papers_method() -> None:
    given = situation()
    request = Prompter().request(given)
    assert request.system == SYSTEM_TEXT
    past = "(1) Go to, mug(success) (2) Pick, mug(success) (3) Go to, sofa(fail) "
    assert request.prompt == instruction("bring the mug", ("mug",), past, STEPS[-1].feedback)
    assert all(sent is seen for sent, seen in zip(request.views, given.views, strict=True))
    assert request.turns == (Turn("user", request.prompt, request.views),)


def test_a_history_window_keeps_the_last_steps_with_their_numbers() -> None:
    request = Prompter(InstructionOptions(history_window=2)).request(situation())
    assert request.history == "(2) Pick, mug(success) (3) Go to, sofa(fail) "
    assert f"Historical Execution: {request.history}\n" in request.prompt
    assert request.steps == STEPS


@pytest.mark.parametrize("size", [32, 100, 300, 512])
def test_views_are_sent_in_the_wanted_size(size: int) -> None:
    left, right = (0, 0, 200), (200, 100, 0)
    view = np.concatenate([np.full((256, 128, 3), color, np.uint8) for color in (left, right)], axis=1)
    (sent,) = Prompter(InstructionOptions(image_size=size)).request(situation((view,))).views
    assert sent.shape == (size, size, 3) and sent.dtype == np.uint8
    assert tuple(sent[size // 2, 2]) == left and tuple(sent[size // 2, -3]) == right
    assert sent.mean() == pytest.approx(view.mean(), abs=2)


def test_shrinking_averages_instead_of_picking() -> None:
    checkered = np.repeat((np.indices((256, 256)).sum(axis=0) % 2 * 200)[..., None], 3, axis=2).astype(np.uint8)
    (sent,) = Prompter(InstructionOptions(image_size=64)).request(situation((checkered,))).views
    assert np.all(sent == 100)


def test_with_a_text_no_image_reaches_the_model() -> None:
    request = Prompter(InstructionOptions(observation=ObservationKind.TEXT)).request(situation())
    assert request.views == () and all(turn.views == () for turn in request.turns)
    assert request.observation == SEEN
    assert request.prompt.startswith(f"Observation:\n{SEEN}\nTask: bring the mug\n")
    assert "image" not in request.transcript


def test_the_one_shot_exchange_is_that_of_appendix_h() -> None:
    request = Prompter(InstructionOptions(one_shot=True)).request(situation())
    asked, answered = request.examples
    assert (asked.role, answered.role) == ("user", "assistant")
    assert asked.text == (
        "here is an example output, please strictly follow its format and system reminders in your output:\n"
        "Analysis: According to my final task, I need to fetch apples first, but it's a better choice to go the fridge "
        "and open it first, which will avoid potential conflicts, so I should go to the fridge next\n"
        "Subtask: [Go to, fridge]\nModel: NoMaD\n"
    )
    assert answered.text == "I will surely follow the given format, now you can send prompt to me."
    assert request.turns == (asked, answered, Turn("user", request.prompt, request.views))


def test_similar_steps_come_after_the_exchange_as_examples(tmp_path: Path) -> None:
    write_run(tmp_path / "run_1", "e7", MUG_RUN)
    options = InstructionOptions(one_shot=True, retrieve=2, memory=str(tmp_path))
    request = Prompter(options).request(replace(situation(), steps=STEPS[:1], inventory=()))
    assert [turn.role for turn in request.turns] == ["user", "assistant"] * 3 + ["user"]
    asked, answered = request.examples[2:4]
    assert asked.text == instruction("bring the mug", (), "(1) Go to, mug(success) ", "None")
    assert answered.text == "Analysis: thought 2\nSubtask: [Pick, mug]\n"
    assert all(turn.views == () for turn in request.examples)


def test_all_turns_are_on_record_with_who_says_what(tmp_path: Path) -> None:
    write_run(tmp_path / "run_1", "e7", MUG_RUN)
    options = InstructionOptions(
        one_shot=True, retrieve=1, memory=str(tmp_path), observation=ObservationKind.TEXT, history_window=1
    )
    request = Prompter(options).request(situation())
    parts = [f"[system]\n{request.system}", *(f"[{turn.role}]\n{turn.text}" for turn in request.turns)]
    assert request.transcript == "\n".join(parts)
    assert SEEN in request.transcript


def test_a_memory_is_read_when_the_prompter_is_made(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="nowhere"):
        Prompter(InstructionOptions(retrieve=1, memory=str(tmp_path / "nowhere")))
