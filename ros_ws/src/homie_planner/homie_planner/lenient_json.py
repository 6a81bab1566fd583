"""Reads what models write for JSON: faulty, commented, in Python's spelling, or cut off.

Strings may stand in double or single quotes and hold line breaks and unescaped quotes; keys and values may have no
quotes; braces may be doubled, as in a format string; commas may be missing at line ends or too many; comments are left
out; tuples are lists. What follows a fault that is none of these is not read: `Read.whole` is then false, and the value
holds what was complete before it. A string or word that the end of the text cuts off is never part of the value. Of a
key that comes twice the first counts.

A library that repairs JSON does not say which values were complete: "mu" of a cut-off "mug" would become a target.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MAX_DEPTH = 16
_SPACE = re.compile(r"\s*")
_SKIPPED = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_KEY = re.compile(r"[^\W\d][\w .-]{0,40}(?=\s{0,8}:)")
_QUOTED_KEY = re.compile(r"""(["'])(?:[^\W\d][\w .-]{0,40}(?:\1\s{0,8}(?::|\Z)|\Z)|\Z)""")
_WORD = re.compile(r"[^,{}\[\]()\n\"']+")
_IN_STRING = {quote: re.compile(rf"(?:[^\\{quote}]|\\.)*", re.DOTALL) for quote in "\"'"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CLOSING = {"[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Read:
    """An object, the position behind it, and whether all of it was read."""

    value: dict[str, Any]
    end: int
    whole: bool


def read_object(text: str, position: int) -> Read:
    """The object whose brace stands at ``position`` of ``text``. Never raises; linear in the length of ``text``."""
    reader = _Reader(text, position)
    value: dict[str, Any] = {}
    try:
        reader.read_fields(value, 0)
    except _Fault:
        return Read(value, reader.position, whole=False)
    return Read(value, reader.position, whole=True)


class _Fault(Exception):
    """Nothing behind this can be read."""


class _Reader:
    """A place in a text."""

    def __init__(self, text: str, position: int) -> None:
        self.position = position
        self._text = text

    def read_fields(self, fields: dict[str, Any], depth: int) -> None:
        """The fields of the object here, put into ``fields`` as they come, so that a fault leaves those before it."""
        doubled = self._text.startswith("{{", self.position)
        self.position += 2 if doubled else 1
        while not self._skip("}"):
            key = self._key()
            if not self._skip(":"):
                raise _Fault
            self._value(lambda value, key=key: fields.setdefault(key, value), depth, "}")  # type: ignore[misc]
            while self._skip(","):
                pass
        if doubled and self._text.startswith("}", self.position):
            self.position += 1

    def _items(self, items: list[Any], depth: int) -> None:
        closing = _CLOSING[self._text[self.position]]
        self.position += 1
        while not self._skip(closing):
            self._value(items.append, depth, closing)
            while self._skip(","):
                pass

    def _value(self, store: Callable[[Any], object], depth: int, closing: str) -> None:
        """Store the value here; an object or a list is stored before it is filled."""
        self._skip("")
        start = self._text[self.position : self.position + 1]
        if depth >= _MAX_DEPTH or not start:
            raise _Fault
        if start == "{":
            fields: dict[str, Any] = {}
            store(fields)
            self.read_fields(fields, depth + 1)
        elif start in _CLOSING:
            items: list[Any] = []
            store(items)
            self._items(items, depth + 1)
        elif start in _IN_STRING:
            store(self._string(closing))
        else:
            store(self._word())

    def _key(self) -> str:
        if self._text[self.position : self.position + 1] in _IN_STRING:
            return self._string(":")
        match = _KEY.match(self._text, self.position)
        if match is None:
            raise _Fault
        self.position = match.end()
        return match.group()

    def _word(self) -> str | None:
        """A value without quotes: everything is text, save what stands for nothing."""
        match = _WORD.match(self._text, self.position)
        if match is None or match.end() == len(self._text):
            raise _Fault
        self.position = match.end()
        word = match.group().strip()
        return None if word in ("null", "None") else word

    def _string(self, closing: str) -> str:
        quote = self._text[self.position]
        start = position = self.position + 1
        while True:
            match = _IN_STRING[quote].match(self._text, position)
            if match is None or match.end() >= len(self._text):
                raise _Fault
            last = match.end() + 1 >= len(self._text)
            if last and position > start:  # it may as well be one more quote that belongs to the string
                raise _Fault
            if self._text[match.end()] == quote and self._ends(match.end() + 1, closing):
                self.position = match.end() + 1
                return _joined(_ESCAPE.sub(_unescaped, self._text[start : match.end()]))
            position = match.end() + 1

    def _ends(self, position: int, closing: str) -> bool:
        """Whether a quote before ``position`` ends its string, by what follows. Others belong to the string."""
        following, broken = self._behind_space(position)
        character = self._text[following : following + 1]
        if character in ("", closing):
            return True
        if closing == ":":
            return False
        if character == ",":
            following, broken = self._behind_space(following + 1)
            if closing != "}" or self._text[following : following + 1] in ("", "}", "/", "#"):
                return True
            return bool(_QUOTED_KEY.match(self._text, following) or _KEY.match(self._text, following))
        comment = character in ("/", "#")
        return comment or (broken and _QUOTED_KEY.match(self._text, following) is not None)

    def _behind_space(self, position: int) -> tuple[int, bool]:
        """Where white space ends, and whether there is a line break in it."""
        match = _SPACE.match(self._text, position)
        return (match.end(), "\n" in match.group()) if match is not None else (position, False)

    def _skip(self, character: str) -> bool:
        """Leave out space and comments, and then ``character`` if it is there, which is told.

        Raises:
            _Fault: the text ends here.
        """
        match = _SKIPPED.match(self._text, self.position)
        self.position = match.end() if match is not None else self.position
        if self.position >= len(self._text):
            raise _Fault
        if character and self._text[self.position] == character:
            self.position += 1
            return True
        return False


def _unescaped(match: re.Match[str]) -> str:
    code, character = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(character, character)


def _joined(text: str) -> str:
    """``text`` with characters that were written as two halves made one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
