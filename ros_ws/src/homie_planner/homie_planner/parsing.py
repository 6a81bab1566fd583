"""Reads a planner's reply: one JSON object, or the text template of the paper (appendices D and H.1).

The rules, in this order:

1. What reasoning models think before they answer (``<think>``, the channels of gpt-oss) and special tokens such as
   ``</s>`` are left out. Only the first `MAX_CHARACTERS` are read. Full-width and typographic punctuation counts as the
   plain one.
2. The first JSON object with a subtask wins, wherever it stands (fenced, with prose around it, in a list, in a tool
   call), also if it is faulty or cut off behind the subtask (see `homie_planner.lenient_json`). The subtask is an
   object with ``action``, ``target`` and ``destination``, a list, or a string like in the template. An object that has
   an ``action`` itself, and a call of a tool that is named like a verb, are read as a subtask.
3. Otherwise the first ``Subtask:`` of the text template wins. Its value is in brackets, or the rest of its line, or the
   lines ``Action:``, ``Target:`` and ``Destination:`` behind it. The analysis is the text of the ``Analysis:`` before
   it; the model is that of the first ``Model:`` after it, or stands in parentheses behind the subtask. A template that
   the model only repeats (``[action, target]``) is passed over.
4. Otherwise a reply that is nothing but one subtask in brackets, or one verb without arguments, is that subtask, and
   so is the first line that is nothing but a subtask in brackets with a known verb.

The original takes the *last* block, so that of a whole plan it carried out the end. Here the first subtask is taken,
and `Decision.note` says so. An action is compared as a whole: the word "end" inside an analysis or a target is no End.
A known verb needs its number of arguments; an unknown verb ("Grab", "Pick up") is kept, because the monitor answers it
with F1. Nothing is made up: an argument that the end of the text cuts off is not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE, Vocabulary
from homie_planner import lenient_json

MAX_CHARACTERS = 32_768
"""Longer replies are runaway text; the first subtask of an honest reply stands long before."""

EXCERPT_CHARACTERS = 60
"""What of an unreadable reply goes into history and feedback, and the longest action or target."""

_MAX_JSON_STARTS = 64
_MAX_FAULTY_OBJECTS = 8
_NOTHING = {"", "none", "null", "n/a", "-"}

_THOUGHT = re.compile(r"<(think|thinking|reasoning|thought)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_ANSWER_BEGINS = re.compile(r"</(?:think|thinking|reasoning|thought)>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
_SPECIAL = re.compile(r"</?s>|<\|[^|<>]{1,40}\|>|[\ufeff\u200b-\u200d\u2060]", re.IGNORECASE)
_PLAIN = str.maketrans(
    "\u201c\u201d\u201e\u300c\u300d\u2018\u2019\uff02\uff07\u3010\u3011\u3014\u3015\uff3b\uff3d\uff08\uff09\uff5b\uff5d"
    "\uff0c\u3001\uff1a\uff1b\u3002\u00a0\u3000",
    '"""""\'\'"\'[][][](){}' + ",,:;.  ",
)
"""Each character becomes one character, so that positions stay."""

_TAG = re.compile(r"<(?P<end>/?)(?P<name>analysis|subtask|model)>", re.IGNORECASE)
_BRACKETS = re.compile(r"[\s`*\"'>\\]{0,8}\[{1,2}(?P<inside>[^\[\]]*)\]")
_PARENTHESES = re.compile(r"[ \t\]`*]{0,8}\((?P<inside>[^()\n]{1,40})\)")
_CALL = re.compile(r"(?P<verb>[^\W\d][\w ]{0,40}?)\s*[(\[](?P<inside>[^()\[\]]*)[)\]]?\W*\Z")
_SEPARATOR = re.compile(r"[,;|]|->")
_LONE_CHARACTERS = 200
_LONE = re.compile(r"\A\W*?(?P<subtask>\[[^\[\]]*\]|[a-z]+)\s*(?:\((?P<model>[^()]*)\))?\W*\Z", re.IGNORECASE)
_BRACKET_LINE = re.compile(
    r"^(?:[\W\d]|step \d){0,12}\[(?P<inside>[^\[\]\n]{1,200})\][*`]{0,4}[ \t]{0,8}"
    r"(?:\((?P<model>[^()\n]{0,40})\))?[\s*`.]{0,8}$",
    re.MULTILINE | re.IGNORECASE,
)
_FIELD_LINE = re.compile(
    r"^[*_#>\s-]{0,8}(?P<key>action|target|object|destination|place)[*_ ]{0,4}:(?P<value>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_PARTICLES = {
    "up",
    "down",
    "out",
    "off",
    "back",
    "away",
    "over",
    "in",
    "into",
    "on",
    "onto",
    "to",
    "toward",
    "towards",
    "from",
}

