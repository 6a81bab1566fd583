"""From what a planner says to things in the world.

Two questions, two functions: :func:`canonical` says which *category* a text means (key paths are matched with it), and
:func:`resolve` says which *thing* it means (the monitor asks that before a skill runs). Both use the same table,
``names.yaml``, and the same rule for ambiguous names, so what is scored is what was done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from importlib.resources import files

import yaml

from homie_core.world_state import Kind, ObjectState, WorldState

_ARTICLES = frozenset({"a", "an", "the", "some"})
_WORD = re.compile(r"[^\W_]+")
_YCB_NUMBER = re.compile(r"\d{3}")


class Role(Enum):
    """What a named thing is for in a subtask. It decides which of several things is meant."""

    VISIT = "visit"
    PICK = "pick"
    PUT_OBJECT = "put_object"
    PUT_PLACE = "put_place"
    OPEN = "open"
    CLOSE = "close"


_ROLE_OF_SKILL = {
    "go_to": Role.VISIT,
    "pick": Role.PICK,
    "put": Role.PUT_OBJECT,
    "open": Role.OPEN,
    "close": Role.CLOSE,
}


@dataclass(frozen=True, slots=True)
class Name:
    """What a text names, whatever the scene holds.

    ``categories`` are the candidates in order of preference; empty when the text names nothing at all. A text that the
    table does not know is its own category. ``number`` tells instances apart ("drawer 2").
    """

    categories: tuple[str, ...]
    number: int | None = None
    known: bool = True

    def category(self, present: Collection[str] | None = None) -> str:
        """The category that is meant: the first candidate in ``present``, else the first one. Empty for no name."""
        if present is not None:
            for candidate in self.categories:
                if candidate in present:
                    return candidate
        return self.categories[0] if self.categories else ""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The thing that a text means.

    ``others`` are the ids that it could have meant as well, in order of preference; ``note`` says in one line why this
    one was taken, and is empty when there was no choice.
    """

    id: str
    category: str
    others: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Table:
    names: dict[str, tuple[str, ...]]
    put_places: dict[str, str]
    place_of: dict[str, str]


@cache
def _table() -> _Table:
    data = yaml.safe_load(files("homie_core").joinpath("names.yaml").read_text(encoding="utf-8"))
    names: dict[str, tuple[str, ...]] = {}
    for category, aliases in data["categories"].items():
        for alias in (category, *aliases):
            names[_key(_words(alias))] = (category,)
    for alias, categories in data["ambiguous"].items():
        names[_key(_words(alias))] = tuple(categories)
    place_of = {category: group[0] for group in data["one_place"] for category in group}
    return _Table(names, data["put_places"], place_of)


def known_categories() -> frozenset[str]:
    """Every canonical category of the table."""
    return frozenset(category for categories in _table().names.values() for category in categories)


def _words(text: str) -> list[str]:
    """The words of ``text`` without articles and YCB numbers in front."""
    words = _WORD.findall(text.casefold())
    while words and (words[0] in _ARTICLES or (len(words) > 1 and _YCB_NUMBER.fullmatch(words[0]))):
        words.pop(0)
    return words


def _key(words: list[str]) -> str:
    return "".join(words)


def _singulars(words: list[str]) -> Iterator[list[str]]:
    """``words`` as they are, then with the last one read as a plural."""
    yield words
    last = words[-1]
    for ending, replacement in (("ies", "y"), ("es", ""), ("s", "")):
        if last.endswith(ending) and len(last) > len(ending) + 1:
            yield [*words[:-1], last.removesuffix(ending) + replacement]


def _look_up(words: list[str]) -> tuple[str, ...] | None:
    if not words:
        return None
    known = _table().names
    return next((known[key] for key in map(_key, _singulars(words)) if key in known), None)


@lru_cache(maxsize=4096)
def parse(text: str) -> Name:
    """Read a name. Never raises.

    Case, articles, plural, underscores, punctuation, a YCB number in front and an instance number behind make no
    difference to the category.
    """
    words = _words(text)
    if not words:
        return Name((), known=False)
    if categories := _look_up(words):
        return Name(categories)
    number = None
    while len(words) > 1 and words[-1].isdecimal():
        last = int(words.pop())
        number = last if number is None else number
        if categories := _look_up(words):
            return Name(categories, number)
    return Name(("_".join(words),), number, known=False)


def canonical(text: str, present: Collection[str] | None = None, role: Role = Role.VISIT) -> str:
    """The canonical category that ``text`` means, empty if it names nothing.

    ``present`` are the categories of the scene; an ambiguous name means the first of its candidates among them. A name
    that the table does not know is returned in a normal form, so that two spellings of it compare equal.
    """
    category = parse(text).category(present)
    return _table().put_places.get(category, category) if role is Role.PUT_PLACE else category


def place(category: str) -> str:
    """The place that going to a thing of ``category`` is as good as; empty where there is none.

    The kitchen for its counter, its sink and its drawers (paper, appendix C.1: "Go to kitchen" counts for "Go to
    drawer").
    """
    return _table().place_of.get(category, "")


def instance_number(id: str) -> int | None:
    """The number by which an id tells instances apart (``kitchen_counter/drawer_2``: 2), or None if it has none."""
    _, separator, suffix = id.rpartition("_")
    return int(suffix) if separator and suffix.isdecimal() else None


