"""info.txt of EMMOE-100."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.episode import Step
from homie_core.errors import ErrorCode, code_of_feedback, feedback
from homie_core.subtask import Subtask
from homie_eval.emmoe.data.info_file import Demonstration, InfoFileError, format_info, parse_info
from support.demonstrations import CLEAN_SOFA

NAME = st.from_regex(r"[a-z]{1,8}(_[a-z0-9]{1,6})?", fullmatch=True)
MODEL = st.sampled_from(("NoMaD", "PixNav", "octo", "RT-1-X", "M3", ""))
SUBTASK = st.one_of(
    st.builds(Subtask, st.sampled_from(("Go to", "Pick", "Open", "Close")), NAME, st.just(""), MODEL),
    st.builds(Subtask, st.just("Put"), NAME, NAME, MODEL),
    st.builds(Subtask, st.just("Grab it"), st.just(""), st.just(""), MODEL),
)
SENTENCE = st.from_regex(r"[A-Za-z][A-Za-z ,.']{0,30}[a-z]", fullmatch=True).map(lambda text: " ".join(text.split()))


@st.composite
def demonstrations(draw: st.DrawFn) -> Demonstration:
    steps: list[Step] = []
    before: tuple[str, ...] = ()
    for index in range(1, draw(st.integers(0, 6)) + 1):
        subtask = draw(SUBTASK)
        code = draw(st.none() | st.sampled_from(ErrorCode))
        after = draw(st.just(()) | st.tuples(NAME))
        sentence = "None" if code is None else feedback(code, subtask.action, subtask.target or "it")
        steps.append(
            Step(
                index=index,
                subtask=subtask,
                success=code is None,
                error_code=code,
                feedback=sentence,
                analysis=draw(SENTENCE),
                inventory_before=before,
                inventory_after=after,
            )
        )
        before = after
    return Demonstration(draw(SENTENCE), tuple(steps))


@given(demonstrations())
def test_round_trip(demonstration: Demonstration) -> None:
    assert parse_info(format_info(demonstration)) == demonstration


def test_a_file_as_the_paper_prints_it() -> None:
    demonstration = parse_info(CLEAN_SOFA)
    assert demonstration.task == "clean up the blue sofa"
    assert demonstration.steps[0].subtask == Subtask("Go to", "blue_sofa", "", "PixNav")
    assert demonstration.steps[1].error_code is ErrorCode.TOO_DIFFICULT
    assert demonstration.steps[3].inventory_after == ("cracker_box",)
    assert demonstration.steps[5].subtask == Subtask("End")
    assert demonstration.length == 6
    assert format_info(demonstration) == CLEAN_SOFA


def test_line_ends_and_blank_lines_are_no_matter() -> None:
    untidy = "\ufeff" + CLEAN_SOFA.replace("\n\n", "\n \n\n").replace("\n", "\r\n")
    assert parse_info(untidy) == parse_info(CLEAN_SOFA)


def test_a_text_of_several_lines_stays_on_one() -> None:
    step = Step(1, Subtask("Go to", "mug", "", "NoMaD"), True, analysis="first\n\nSubtask2: [End]\nsecond")
    written = format_info(Demonstration("a\ntask", (step,)))
    assert len(parse_info(written).steps) == 1
    head = "Task: a task\n\nSubtask1: [Go to, mug] (NoMaD)\nAnalysis: first Subtask2: [End] second\n"
    assert written.startswith(head)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Task: clean up the blue sofa", "Clean up", "the first line must be 'Task: ...'"),
        ("Subtask3: [Pick, cracker_box] (RT-1-X)", "Subtask3: Pick", "subtask 3: 'Subtask3: Pick' is not"),
        ("Feedback: Unable", "Feed Unable", "subtask 2 has no line 'Feedback: ...'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, message: str) -> None:
    with pytest.raises(InfoFileError) as error:
        parse_info(CLEAN_SOFA.replace(old, new))
    assert message in str(error.value)


@given(st.sampled_from(ErrorCode), NAME, NAME)
def test_the_code_of_a_sentence(code: ErrorCode, action: str, name: str) -> None:
    assert code_of_feedback(feedback(code, action, name)) is code


def test_other_sentences() -> None:
    assert code_of_feedback("None") is None
    assert code_of_feedback("Unable to put, time out") is ErrorCode.OBJECT_MISSING