_TARGET_KEYS = ("target", "object")
_DESTINATION_KEYS = ("destination", "place", "receptacle")
_CALL_KEYS = ("arguments", "parameters", "input", "args")


def _key(name: str) -> re.Pattern[str]:
    """A key of the text template with the markup that models put around it: ``**Subtask 1:**``."""
    before, number, after = r"[*_#>`\s-]{0,8}", r"(?:[ _]?\d{1,2})?", r"[*_`\"' ]{0,4}"
    separator = r"(?:[:=][*_`]{0,2}|(?=[ \t]*\n)|(?=\s{0,4}\[))"
    return re.compile(rf"(?<!\w){before}(?P<quote>[\"']?){name}{number}{after}{separator}[ \t]*", re.IGNORECASE)


_SUBTASK_KEY = _key(r"(?:next )?sub[-_ ]?task")
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
    text = _visible(sendable(reply[:MAX_CHARACTERS]))
    if not text:
        raise ReplyError("the reply is empty", "")
    found = list(_json_objects(text, vocabulary))
    if found:
        return _from_json(found, vocabulary)
    plain = _TAG.sub(_tag_as_key, text.translate(_PLAIN))
    place = _subtask_place(plain)
    if place is not None:
        return _from_template(text, plain, place, vocabulary)
    return _from_lone(plain, vocabulary)


def reply_text(analysis: str, subtask: Subtask) -> str:
    """A decision as the JSON form of a reply: the inverse of `parse`."""
    fields = {"action": subtask.action, "target": subtask.target, "destination": subtask.destination}
    return json.dumps({"analysis": analysis, "subtask": fields, "model": subtask.model})


