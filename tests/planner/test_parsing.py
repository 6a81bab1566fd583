"""Reading replies: the two forms, their sloppy variants, and what must not be read into a text."""

import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE, EMMOE_VERBS
from homie_planner.parsing import EXCERPT_CHARACTERS, MAX_CHARACTERS, ReplyError, parse, reply_text

GO_TO_MUG = Subtask("Go to", "mug", model="PixNav")
PUT_MUG = Subtask("Put", "mug", "brown_table", "RT-1-X")

READABLE = {
    "template": ("Analysis: I need the mug.\nSubtask: [Go to, mug]\nModel: PixNav", GO_TO_MUG),
    "template with put": ("Analysis: a\nSubtask: [Put, mug, brown_table]\nModel: RT-1-X\n", PUT_MUG),
    "template on one line": ("Analysis: a Subtask: [Go to, mug] Model: PixNav", GO_TO_MUG),
    "template with stop token": ("Analysis: a\nSubtask: [Go to, mug]\nModel: PixNav</s>", GO_TO_MUG),
    "bold keys": ("**Analysis:** a\n**Subtask:** [Go to, mug]\n**Model:** PixNav", GO_TO_MUG),
    "headings": ("### Analysis:\na\n### Subtask:\n[Go to, mug]\n### Model:\nPixNav", GO_TO_MUG),
    "lower case": ("analysis: a\nsubtask: [go to, mug]\nmodel: pixnav", GO_TO_MUG),
    "upper case verb": ("Analysis: a\nSubtask: [GO TO, mug]\nModel: PixNav", GO_TO_MUG),
    "underscore verb": ("Analysis: a\nSubtask: [go_to, mug]\nModel: PixNav", GO_TO_MUG),
    "line break in brackets": ("Analysis: a\nSubtask: [Go to,\n mug]\nModel: PixNav", GO_TO_MUG),
    "quotes in brackets": ("Analysis: a\nSubtask: ['Go to', \"mug\"]\nModel: 'PixNav'", GO_TO_MUG),
    "model explained": ("Analysis: a\nSubtask: [Go to, mug]\nModel: PixNav, because it is an object.", GO_TO_MUG),
    "model with full stop": ("Analysis: a\nSubtask: [Go to, mug]\nModel: PixNav.", GO_TO_MUG),
    "model in parentheses": ("Subtask1: [Go to, mug] (PixNav)\nAnalysis: a", GO_TO_MUG),
    "no brackets": ("Analysis: a\nSubtask: Go to, mug\nModel: PixNav", GO_TO_MUG),
    "no brackets, one line": ("Analysis: a\nSubtask: Go to, mug Model: PixNav", GO_TO_MUG),
    "no comma": ("Analysis: a\nSubtask: Go to mug\nModel: PixNav", GO_TO_MUG),
    "no model": ("Analysis: a\nSubtask: [Go to, mug]", Subtask("Go to", "mug")),
    "no analysis": ("Subtask: [Go to, mug]\nModel: PixNav", GO_TO_MUG),
    "end": ("Analysis: done\nSubtask: [End]\nModel: NoMaD", Subtask("End", model="NoMaD")),
    "end in lower case": ("Analysis: done\nSubtask: [end]", Subtask("End")),
    "end without model": ("Analysis: done\nSubtask: [End]\nModel: None", Subtask("End")),
    "end with nothing behind it": ("Analysis: done\nSubtask: [End, None]", Subtask("End")),
    "end in an analysis": ("Analysis: At the End I go. End.\nSubtask: [Go to, mug]\nModel: PixNav", GO_TO_MUG),
    "end in a target": (
        "Analysis: a\nSubtask: [Go to, blender]\nModel: PixNav",
        Subtask("Go to", "blender", model="PixNav"),
    ),
    "subtask in an analysis": ("Analysis: my next Subtask: is clear\nSubtask: [Go to, mug]\nModel: PixNav", GO_TO_MUG),
    "whole plan": (
        "Analysis: a\nSubtask: [Go to, mug]\nModel: PixNav\n\nAnalysis: b\nSubtask: [End]\nModel: NoMaD",
        GO_TO_MUG,
    ),
    "thinking": ("<think>Subtask: [End]</think>\nAnalysis: a\nSubtask: [Go to, mug]\nModel: PixNav", GO_TO_MUG),
    "unknown verb": ("Analysis: a\nSubtask: [Grab, mug]\nModel: octo", Subtask("Grab", "mug", model="octo")),
    "unknown model": ("Analysis: a\nSubtask: [Pick, mug]\nModel: GraspNet", Subtask("Pick", "mug", model="GraspNet")),
    "lone brackets": ("[Go to, mug]", Subtask("Go to", "mug")),
    "lone brackets with model": ("[Go to, mug] (PixNav)", GO_TO_MUG),
    "lone verb": ("End.", Subtask("End")),
    "json": ('{"analysis": "a", "subtask": {"action": "Go to", "target": "mug"}, "model": "PixNav"}', GO_TO_MUG),
    "json with empty destination": (
        '{"analysis": "a", "subtask": {"action": "Go to", "target": "mug", "destination": ""}, "model": "PixNav"}',
        GO_TO_MUG,
    ),
    "json with a destination too many": (
        '{"subtask": {"action": "Go to", "target": "mug", "destination": "kitchen"}, "model": "PixNav"}',
        GO_TO_MUG,
    ),
    "json put": (
        '{"subtask": {"action": "Put", "target": "mug", "destination": "brown_table"}, "model": "RT-1-X"}',
        PUT_MUG,
    ),
    "json list": ('{"analysis": "a", "subtask": ["Go to", "mug"], "model": "PixNav"}', GO_TO_MUG),
    "json brackets": ('{"analysis": "a", "subtask": "[Go to, mug]", "model": "PixNav"}', GO_TO_MUG),
    "json plain text": ('{"analysis": "a", "subtask": "Go to, mug", "model": "PixNav"}', GO_TO_MUG),
    "json capital keys": ('{"Analysis": "a", "Subtask": "[Go to, mug]", "Model": "PixNav"}', GO_TO_MUG),
    "json end": ('{"analysis": "a", "subtask": {"action": "End", "target": null}, "model": null}', Subtask("End")),
    "json fenced": ('Sure!\n```json\n{"subtask": "[Go to, mug]", "model": "PixNav"}\n```\nDone.', GO_TO_MUG),
    "json trailing comma": ('{"subtask": ["Go to", "mug",], "model": "PixNav",}', GO_TO_MUG),
    "json smart quotes": (
        "{\u201csubtask\u201d: \u201c[Go to, mug]\u201d, \u201cmodel\u201d: \u201cPixNav\u201d}",
        GO_TO_MUG,
    ),
    "json line breaks in a text": ('{"analysis": "a\nb", "subtask": "[Go to, mug]", "model": "PixNav"}', GO_TO_MUG),
    "json wrapped": ('{"output": {"subtask": "[Go to, mug]", "model": "PixNav"}}', GO_TO_MUG),
    "json action alone": ('{"action": "Go to", "target": "mug", "model": "PixNav"}', GO_TO_MUG),
    "json behind other json": ('{"note": 1} {"subtask": "[Go to, mug]", "model": "PixNav"}', GO_TO_MUG),
    "json plan of objects": (
        '{"subtask": [{"action": "Go to", "target": "mug"}, {"action": "End"}], "model": "PixNav"}',
        GO_TO_MUG,
    ),
    "json plan of texts": ('{"subtask": ["[Go to, mug]", "[End]"], "model": "PixNav"}', GO_TO_MUG),
    "json several": (
        '[{"subtask": "[Go to, mug]", "model": "PixNav"}, {"subtask": "[End]", "model": ""}]',
        GO_TO_MUG,
    ),
    "json end in an analysis": ('{"analysis": "[End]", "subtask": "[Go to, mug]", "model": "PixNav"}', GO_TO_MUG),
}

