"""Key paths and Task Progress (EMMOE paper, section 2.3, equation 1; worked example in appendix C.1).

A key path is an ordered list of the subtasks that a way of doing the task needs. A task has several. They may be
written one by one (the ``keypath.json`` of EMMOE-100) or with groups that expand to the explicit list::

    - optional: "[Go to, fridge]"                    # with and without
    - all_of: ["[Open, fridge]", ["[Pick, apple]", "[Put, apple, sink]"]]    # every order; a list stays together
    - any_of: ["[Put, can, fridge]", "[Put, can, drawer]"]                   # one of them
    - {some_of: ["[Pick, apple]", "[Pick, pear]", "[Pick, plum]"], count: 2} # two of them, in every order
    - "[End]"

**Matching.** One greedy pass over the steps, in order: a successful step that equals the next node of the path consumes
it; a step consumes at most one node; other steps are free. Names are compared by canonical category, and by number
where the node has one and the step tells which instance it was. For Go to, the kitchen, its counter, its sink and its
drawers are one place (the paper's example needs "Go to kitchen" to count for "Go to drawer"). Everywhere else they
differ: "Put in sink" does not satisfy "Put in drawer", as it did in the original. End matches by its verb alone.

**What of a step is compared.** What was done, where that is known: if every name of the step was resolved to a thing of
the scene (``Step.target_id``, ``Step.destination_id``), the categories and numbers of these things count and the words
do not. An ambiguous name in the key path then accepts any of its candidates: whoever picked the soup can has picked a
can. Otherwise the words count, on both sides: an ambiguous name means its first candidate in the scene, and in a Put
what is in the hand if it can. What is in the scene comes from a world state of the episode; without one the words count
and an ambiguous name means its first candidate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Any, Protocol

from homie_core import names
from homie_core.episode import Step
from homie_core.names import Role
from homie_core.subtask import Subtask, SubtaskError, parse_brackets
from homie_core.vocabulary import EMMOE, END, GO_TO, PUT

MAX_KEY_PATHS = 5000
"""Most alternatives that the groups of one task may expand to."""

KeyPath = tuple[Subtask, ...]


class KeyPathError(ValueError):
    """Key paths that cannot be read, with the place in one line."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What of a subtask is compared: for End nothing but the verb. A number of None is any instance.

    ``targets`` and ``destinations`` are every category that the names may mean. ``by_things`` tells of a step that its
    categories are those of the things that were handled, not of words.
    """

    verb: str
    target: str = ""
    destination: str = ""
    target_number: int | None = None
    destination_number: int | None = None
    targets: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()
    by_things: bool = False

    def accepts(self, step: Pattern) -> bool:
        """Whether the step, itself as a pattern, satisfies this node."""
        return (
            self.verb == step.verb
            and (self.target == step.target or (step.by_things and step.target in self.targets))
            and (self.destination == step.destination or (step.by_things and step.destination in self.destinations))
            and _same(self.target_number, step.target_number, step.by_things)
            and _same(self.destination_number, step.destination_number, step.by_things)
        )


def _same(wanted: int | None, number: int | None, by_things: bool) -> bool:
    """Whether an instance is the one that a node wants. Words without a number do not say which one it was."""
    return wanted is None or number == wanted or (number is None and not by_things)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a trajectory came on its best key path.

    ``steps[i]`` is the index (from 1) of the step that matched node ``i`` of ``path``; later nodes were not matched.
    """

    path: KeyPath
    steps: tuple[int, ...]

    @property
    def value(self) -> float:
        """Task progress, 0 to 1."""
        return len(self.steps) / len(self.path)

    @property
    def success(self) -> bool:
        """Whether every node was matched (TP = 100 %)."""
        return len(self.steps) == len(self.path)

    def explanation(self) -> tuple[str, ...]:
        """One line a node of the best key path: at which step it was matched, or that it was not."""
        matched = [
            f"{node.brackets()} matched at step {step}" for node, step in zip(self.path, self.steps, strict=False)
        ]
        return (*matched, *(f"{node.brackets()} not matched" for node in self.path[len(self.steps) :]))


def pattern(subtask: Subtask, present: frozenset[str] | None = None, in_hand: str = "") -> Pattern:
    """What of the words of ``subtask`` is compared.

    ``present`` are the categories of the scene: an ambiguous name means the first candidate among them, as it did for
    the executor. ``in_hand`` is the name under which the held object was picked: a Put names that object if it can.
    """
    return _pattern(subtask.action, subtask.target, subtask.destination, present, in_hand)


