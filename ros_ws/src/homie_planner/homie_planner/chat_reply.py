"""Puts a reply of the chat completions protocol together, whole or in pieces, whatever else stands in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from homie_core.vocabulary import Vocabulary
from homie_planner import parsing
from homie_planner.asking import KEPT_CHARACTERS
from homie_planner.backend import PlanReply

_NAME_CHARACTERS = 64
_MAX_TOKENS = 2**31 - 1
_UNPRINTABLE = str.maketrans({"\0": "\ufffd"})


@dataclass
class _ToolCall:
    name: str = ""
    arguments: str = ""


@dataclass
class ChatReply:
    """What has come so far. Servers are many: fields of a wrong type count as absent."""

    text: str = ""
    refusal: str = ""
    reasoning_characters: int = 0
    finish_reason: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    pieces: int = 0
    """Pieces with a choice in them; 0: nothing that is a reply has come."""
    cut: bool = False
    """Whether more was coming."""
    _tools: dict[int, _ToolCall] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether more than is kept has come, so that reading on is of no use."""
        written = len(self.text) + len(self.refusal) + sum(len(call.arguments) for call in self._tools.values())
        return written > KEPT_CHARACTERS

    def add(self, piece: object) -> None:
        """Take in a ``chat.completion`` or a ``chat.completion.chunk``, as the JSON value that it is."""
        fields = _mapping(piece)
        usage = _mapping(fields.get("usage"))
        self.tokens_in = _count(usage.get("prompt_tokens")) or self.tokens_in
        self.tokens_out = _count(usage.get("completion_tokens")) or self.tokens_out
        choices = fields.get("choices")
        if not isinstance(choices, list) or not choices:
            return
        self.pieces += 1
        choice = _mapping(choices[0])
        self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason
        message = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        self.text += _content(message.get("content"))
        self.refusal += _text(message.get("refusal"))
        self.reasoning_characters += len(_text(message.get("reasoning_content")) or _text(message.get("reasoning")))
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else []):
            index = _mapping(call).get("index")
            self._add_call(index if isinstance(index, int) else place, _mapping(call).get("function"))
        self._add_call(0, message.get("function_call"))

    def finished(self, vocabulary: Vocabulary) -> PlanReply:
        """The reply as a planner's; its note says what was unusual about it."""
        notes = []
        text = self.text
        if self._tools and not text.strip():
            text = self._from_tools(vocabulary)
            names = ", ".join(_name(call.name) for call in self._tools.values())
            done = "its arguments were read" if text else "its arguments are no subtask"
            notes.append(f"a tool call ({names}) instead of text: {done}")
        if self.refusal:
            notes.append("the model refused")
            text = text if text.strip() else self.refusal
        if self.reasoning_characters:
            notes.append(f"{self.reasoning_characters} characters of reasoning are left out")
        if self.cut:
            notes.append("stopped reading a reply that is too long")
        elif not self.finish_reason:
            notes.append("the reply broke off without a finish reason")
        elif self.finish_reason not in ("stop", "tool_calls", "function_call"):
            notes.append(f"the reply ended by {_name(self.finish_reason)}")
        return PlanReply(clean(text), self.tokens_in, self.tokens_out, note=clean("; ".join(notes)))

    def _add_call(self, index: int, function: object) -> None:
        fields = _mapping(function)
        if not fields:
            return
        call = self._tools.setdefault(index, _ToolCall())
        call.name += _text(fields.get("name"))
        call.arguments += _text(fields.get("arguments"))

    def _from_tools(self, vocabulary: Vocabulary) -> str:
        """The arguments of the first call that hold a subtask, or nothing."""
        for _, call in sorted(self._tools.items()):
            try:
                parsing.parse(call.arguments, vocabulary)
            except parsing.ReplyError:
                continue
            return call.arguments
        return ""


def clean(text: str) -> str:
    """``text`` without what UTF-8 or a message of ROS cannot carry: halves of surrogate pairs and zeros."""
    return text.encode("utf-8", "replace").decode("utf-8").translate(_UNPRINTABLE)


def _name(text: str) -> str:
    """A name as it is: what is none is not worth a line."""
    return text if len(text) <= _NAME_CHARACTERS and text.isidentifier() else "something without a proper name"


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _content(value: object) -> str:
    """The text of a message's content: text, or a list of parts of which some are text."""
    parts = value if isinstance(value, list) else [value]
    return "".join(_text(part) or _text(_mapping(part).get("text")) for part in parts)


def _count(value: object) -> int:
    """A number of tokens, as a message of ROS can carry it."""
    return min(value, _MAX_TOKENS) if isinstance(value, int) and value > 0 else 0