UNREADABLE = {
    "empty": "",
    "blank": " \n\t ",
    "only a stop token": "</s>",
    "prose": "I will go to the mug and pick it up.",
    "the word end": "This is the end of my plan",
    "no action": "Analysis: a\nSubtask: []\nModel: octo",
    "too few arguments": "Analysis: a\nSubtask: [Put, mug]\nModel: RT-1-X",
    "too many arguments": "Analysis: a\nSubtask: [Pick, mug, table]\nModel: RT-1-X",
    "no target": "Analysis: a\nSubtask: [Go to]\nModel: NoMaD",
    "end of something": "Analysis: a\nSubtask: [End, the task]\nModel: NoMaD",
    "json without target": '{"subtask": {"action": "Pick", "target": ""}, "model": "octo"}',
    "json number": '{"subtask": 5, "model": "octo"}',
    "json null": '{"subtask": null}',
    "json empty list": '{"subtask": []}',
    "cut-off json": '{"analysis": "I go", "subtask": {"action": "Go',
    "unfinished thought": "<think>Subtask: [Go to, mug]",
    "html": "<html><body>502 Bad Gateway</body></html>",
}


@pytest.mark.parametrize(("reply", "subtask"), READABLE.values(), ids=READABLE.keys())
def test_readable(reply: str, subtask: Subtask) -> None:
    assert parse(reply).subtask == subtask


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_unreadable(reply: str) -> None:
    with pytest.raises(ReplyError) as error:
        parse(reply)
    assert str(error.value)
    assert "\n" not in error.value.excerpt