@lru_cache(maxsize=65536)
def _pattern(action: str, target: str, destination: str, present: frozenset[str] | None, in_hand: str) -> Pattern:
    kind = _kind(action)
    if kind == END.name:
        return Pattern(kind)
    target_name, destination_name = names.parse(target), names.parse(destination)
    category = names.canonical(target, present)
    if kind == GO_TO.name and names.place(category):
        return Pattern(kind, names.place(category), targets=_places(target_name.categories))
    if kind == PUT.name:
        held = names.canonical(in_hand, present)
        category = held if held in target_name.categories else category
    return Pattern(
        kind,
        category,
        names.canonical(destination, present, Role.PUT_PLACE),
        target_name.number,
        destination_name.number,
        _places(target_name.categories) if kind == GO_TO.name else target_name.categories,
        tuple(names.canonical(each, role=Role.PUT_PLACE) for each in destination_name.categories),
    )


@lru_cache(maxsize=1024)
def _kind(action: str) -> str:
    verb = EMMOE.verb(action)
    return verb.name if verb else action.strip().lower()


def _places(categories: tuple[str, ...]) -> tuple[str, ...]:
    """What going to a thing of one of ``categories`` is as good as."""
    return tuple(dict.fromkeys(names.place(category) or category for category in categories))


def _step_pattern(step: Step, things: Mapping[str, str], present: frozenset[str] | None) -> Pattern:
    """What of a step is compared: the things that it handled, else its words."""
    in_hand = step.inventory_before[-1] if step.inventory_before else ""
    return _pattern_of_things(step, things) or pattern(step.subtask, present, in_hand)


def _pattern_of_things(step: Step, things: Mapping[str, str]) -> Pattern | None:
    """The step by what it handled; None if one of its names was not resolved to a thing of the scene."""
    kind = _kind(step.subtask.action)
    target = things.get(step.target_id)
    destination = things.get(step.destination_id) if kind == PUT.name else ""
    if target is None or destination is None:
        return None
    if kind == GO_TO.name and names.place(target):
        return Pattern(kind, names.place(target), by_things=True)
    numbers = names.instance_number(step.target_id), names.instance_number(step.destination_id)
    return Pattern(kind, target, destination, *numbers, by_things=True)


def task_progress(paths: Sequence[KeyPath], steps: Sequence[Step], things: Mapping[str, str] | None = None) -> Progress:
    """The best progress over all key paths (equation 1); of equal ones that with most nodes, then the first.

    Args:
        paths: at least one, none empty.
        steps: the trajectory, in order.
        things: those of the scene, id to category (`WorldState.categories`); None if they are not known.

    Raises:
        ValueError: there is no key path, or an empty one.
    """
    if not paths or not all(paths):
        raise ValueError("task progress needs at least one key path, and none may be empty")
    present = None if things is None else frozenset(things.values())
    done = [(step.index, _step_pattern(step, things or {}, present)) for step in steps if step.success]
    matched = (Progress(path, _match(_compiled(path, present), done)) for path in paths)
    return max(matched, key=lambda progress: (progress.value, len(progress.steps)))


@lru_cache(maxsize=16384)
def _compiled(path: KeyPath, present: frozenset[str] | None) -> tuple[Pattern, ...]:
    return tuple(pattern(node, present) for node in path)


def _match(nodes: tuple[Pattern, ...], steps: list[tuple[int, Pattern]]) -> tuple[int, ...]:
    matched: list[int] = []
    wanted = nodes[0]
    for index, step in steps:
        if wanted.accepts(step):
            matched.append(index)
            if len(matched) == len(nodes):
                break
            wanted = nodes[len(matched)]
    return tuple(matched)