def sendable(text: str) -> str:
    """``text`` as messages and files can hold it: NUL and halves of characters are replaced."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def shorten(text: str) -> str:
    """``text`` on one line, cut to `EXCERPT_CHARACTERS`."""
    line = " ".join(text[: 4 * EXCERPT_CHARACTERS].split())
    return line if len(line) <= EXCERPT_CHARACTERS else f"{line[:EXCERPT_CHARACTERS].rstrip()}..."


def _visible(text: str) -> str:
    """``text`` without thoughts and special tokens."""
    text = _THOUGHT.sub("", text)
    begins = list(_ANSWER_BEGINS.finditer(text))  # a thought that the prompt has opened already
    if begins:
        text = text[begins[-1].end() :]
    return _SPECIAL.sub("", text).strip()


@dataclass(frozen=True, slots=True)
class _Object:
    """A JSON object with a subtask: its fields by simple keys, how many subtasks it has, what was wrong with it."""

    fields: dict[str, Any]
    subtasks: int
    note: str


def _json_objects(text: str, vocabulary: Vocabulary) -> Iterator[_Object]:
    """The JSON objects in ``text`` that have a subtask, outer ones before those inside them."""
    plain = text.translate(_PLAIN)
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_first_of_each)
    position = plain.find("{")
    faulty = 0
    for _ in range(_MAX_JSON_STARTS):
        if position < 0:
            return
        value: dict[str, Any] = {}
        note, end = "", position
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):  # a number may be too long as well
            if faulty < _MAX_FAULTY_OBJECTS:
                faulty += 1
                read = lenient_json.read_object(plain, position)
                value, end = read.value, read.end
                note = "JSON with faults" if read.whole else "JSON that is cut off or faulty behind the subtask"
        found = _as_object(value, note, vocabulary)
        if found is not None:
            yield found
        position = plain.find("{", position + 1 if found is None else max(end, position + 1))


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        fields.setdefault(key, value)
    return fields


def _as_object(value: dict[str, Any], note: str, vocabulary: Vocabulary) -> _Object | None:
    """``value`` if it has a subtask; a call of a tool is taken for its arguments."""
    fields = _simple_keys(value)
    if _has_subtask(fields):
        return _Object(fields, sum(_simple_key(key) == "subtask" for key in value) or 1, note)
    arguments = next((fields[key] for key in _CALL_KEYS if key in fields), None)
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        arguments = lenient_json.read_object(arguments, arguments.index("{")).value
    if not isinstance(arguments, dict):
        return None
    name, inner = str(fields.get("name", "")), _simple_keys(arguments)
    if not _has_subtask(inner) and vocabulary.verb(name) is not None:
        inner["action"] = name
    return _Object(inner, 1, note) if _has_subtask(inner) else None


def _has_subtask(fields: dict[str, Any]) -> bool:
    return "subtask" in fields or "action" in fields


def _simple_keys(value: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, item in value.items():
        fields.setdefault(_simple_key(key), item)
    return fields


def _simple_key(key: object) -> str:
    """A key in small letters alone: ``next_subtask``, ``Sub-task 1`` and ``subTask`` are ``subtask``."""
    return re.sub(r"[^a-z]", "", str(key).lower()).removeprefix("next")


def _from_json(objects: Sequence[_Object], vocabulary: Vocabulary) -> Decision:
    fields = objects[0].fields
    value = fields.get("subtask", fields)
    count = sum(found.subtasks for found in objects)
    if _is_plan(value):
        count += len(value) - 1
        value = value[0]
    analysis, model = _text(fields.get("analysis")), _clean(fields.get("model"))
    if isinstance(value, str) and _has_arguments(fields):
        value = {**fields, "action": value}
    if isinstance(value, dict):
        parts, own = _from_fields(_simple_keys(value), vocabulary)
        model = model or own
    elif isinstance(value, list):
        parts = [_clean(part) for part in value]
    elif isinstance(value, str):
        parts, own = _read_value(value.translate(_PLAIN), vocabulary)
        model = model or own
    else:
        raise ReplyError(f"the subtask is no object, list or text but {shorten(repr(value))}", repr(value))
    note = "; ".join(filter(None, (objects[0].note, _plan_note(count))))
    return Decision(_subtask(parts, model, vocabulary), analysis, note)


def _has_arguments(fields: dict[str, Any]) -> bool:
    return any(_clean(fields.get(key)) for key in (*_TARGET_KEYS, *_DESTINATION_KEYS))


def _is_plan(value: object) -> bool:
    """Whether a list holds whole subtasks rather than the parts of one."""
    if not isinstance(value, list) or not value:
        return False
    return isinstance(value[0], list | dict) or (isinstance(value[0], str) and value[0].lstrip().startswith("["))


def _plan_note(count: int) -> str:
    return f"a whole plan of {count} subtasks: the first was taken" if count > 1 else ""


def _from_fields(fields: dict[str, Any], vocabulary: Vocabulary) -> tuple[list[str], str]:
    """A subtask's parts and model from named fields: those that its verb does not take are overlooked."""
    model = _clean(fields.get("model"))
    action = fields.get("action")
    if isinstance(action, str) and not _has_arguments(fields):
        parts, own = _read_value(action.translate(_PLAIN), vocabulary)
        return parts, model or own
    action = _clean(action)
    verb = vocabulary.verb(action)
    values = [_first(fields, _TARGET_KEYS), _first(fields, _DESTINATION_KEYS)]
    count = len(verb.arguments) if verb is not None else sum(1 for value in values if value)
    return [action, *values[:count]], model


def _first(fields: dict[str, Any], keys: Sequence[str]) -> str:
    return next((_clean(fields[key]) for key in keys if key in fields), "")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the template's subtask stands: the start of its key, the end of its value, its parts and model."""

    start: int
    end: int
    value: str


def _tag_as_key(tag: re.Match[str]) -> str:
    """``<subtask>`` as `` subtask:``, ``</subtask>`` as the end of a line, both as long as before."""
    return "\n".ljust(len(tag.group())) if tag["end"] else f"\n{tag['name']}:"


def _subtask_place(text: str) -> _Place | None:
    """The first subtask of the template; None if there is none.

    Without brackets the key has to begin its line: "the next Subtask: ..." inside a sentence is prose. So is a key
    without a colon in front of a line break or brackets that does not begin its line.

    Raises:
        ReplyError: its value is cut off.
    """
    for key in _SUBTASK_KEY.finditer(text):
        before = text[: key.start()].rpartition("\n")[2]
        begins_line = "\n" in key.group().rstrip() or not any(letter.isalpha() for letter in before)
        brackets = _BRACKETS.match(text, key.end())
        if brackets is not None and (begins_line or ":" in key.group() or "=" in key.group()):
            if not _is_placeholder(brackets["inside"]):
                return _Place(key.start(), brackets.end(), brackets["inside"])
        elif begins_line and not key["quote"]:
            return _line_place(text, key)
    return None


def _is_placeholder(inside: str) -> bool:
    return inside.partition(",")[0].strip().lower() == "action"


