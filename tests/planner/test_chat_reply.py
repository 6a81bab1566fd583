"""Replies put together from whatever servers send."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from homie_core.vocabulary import EMMOE
from homie_planner.asking import KEPT_CHARACTERS
from homie_planner.chat_reply import ChatReply, clean
from support.chat_server import chunk, completion

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)

KEYS = ("content", "refusal", "reasoning_content", "tool_calls", "function_call", "function", "name", "arguments")


def _like_a_message(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from((*KEYS, "index", "text")), inner, max_size=5) | st.lists(inner, max_size=3)


MESSAGES = st.recursive(st.none() | st.integers() | st.text(max_size=8), _like_a_message, max_leaves=10)
PIECES = st.builds(
    lambda name, message, finish, usage: {"choices": [{name: message, "finish_reason": finish}], "usage": usage},
    st.sampled_from(["delta", "message", "text"]),
    MESSAGES,
    st.none() | st.integers() | st.text(max_size=8),
    st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), st.integers() | st.text(), max_size=2),
)


@given(st.lists(JSON | PIECES, max_size=5))
def test_any_json_gives_a_reply_that_a_message_can_carry(pieces: list[Any]) -> None:
    reply = ChatReply()
    for piece in pieces:
        reply.add(piece)
    found = reply.finished(EMMOE)
    assert 0 <= found.tokens_in < 2**32
    assert 0 <= found.tokens_out < 2**32
    for text in (found.text, found.note):
        assert "\0" not in text.encode().decode()


@given(st.text(max_size=60), st.integers(1, 9))
def test_in_pieces_or_as_a_whole(text: str, size: int) -> None:
    whole, pieces = ChatReply(), ChatReply()
    whole.add(completion(text))
    for start in range(0, len(text), size):
        pieces.add(chunk(text[start : start + size]))
    pieces.add(chunk(finish_reason="stop"))
    pieces.add({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5}})
    assert pieces.finished(EMMOE) == whole.finished(EMMOE)
    assert whole.finished(EMMOE).text == clean(text)


def test_several_tool_calls_are_kept_apart() -> None:
    reply = ChatReply()
    look = {"index": 0, "function": {"name": "look", "arguments": "{}"}}
    reply.add(chunk(tool_calls=[look, {"index": 1, "function": {"name": "act", "arguments": '{"action": '}}]))
    reply.add(chunk(tool_calls=[{"index": 1, "function": {"arguments": '"End"}'}}]))
    reply.add(chunk(finish_reason="tool_calls"))
    found = reply.finished(EMMOE)
    assert found.text == '{"action": "End"}'
    assert found.note == "a tool call (look, act) instead of text: its arguments were read"


def test_text_beside_a_tool_call_is_the_reply() -> None:
    reply = ChatReply()
    call = {"function": {"name": "act", "arguments": '{"action": "End"}'}}
    reply.add(completion("Subtask: [Open, fridge]", "tool_calls", tool_calls=[call]))
    found = reply.finished(EMMOE)
    assert (found.text, found.note) == ("Subtask: [Open, fridge]", "")


def test_full() -> None:
    reply = ChatReply()
    reply.add(chunk("x" * KEPT_CHARACTERS))
    assert not reply.full
    reply.add(chunk(tool_calls=[{"index": 0, "function": {"arguments": "x"}}]))
    assert reply.full