def load_json(text: str) -> tuple[KeyPath, ...]:
    """Read the ``keypath.json`` of EMMOE-100: a list of lists of subtasks in brackets.

    Raises:
        KeyPathError: it is not that.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise KeyPathError(f"key paths are not JSON: {error}") from error
    return expand(data)


def expand(data: Any, limit: int = MAX_KEY_PATHS) -> tuple[KeyPath, ...]:
    """Key paths as written in a task, a list of lists of subtasks and groups, as the explicit list without repeats.

    Raises:
        KeyPathError: the form is wrong, a subtask cannot be read, or there are more than ``limit`` alternatives.
    """
    if not isinstance(data, list) or not data:
        raise KeyPathError("key paths must be a list with at least one key path")
    parsed = [_sequence(path, f"key path {number}") for number, path in enumerate(data, start=1)]
    if empty := [number for number, path in enumerate(parsed, start=1) if path.shortest() == 0]:
        raise KeyPathError(f"key path {empty[0]} can be empty: at least one node must not be optional")
    total = sum(path.count() for path in parsed)
    if total > limit:
        raise KeyPathError(f"key paths expand to {total} alternatives, at most {limit} are allowed")
    return tuple(dict.fromkeys(alternative for path in parsed for alternative in path.alternatives()))


class _Part(Protocol):
    """Something that stands for alternative lists of nodes."""

    def count(self) -> int:
        """Number of alternatives, found without making them."""

    def shortest(self) -> int:
        """Length of the shortest alternative."""

    def alternatives(self) -> Iterator[KeyPath]:
        """The alternatives, one after the other."""


@dataclass(frozen=True)
class _Node:
    subtask: Subtask

    def count(self) -> int:
        return 1

    def shortest(self) -> int:
        return 1

    def alternatives(self) -> Iterator[KeyPath]:
        yield (self.subtask,)


@dataclass(frozen=True)
class _Sequence:
    parts: tuple[_Part, ...]

    def count(self) -> int:
        return math.prod(part.count() for part in self.parts)

    def shortest(self) -> int:
        return sum(part.shortest() for part in self.parts)

    def alternatives(self) -> Iterator[KeyPath]:
        for choice in product(*(tuple(part.alternatives()) for part in self.parts)):
            yield tuple(node for part in choice for node in part)


@dataclass(frozen=True)
class _AllOf:
    parts: tuple[_Part, ...]

    def count(self) -> int:
        return math.factorial(len(self.parts)) * math.prod(part.count() for part in self.parts)

    def shortest(self) -> int:
        return sum(part.shortest() for part in self.parts)

    def alternatives(self) -> Iterator[KeyPath]:
        for order in permutations(self.parts):
            yield from _Sequence(order).alternatives()


@dataclass(frozen=True)
class _AnyOf:
    parts: tuple[_Part, ...]

    def count(self) -> int:
        return sum(part.count() for part in self.parts)

    def shortest(self) -> int:
        return min(part.shortest() for part in self.parts)

    def alternatives(self) -> Iterator[KeyPath]:
        for part in self.parts:
            yield from part.alternatives()


@dataclass(frozen=True)
class _SomeOf:
    parts: tuple[_Part, ...]
    chosen: int

    def count(self) -> int:
        return sum(_AllOf(parts).count() for parts in combinations(self.parts, self.chosen))

    def shortest(self) -> int:
        return sum(sorted(part.shortest() for part in self.parts)[: self.chosen])

    def alternatives(self) -> Iterator[KeyPath]:
        for parts in combinations(self.parts, self.chosen):
            yield from _AllOf(parts).alternatives()


_GROUPS = ("all_of", "any_of", "optional")


def _sequence(data: Any, where: str) -> _Sequence:
    if not isinstance(data, list) or not data:
        raise KeyPathError(f"{where} must be a list with at least one node, not {data!r}")
    return _Sequence(tuple(_part(item, f"{where}, item {number}") for number, item in enumerate(data, start=1)))


def _part(data: Any, where: str) -> _Part:
    if isinstance(data, str):
        return _node(data, where)
    if isinstance(data, list):
        return _sequence(data, where)
    if isinstance(data, Mapping) and set(data) == {"some_of", "count"}:
        return _some_of(data, where)
    if not isinstance(data, Mapping) or len(data) != 1 or next(iter(data)) not in _GROUPS:
        raise KeyPathError(
            f"{where} must be a subtask in brackets, a list, or one of {', '.join(_GROUPS)}, some_of with count, "
            f"not {data!r}"
        )
    ((group, content),) = data.items()
    if group == "optional":
        return _AnyOf((_Sequence(()), _part(content, f"{where}, optional")))
    parts = _sequence(content, f"{where}, {group}").parts
    return _AllOf(parts) if group == "all_of" else _AnyOf(parts)


def _some_of(data: Mapping[str, Any], where: str) -> _SomeOf:
    parts, count = _sequence(data["some_of"], f"{where}, some_of").parts, data["count"]
    if type(count) is not int or not 1 <= count <= len(parts):
        raise KeyPathError(f"{where}, some_of: count must be a number from 1 to {len(parts)}, not {count!r}")
    return _SomeOf(parts, count)


def _node(text: str, where: str) -> _Node:
    try:
        subtask = parse_brackets(text)
    except SubtaskError as error:
        raise KeyPathError(f"{where}: {error}") from error
    if EMMOE.verb(subtask.action) is None:
        raise KeyPathError(f"{where}: {subtask.action!r} is none of {', '.join(verb.name for verb in EMMOE.verbs)}")
    return _Node(subtask)