def _line_place(text: str, key: re.Match[str]) -> _Place:
    fields = {line["key"].lower(): line["value"] for line in reversed(list(_FIELD_LINE.finditer(text, key.end())))}
    rest = text[key.end() :]
    line = rest.lstrip().partition("\n")[0]
    value = _MODEL_KEY.split(line, maxsplit=1)[0]
    end = key.end() + rest.find(line) + len(value)
    if "action" in fields and _FIELD_LINE.match(line):
        parts = [fields["action"], _first(fields, _TARGET_KEYS), _first(fields, _DESTINATION_KEYS)]
        return _Place(key.start(), end, ", ".join(filter(None, map(_clean, parts))))
    if "[" in value and "]" not in value and end >= len(text):
        raise ReplyError("the subtask is cut off", value)
    return _Place(key.start(), end, value)


def _from_template(text: str, plain: str, place: _Place, vocabulary: Vocabulary) -> Decision:
    after = plain[place.end :]
    analyses = list(_ANALYSIS_KEY.finditer(plain[: place.start]))
    begin = analyses[-1].end() if analyses else 0
    tag = _TAG.search(text, begin)
    analysis = text[begin : place.start if tag is None else min(tag.start(), place.start)]
    following = list(_SUBTASK_KEY.finditer(after))
    parts, own = _read_value(place.value, vocabulary)
    model = own or _model_of(after[: following[0].start()] if following else after)
    return Decision(_subtask(parts, model, vocabulary), _text(analysis), _plan_note(1 + len(following)))


def _from_lone(text: str, vocabulary: Vocabulary) -> Decision:
    """The decision in a text without keys."""
    lone = _LONE.match(text) if len(text) <= _LONE_CHARACTERS else None
    if lone is not None and (lone["subtask"].startswith("[") or vocabulary.verb(lone["subtask"]) is not None):
        parts, _ = _read_value(lone["subtask"], vocabulary)
        subtask = _subtask(parts, _clean(lone["model"] or ""), vocabulary)
        return Decision(subtask, note="only a subtask, no analysis")
    lines = [
        (line, parts)
        for line in _BRACKET_LINE.finditer(text)
        for parts, _ in (_read_value(line["inside"], vocabulary),)
        if vocabulary.verb(parts[0]) is not None
    ]
    if not lines:
        raise ReplyError("the reply names no subtask", text)
    line, parts = lines[0]
    subtask = _subtask(parts, _clean(line["model"] or ""), vocabulary)
    note = "; ".join(filter(None, ("a subtask without the word Subtask", _plan_note(len(lines)))))
    return Decision(subtask, _text(text[: line.start()]), note)


def _model_of(text: str) -> str:
    """The model in the text behind a subtask: after its key, or in parentheses right behind the brackets."""
    key = _MODEL_KEY.search(text)
    if key is not None:
        return _clean(text[key.end() :].strip().partition("\n")[0])
    parentheses = _PARENTHESES.match(text)
    return _clean(parentheses["inside"]) if parentheses is not None else ""


def _read_value(value: str, vocabulary: Vocabulary) -> tuple[list[str], str]:
    """The parts of a subtask written as text, and the model if it stands in parentheses behind them."""
    value = value.strip()
    brackets = _BRACKETS.match(value)
    if brackets is not None:
        return _split(brackets["inside"]), _model_of(value[brackets.end() :])
    call = _CALL.match(value.strip(" `*\"'[]"))
    if call is not None:
        verb = vocabulary.verb(call["verb"])
        if verb is not None and verb.arguments:
            return [call["verb"], *_split(call["inside"])], ""
    model = ""
    if value.endswith(")"):
        words, _, inside = value[:-1].rpartition("(")
        if words.strip() and vocabulary.model(inside) is not None:
            value, model = words, inside
    return _split(value), model


def _split(value: str) -> list[str]:
    return [_clean(part) for part in _SEPARATOR.split(value.strip().strip("[]"))]


def _text(value: object) -> str:
    """A value as one line."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return " ".join(sendable(text).split())


def _clean(value: object) -> str:
    """A field on one line without quotes and markup; what stands for nothing becomes empty."""
    text = _text(value).strip(" \"'`*_[]\\").rstrip(".;,").strip(" \"'`*")
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
    """``parts``, with "Pick mug" taken apart: a verb of one argument that was written without a comma.

    "Pick up mug" is left as it is: that is another verb.
    """
    if len(parts) != 1 or vocabulary.verb(parts[0]) is not None:
        return list(parts)
    words = parts[0].split()
    for count in range(len(words) - 1, 0, -1):
        verb = vocabulary.verb(" ".join(words[:count]).removesuffix(":"))
        if verb is not None and len(verb.arguments) == 1 and words[count].lower() not in _PARTICLES:
            return [verb.name, " ".join(words[count:])]
    return list(parts)
