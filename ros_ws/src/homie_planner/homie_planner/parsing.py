"""Reads a planner's reply: one JSON object, or the text template of the paper (appendices D and H.1).

The rules, in this order:

1. Text that reasoning models put between ``<think>`` tags, and special tokens such as ``</s>``, are left out.
   Only the first `MAX_CHARACTERS` are read.
2. The first JSON object with a ``subtask`` wins, wherever it stands (fenced, with prose around it, in a list). The
   subtask is an object with ``action``, ``target`` and ``destination``, a list, or a string in brackets. An object
   that has an ``action`` itself is read as a subtask.
3. Otherwise the first ``Subtask:`` of the text template wins. Its value is in brackets, or the rest of its line. The
   analysis is the text of the ``Analysis:`` before it; the model is that of the first ``Model:`` after it.
4. Otherwise a reply that is nothing but one subtask in brackets, or one verb without arguments, is that subtask.

The original takes the *last* block, so that of a whole plan it carried out the end. Here the first subtask is taken,
and `Decision.note` says so. An action is compared as a whole: the word "end" inside an analysis or a target is no End.
A known verb needs its number of arguments; an unknown verb is kept, because the monitor answers it with F1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE, Vocabulary

MAX_CHARACTERS = 32_768
"""Longer replies are runaway text; the first subtask of an honest reply stands long before."""

EXCERPT_CHARACTERS = 60
"""What of an unreadable reply goes into history and feedback, and the longest action or target."""

_MAX_JSON_STARTS = 64
_NOTHING = {"", "none", "null", "n/a", "-"}
_HIDDEN = re.compile(r"<think>.*?(?:</think>|\Z)|</?s>|<\|[^|<>]{1,40}\|>|\ufeff", re.DOTALL | re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_SMART_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'"})
_BRACKETS = re.compile(r"\s*\[(?P<inside>[^\[\]]*)\]")
_PARENTHESES = re.compile(r"[ \t]*\((?P<inside>[^()\n]{1,40})\)")
_LONE_CHARACTERS = 200
_LONE = re.compile(r"\A\W*?(?P<subtask>\[[^\[\]]*\]|[a-z]+)\s*(?:\((?P<model>[^()]*)\))?\W*\Z", re.IGNORECASE)


def _key(name: str) -> re.Pattern[str]:
    """A key of the text template with the markup that models put around it: ``**Subtask 1:**``."""
    markup, number = r"[*_#>\s-]{0,8}", r"\s?\d{0,2}"
    return re.compile(rf"(?<!\w){markup}{name}{number}[*_ ]{{0,4}}[:\uff1a][*_]{{0,2}}[ \t]*", re.IGNORECASE)


_SUBTASK_KEY = _key("subtask")
_ANALYSIS_KEY = _key("analysis")
_MODEL_KEY = _key("model(?: choice)?")


class ReplyError(ValueError):
    """A reply holds no subtask. The text says why; ``excerpt`` is what stands where the subtask should, on one line."""

    def __init__(self, reason: str, excerpt: str) -> None:
        super().__init__(reason)
        self.excerpt = shorten(excerpt)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reply says. ``note`` tells what had to be overlooked to read it, or is empty."""

    subtask: Subtask
    analysis: str = ""
    note: str = ""


def parse(reply: str, vocabulary: Vocabulary = EMMOE) -> Decision:
    """The decision in a planner's reply, by the rules at the head of this file.

    Raises:
        ReplyError: there is none. The step then counts as F1.
    """
    text = _HIDDEN.sub("", reply[:MAX_CHARACTERS]).strip()
    if not text:
        raise ReplyError("the reply is empty", "")
    for readable in (text, _TRAILING_COMMA.sub(r"\1", text.translate(_SMART_QUOTES))):
        objects = [value for value in _json_objects(readable) if "subtask" in value or "action" in value]
        if objects:
            return _from_json(objects, vocabulary)
    place = _subtask_place(text)
    if place is not None:
        return _from_template(text, *place, vocabulary)
    lone = _LONE.match(text) if len(text) <= _LONE_CHARACTERS else None
    if lone is not None and (lone["subtask"].startswith("[") or vocabulary.verb(lone["subtask"]) is not None):
        subtask = _subtask(_split(lone["subtask"]), _clean(lone["model"] or ""), vocabulary)
        return Decision(subtask, note="only a subtask, no analysis")
    raise ReplyError("the reply names no subtask", text)


def reply_text(analysis: str, subtask: Subtask) -> str:
    """A decision as the JSON form of a reply: the inverse of `parse`."""
    fields = {"action": subtask.action, "target": subtask.target, "destination": subtask.destination}
    return json.dumps({"analysis": analysis, "subtask": fields, "model": subtask.model})


def shorten(text: str) -> str:
    """``text`` on one line, cut to `EXCERPT_CHARACTERS`."""
    line = " ".join(text[: 4 * EXCERPT_CHARACTERS].split())
    return line if len(line) <= EXCERPT_CHARACTERS else f"{line[:EXCERPT_CHARACTERS].rstrip()}..."