def test_analysis_is_kept_on_one_line() -> None:
    assert parse("Analysis: first\nthen  second\nSubtask: [Go to, mug]\nModel: PixNav").analysis == "first then second"
    assert parse('{"analysis": "first\\nthen", "subtask": "[End]"}').analysis == "first then"


@pytest.mark.parametrize("key", ["whole plan", "json plan of objects", "json plan of texts", "json several"])
def test_a_whole_plan_is_noted(key: str) -> None:
    assert parse(READABLE[key][0]).note == "a whole plan of 2 subtasks: the first was taken"


def test_one_step_needs_no_note() -> None:
    assert parse(READABLE["template"][0]).note == ""
    assert parse(READABLE["json"][0]).note == ""


def test_unreadable_excerpt_shows_what_was_written_for_the_subtask() -> None:
    with pytest.raises(
        ReplyError, match=r"Put is written as \[Put, target, destination\], not as \[Put, mug\]"
    ) as error:
        parse("Analysis: a\nSubtask: [Put, mug]\nModel: RT-1-X")
    assert error.value.excerpt == "[Put, mug]"


def test_long_names_are_cut() -> None:
    subtask = parse(f"Subtask: [Pick, {'very ' * 100}long]").subtask
    assert len(subtask.target) <= EXCERPT_CHARACTERS + len("...")


