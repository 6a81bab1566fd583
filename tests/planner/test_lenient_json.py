"""Objects that are almost JSON: what is read of them, and where reading stops."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_planner.lenient_json import read_object

FAULTY = {
    "single quotes": ("{'a': 'it's', 'b': ['c', None]}", {"a": "it's", "b": ["c", None]}),
    "no quotes": ("{a: one two, b: 3}", {"a": "one two", "b": "3"}),
    "commas": ('{"a": ["b",,], "c": "d",}', {"a": ["b"], "c": "d"}),
    "comma missing at a line end": ('{"a": "b"\n"c": "d"}', {"a": "b", "c": "d"}),
    "comments": ('{"a": "b", // one\n /* two */ "c": "d" # three\n}', {"a": "b", "c": "d"}),
    "doubled braces": ('{{"a": {{"b": "c"}}, "d": "e"}}', {"a": {"b": "c"}, "d": "e"}),
    "tuple": ("{'a': ('b', 'c')}", {"a": ["b", "c"]}),
    "quotes in a string": ('{"a": "b "c", d", "e": "f"}', {"a": 'b "c", d', "e": "f"}),
    "escapes": (r'{"a": "b\"c\n\u0041\s"}', {"a": 'b"c\nAs'}),
    "a key twice": ('{"a": "first", "a": "second"}', {"a": "first"}),
}
CUT = {
    "in a string": ('{"a": "b", "c": "d', {"a": "b"}),
    "in a key": ('{"a": "b", "c', {"a": "b"}),
    "behind a key": ('{"a": "b", "c":', {"a": "b"}),
    "in a word": ("{a: b, c: d", {"a": "b"}),
    "behind a value": ('{"a": "b"', {"a": "b"}),
    "inside": ('{"a": {"b": "c", "d": ["e", "f', {"a": {"b": "c", "d": ["e"]}}),
    "behind a quote that may belong to the string": ('{"a": "b", "c": "d "e"', {"a": "b"}),
}


@pytest.mark.parametrize(("text", "value"), FAULTY.values(), ids=FAULTY.keys())
def test_faulty_objects_are_read(text: str, value: object) -> None:
    read = read_object(f"so: {text} end", 4)
    assert (read.value, read.end, read.whole) == (value, 4 + len(text), True)


@pytest.mark.parametrize(("text", "value"), CUT.values(), ids=CUT.keys())
def test_of_a_cut_off_object_what_was_complete_is_read(text: str, value: object) -> None:
    read = read_object(text, 0)
    assert (read.value, read.whole) == (value, False)


NAMES = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.recursive(
    TEXTS | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_plain_json_is_read_as_it_is(value: dict[str, object]) -> None:
    text = json.dumps(value)
    read = read_object(text, 0)
    assert (read.value, read.end, read.whole) == (value, len(text), True)


def test_deep_nesting_ends() -> None:
    assert not read_object('{"a":' * 100_000, 0).whole
    assert not read_object('{"a":' + "[" * 100_000, 0).whole