def _json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in ``text``, outer ones before those inside them; keys in lower case."""
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    for _ in range(_MAX_JSON_STARTS):
        if position < 0:
            return
        following = position + 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            value = {}
        fields = _lower_keys(value)
        if "subtask" in fields or "action" in fields:
            following = end
        yield fields
        position = text.find("{", following)


def _lower_keys(value: dict[str, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): item for key, item in value.items()}


def _from_json(objects: Sequence[dict[str, Any]], vocabulary: Vocabulary) -> Decision:
    found = objects[0]
    value = found.get("subtask", found)
    count = len(objects)
    if _is_plan(value):
        count += len(value) - 1
        value = value[0]
    note = _plan_note(count)
    analysis = _text(found.get("analysis"))
    model = _clean(found.get("model"))
    if isinstance(value, dict):
        fields = _lower_keys(value)
        return Decision(_from_fields(fields, model or _clean(fields.get("model")), vocabulary), analysis, note)
    if isinstance(value, list):
        return Decision(_subtask([_clean(part) for part in value], model, vocabulary), analysis, note)
    if isinstance(value, str):
        match = _BRACKETS.match(value)
        return Decision(_subtask(_split(match["inside"] if match else value), model, vocabulary), analysis, note)
    raise ReplyError(f"the subtask is no object, list or text but {shorten(repr(value))}", repr(value))


def _is_plan(value: object) -> bool:
    """Whether a list holds whole subtasks rather than the parts of one."""
    if not isinstance(value, list) or not value:
        return False
    return isinstance(value[0], list | dict) or (isinstance(value[0], str) and value[0].lstrip().startswith("["))


def _plan_note(count: int) -> str:
    return f"a whole plan of {count} subtasks: the first was taken" if count > 1 else ""


def _from_fields(fields: dict[str, Any], model: str, vocabulary: Vocabulary) -> Subtask:
    """A subtask from named fields: those that its verb does not take are overlooked."""
    action = _clean(fields.get("action"))
    verb = vocabulary.verb(action)
    values = [_clean(fields.get("target")), _clean(fields.get("destination", fields.get("place")))]
    count = len(verb.arguments) if verb is not None else sum(1 for value in values if value)
    return _subtask([action, *values[:count]], model, vocabulary)


def _subtask_place(text: str) -> tuple[int, int, str] | None:
    """Start of the first Subtask key, end of its value, and the value; None if there is none.

    Without brackets the key has to begin its line: "the next Subtask: ..." inside a sentence is prose.
    """
    for key in _SUBTASK_KEY.finditer(text):
        brackets = _BRACKETS.match(text, key.end())
        if brackets is not None:
            return key.start(), brackets.end(), brackets["inside"]
        line_before = text[: key.start()].rpartition("\n")[2]
        if "\n" in key.group() or not line_before.strip():
            line = text[key.end() :].partition("\n")[0]
            value = _MODEL_KEY.split(line, maxsplit=1)[0]
            return key.start(), key.end() + len(value), value
    return None


def _from_template(text: str, start: int, end: int, value: str, vocabulary: Vocabulary) -> Decision:
    before, after = text[:start], text[end:]
    analyses = list(_ANALYSIS_KEY.finditer(before))
    analysis = before[analyses[-1].end() :] if analyses else before
    following = list(_SUBTASK_KEY.finditer(after))
    own = after[: following[0].start()] if following else after
    subtask = _subtask(_split(value), _model_of(own), vocabulary)
    return Decision(subtask, _text(analysis), _plan_note(1 + len(following)))


def _model_of(text: str) -> str:
    """The model in the text behind a subtask: after its key, or in parentheses right behind the brackets."""
    key = _MODEL_KEY.search(text)
    if key is not None:
        return _clean(text[key.end() :].strip().partition("\n")[0])
    parentheses = _PARENTHESES.match(text)
    return _clean(parentheses["inside"]) if parentheses is not None else ""


def _split(value: str) -> list[str]:
    return [_clean(part) for part in value.strip().strip("[]").split(",")]


def _text(value: object) -> str:
    """A value as one line."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return " ".join(text.split())


def _clean(value: object) -> str:
    """A field on one line without quotes and markup; what stands for nothing becomes empty."""
    text = _text(value).strip(" \"'`*_[]").rstrip(".;,").strip(" \"'`*")
    return "" if text.lower() in _NOTHING else text


def _subtask(parts: Sequence[str], model: str, vocabulary: Vocabulary) -> Subtask:
    """A subtask from an action and its arguments.

    Raises:
        ReplyError: there is no action, or a known verb has the wrong number of arguments.
    """
    action, *arguments = (shorten(part) for part in _verb_first(parts or ("",), vocabulary))
    written = ", ".join(part for part in (action, *arguments) if part)
    if not action:
        raise ReplyError("the subtask has no action", written)
    verb = vocabulary.verb(action)
    if verb is None:
        target, destination = (*arguments, "", "")[:2]
        return Subtask(action, target, destination, _known_model(model, vocabulary))
    given = [argument for argument in arguments if argument]
    if len(given) != len(verb.arguments):
        wanted = ", ".join([verb.name, *verb.arguments])
        raise ReplyError(f"{verb.name} is written as [{wanted}], not as [{written}]", f"[{written}]")
    target, destination = (*given, "", "")[:2]
    return Subtask(verb.name, target, destination, _known_model(model, vocabulary))


def _known_model(text: str, vocabulary: Vocabulary) -> str:
    """The model that ``text`` names or begins with ("octo, because ..."); an unknown one is kept for the monitor."""
    first_word = re.split(r"[\s,;(]", text, maxsplit=1)[0].rstrip(".:")
    return vocabulary.model(text) or vocabulary.model(first_word) or shorten(text)


def _verb_first(parts: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """``parts``, with "Pick mug" taken apart: a verb of one argument that was written without a comma."""
    if len(parts) != 1 or vocabulary.verb(parts[0]) is not None:
        return list(parts)
    words = parts[0].split()
    for count in range(len(words) - 1, 0, -1):
        verb = vocabulary.verb(" ".join(words[:count]))
        if verb is not None and len(verb.arguments) == 1:
            return [verb.name, " ".join(words[count:])]
    return list(parts)