@pytest.mark.parametrize(
    "flood",
    [
        *("{", "[", "(", "-", " ", "\n", "Subtask: ", "Subtask: [", "Subtask\n", "<think>", "</think>", "Analysis:\n"),
        *(
            '{"a":',
            "{'a",
            '{"',
            '{"a": "b" ',
            "{{",
            "{a: ",
            '{"a":"\\"',
            "{/*",
            '{"subtask": "',
            "{'action': [",
            "{#\n",
        ),
        *(", ", "\u201c", "\uff5b", "End ", "* Action:", "<subtask>", "1. [", "[Go to", '"\n', "\\", "9"),
    ],
    ids=repr,
)
def test_runaway_text_ends_soon(flood: str) -> None:
    started = time.process_time()
    found = read(flood * (10_000_000 // len(flood)))
    assert time.process_time() - started < 2.0
    written = found.excerpt if isinstance(found, ReplyError) else found.action
    assert len(written) <= EXCERPT_CHARACTERS + len("...")


def test_what_stands_behind_the_limit_is_not_read() -> None:
    with pytest.raises(ReplyError):
        parse("x" * MAX_CHARACTERS + "\nSubtask: [Go to, mug]")


def read(text: str) -> Subtask | ReplyError:
    try:
        return parse(text).subtask
    except ReplyError as error:
        return error


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read(text)
    if isinstance(found, ReplyError):
        assert found.excerpt == " ".join(found.excerpt.split())
    else:
        assert found.action


NAMES = st.from_regex(r"[a-z]{1,10}(_[a-z]{1,10})?", fullmatch=True).filter(lambda name: name not in ("none", "null"))


@st.composite
def subtasks(draw: st.DrawFn) -> Subtask:
    verb = draw(st.sampled_from(EMMOE_VERBS))
    arguments = [draw(NAMES) for _ in verb.arguments]
    target, destination = (*arguments, "", "")[:2]
    return Subtask(verb.name, target, destination, draw(st.sampled_from(EMMOE.models)))


@given(subtasks(), st.text(st.characters(exclude_characters="[]{}<>:", codec="utf-8"), max_size=200))
def test_template_round_trip(subtask: Subtask, analysis: str) -> None:
    reply = f"Analysis: {analysis}\nSubtask: {subtask.brackets()}\nModel: {subtask.model}"
    assert parse(reply).subtask == subtask


@given(subtasks(), st.text(max_size=200), st.booleans())
def test_json_round_trip(subtask: Subtask, analysis: str, fenced: bool) -> None:
    reply = reply_text(analysis, subtask)
    decision = parse(f"Here you are:\n```json\n{reply}\n```" if fenced else reply)
    assert decision.subtask == subtask


CASES: list[Callable[[str], str]] = [str, str.lower, str.upper, str.title]
WRITERS: list[Callable[[object], str]] = [
    json.dumps,
    repr,
    lambda value: json.dumps(value, indent=2, ensure_ascii=False),
]


@st.composite
def mutated(draw: st.DrawFn, subtask: Subtask) -> str:
    """A reply that says ``subtask`` in one of the ways in which models write."""
    analysis = draw(
        st.sampled_from(["", "I see it.", "At the End I stop, [End] is not yet.", "It's \u201cthere\u201d."])
    )
    return mutated_template(draw, subtask, analysis) if draw(st.booleans()) else mutated_json(draw, subtask, analysis)


def mutated_template(draw: st.DrawFn, subtask: Subtask, analysis: str) -> str:
    change = draw(st.sampled_from(CASES))
    mark = draw(st.sampled_from(["", "**", "- ", "### ", "`", "> ", "1. "]))
    close = mark if mark in ("**", "`") else ""
    colon = draw(st.sampled_from([":", " :", ": ", "\uff1a", " = ", ":\n"]))
    brackets = draw(st.sampled_from(["[]", "\u3010\u3011", "\uff3b\uff3d"]))
    comma = draw(st.sampled_from([",", ", ", " , ", "\uff0c", ";"]))
    quote = draw(st.sampled_from(["", "'", '"', "`", "**"]))
    action = change(subtask.action).replace(" ", draw(st.sampled_from([" ", "_", "  "])))
    parts = [part for part in (action, subtask.target, subtask.destination) if part]
    value = brackets[0] + comma.join(f"{quote}{part}{quote}" for part in parts) + brackets[1]
    lines = [("Analysis", analysis), ("Subtask", value), ("Model", change(subtask.model))]
    text = draw(st.sampled_from(["\n", "\n\n", "\r\n"])).join(
        f"{mark}{change(key)}{close}{colon}{value}" for key, value in lines
    )
    return draw(st.sampled_from(["{}", "```\n{}\n```", "Here it is:\n\n{}\n", "<think>[End]</think>\n{}</s>"])).format(
        text
    )


def mutated_json(draw: st.DrawFn, subtask: Subtask, analysis: str) -> str:
    change = draw(st.sampled_from(CASES))
    parts = [part for part in (change(subtask.action), subtask.target, subtask.destination) if part]
    forms = [dict(zip(("action", "target", "destination"), parts, strict=False)), parts, f"[{', '.join(parts)}]"]
    fields = {"analysis": analysis, "subtask": draw(st.sampled_from(forms)), "model": subtask.model}
    ordered = {change(key): fields[key] for key in draw(st.permutations(list(fields)))}
    write = draw(st.sampled_from(WRITERS))
    text = write(ordered)
    if draw(st.booleans()):
        text = text[:-1].rstrip() + ",}"
    frames = [
        "{}",
        "```json\n{}\n```",
        "Here it is: {} I hope it helps.",
        "[{}]",
        '{{"output": {}}}',
        "<think>{{}}</think>{}",
    ]
    return draw(st.sampled_from(frames)).format(text)


@given(st.data())
def test_mutations_keep_the_decision(data: st.DataObject) -> None:
    subtask = data.draw(subtasks())
    assert parse(data.draw(mutated(subtask))).subtask == subtask


@given(subtasks(), st.data())
def test_json_that_is_cut_off_behind_the_subtask_keeps_it(subtask: Subtask, data: st.DataObject) -> None:
    whole = reply_text("At the end I go.", subtask)
    kept = data.draw(st.integers(whole.index("}") + 1, len(whole) - 1))
    decision = parse(whole[:kept])
    assert decision.subtask in (subtask, replace(subtask, model=""))
    assert "cut off" in decision.note


@given(subtasks(), st.data())
def test_json_that_is_cut_off_never_says_another_subtask(subtask: Subtask, data: st.DataObject) -> None:
    whole = reply_text("[End] comes later.", subtask)
    found = read(whole[: data.draw(st.integers(0, len(whole)))])
    assert isinstance(found, ReplyError) or replace(found, model=subtask.model) == subtask


WORDS = (
    "subtask|Subtask:|Action:|action|Model:|End|Pick|mug|{{|//|/*|</think>|<subtask>|\u3010|\u201c|None|9|\\u|\ud800"
)
PIECES = st.lists(st.sampled_from([*"{}[]()\"'`*:,;#<>\\\n ", *WORDS.split("|")]), max_size=60)


@given(PIECES)
def test_any_pieces_are_read_or_refused(pieces: list[str]) -> None:
    found = read("".join(pieces))
    assert isinstance(found, ReplyError) or found.action
    str(found).encode()


@given(PIECES.map(lambda pieces: "".join(piece for piece in pieces if piece != "End")))
def test_no_end_where_none_was_written(text: str) -> None:
    found = read(text)
    assert isinstance(found, ReplyError) or not found.is_end


@given(subtasks(), st.data())
def test_cut_off_replies_never_end_an_episode(subtask: Subtask, data: st.DataObject) -> None:
    """Whatever is left of a reply that was cut off, it never becomes another subtask than the one it was."""
    whole = f"Analysis: At the end I go. Subtask: {subtask.brackets()}\nModel: {subtask.model}"
    kept = data.draw(st.integers(0, len(whole)))
    found = read(whole[:kept])
    assert isinstance(found, ReplyError) or found.is_end == subtask.is_end