def resolve(text: str, state: WorldState, role: Role = Role.VISIT) -> Resolution | None:
    """The thing in the world that ``text`` means, or None if there is none (the F2 case).

    In this order:

    1. an exact id (but a room is no place to put something);
    2. for PUT_OBJECT: the held object, if the text may mean its category;
    3. the category: the only candidate, or the first candidate that is in the scene (the note says so). A room as
       PUT_PLACE means its counter; a room without a place of its own in the scene means it too;
    4. an instance number ("drawer 2") picks the id that ends in it;
    5. among several: those not in the hand first (for PUT_OBJECT the held one); of containers the closed ones first
       for OPEN, and the open ones first for everything else; then the nearest to the robot (horizontally, to the
       bounding box); then by id.
    """
    exact = state.get(text.strip())
    if exact is not None and not (role is Role.PUT_PLACE and exact.category in _table().put_places):
        return Resolution(exact.id, exact.category)
    name = parse(text)
    held = state.get(state.held)
    if role is Role.PUT_OBJECT and held is not None and _means(name, held):
        return Resolution(held.id, held.category)
    category = _category_in(name, state, role)
    things = [thing for thing in state.of_category(category) if _numbered(thing, name.number)]
    if not category or not things:
        return None
    chosen, *others = sorted(things, key=lambda thing: _preference(thing, state, role))
    note = "; ".join(filter(None, (_category_note(text, name, category, state), _instance_note(chosen, others, role))))
    return Resolution(chosen.id, category, tuple(thing.id for thing in others), note)


def resolve_goal(skill: str, target: str, receptacle: str, state: WorldState) -> tuple[str, str]:
    """The ids that a skill's goal means, in which things may be named instead; what names nothing stays as it is.

    Without background information nobody before the skill can know the ids.
    """
    return _id_of(target, state, _ROLE_OF_SKILL.get(skill, Role.VISIT)), _id_of(receptacle, state, Role.PUT_PLACE)


def _id_of(text: str, state: WorldState, role: Role) -> str:
    """``text`` if it is an id, even of a thing that is unfit for ``role``, or if it means nothing."""
    resolution = None if state.get(text) else resolve(text, state, role)
    return resolution.id if resolution else text


def unresolved_reason(text: str, state: WorldState) -> str:
    """One line for people: why :func:`resolve` found nothing."""
    name = parse(text)
    if not name.categories:
        return "no name given"
    if not name.known:
        return f"no thing is called {text.strip()!r}"
    number = "" if name.number is None else f" number {name.number}"
    return f"no {' or '.join(name.categories)}{number} in {state.scene or 'the scene'}"


def name_of(id: str, state: WorldState) -> str:
    """A name for planners that resolves back to ``id``.

    The category if there is only one such thing, else with the instance number (``drawer_2``), else the id.

    Raises:
        KeyError: there is no such thing.
    """
    thing = state[id]
    if sum(1 for _ in state.of_category(thing.category)) == 1:
        return thing.category
    numbered = f"{thing.category}_{id.rsplit('_', 1)[-1]}"
    resolution = resolve(numbered, state)
    return numbered if resolution is not None and resolution.id == id and not resolution.others else id


def _means(name: Name, thing: ObjectState) -> bool:
    return thing.category in name.categories and _numbered(thing, name.number)


def _category_in(name: Name, state: WorldState, role: Role) -> str:
    present = {thing.category for thing in state.objects}
    category = name.category(present)
    stand_in = _table().put_places.get(category)
    if stand_in is not None and (role is Role.PUT_PLACE or category not in present):
        return stand_in
    return category


def _numbered(thing: ObjectState, number: int | None) -> bool:
    return number is None or instance_number(thing.id) == number


def _preference(thing: ObjectState, state: WorldState, role: Role) -> tuple[bool, bool, float, str]:
    """Sorts the things that a name may mean, the one to take first."""
    in_hand = thing.id == state.held
    wrong_way = thing.kind is Kind.CONTAINER and thing.is_open == (role is Role.OPEN)
    return in_hand != (role is Role.PUT_OBJECT), wrong_way, distance(thing, state.robot_pose), thing.id


def distance(thing: ObjectState, robot_pose: tuple[float, float, float]) -> float:
    """Horizontal distance in metres from the robot's base to the bounding box of ``thing``, 0 above it."""
    center = thing.box_center if any(thing.box_size) else thing.position
    gaps = (
        max(abs(robot - middle) - size / 2, 0.0)
        for robot, middle, size in zip(robot_pose[:2], center[:2], thing.box_size[:2], strict=True)
    )
    return math.hypot(*gaps)


def _category_note(text: str, name: Name, category: str, state: WorldState) -> str:
    present = [candidate for candidate in name.categories if any(state.of_category(candidate))]
    if len(name.categories) == 1:
        return "" if category in name.categories else f"{text.strip()!r} means the {category} here"
    if len(present) == 1:
        return f"{text.strip()!r} is ambiguous; only {category} is in the scene"
    return f"{text.strip()!r} is ambiguous; of {', '.join(present)} it means {category}"


def _instance_note(chosen: ObjectState, others: list[ObjectState], role: Role) -> str:
    if not others:
        return ""
    if chosen.kind is Kind.CONTAINER:
        wanted = "closed" if role is Role.OPEN else "open"
        if (wanted == "open") == chosen.is_open:
            return f"{chosen.id} is the nearest {wanted} one of {len(others) + 1}"
    return f"{chosen.id} is the nearest of {len(others) + 1}"
