"""Key paths and Task Progress (EMMOE paper, section 2.3, equation 1; worked example in appendix C.1).

A key path is an ordered list of the subtasks that a way of doing the task needs. A task has several. They may be
written one by one (the ``keypath.json`` of EMMOE-100) or with groups that expand to the explicit list::

    - optional: "[Go to, fridge]"                    # with and without
    - all_of: ["[Open, fridge]", ["[Pick, apple]", "[Put, apple, sink]"]]    # every order; a list stays together
    - any_of: ["[Put, can, fridge]", "[Put, can, drawer]"]                   # one of them
    - "[End]"

**Matching.** One greedy pass over the steps, in order: a successful step that equals the next node of the path consumes
it; a step consumes at most one node; other steps are free. Names are compared by canonical category. For Go to, the
kitchen, its counter, its sink and its drawers are one place (the paper's example needs "Go to kitchen" to count for "Go
to drawer"). Everywhere else they differ: "Put in sink" does not satisfy "Put in drawer", as it did in the original.
End matches by its verb alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from typing import Any, Protocol

from homie_core import names
from homie_core.episode import Step
from homie_core.names import Role
from homie_core.subtask import Subtask, SubtaskError, parse_brackets
from homie_core.vocabulary import EMMOE

MAX_KEY_PATHS = 5000
"""Most alternatives that the groups of one task may expand to."""

KeyPath = tuple[Subtask, ...]


class KeyPathError(ValueError):
    """Key paths that cannot be read, with the place in one line."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What of a subtask is compared: for End nothing but the verb. A number of None is any instance."""

    verb: str
    target: str = ""
    destination: str = ""
    target_number: int | None = None
    destination_number: int | None = None

    def accepts(self, step: Pattern) -> bool:
        """Whether the step, itself as a pattern, satisfies this node."""
        return (
            self.verb == step.verb
            and self.target == step.target
            and self.destination == step.destination
            and self.target_number in (None, step.target_number)
            and self.destination_number in (None, step.destination_number)
        )


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
    """What of ``subtask`` is compared.

    ``present`` are the categories of the scene: an ambiguous name means the first candidate among them, as it did for
    the executor. ``in_hand`` is the name under which the held object was picked: a Put names that object if it can.
    """
    return _pattern(subtask.action, subtask.target, subtask.destination, present, in_hand)


@lru_cache(maxsize=65536)
def _pattern(action: str, target: str, destination: str, present: frozenset[str] | None, in_hand: str) -> Pattern:
    verb = EMMOE.verb(action)
    kind = verb.name if verb else action.strip().lower()
    if kind == "End":
        return Pattern(kind)
    target_name, destination_name = names.parse(target), names.parse(destination)
    category = names.canonical(target, present)
    if kind == "Go to" and names.place(category):
        return Pattern(kind, names.place(category))
    if kind == "Put":
        held = names.canonical(in_hand, present)
        category = held if held in target_name.categories else category
    return Pattern(
        kind,
        category,
        names.canonical(destination, present, Role.PUT_PLACE),
        target_name.number,
        destination_name.number,
    )


def task_progress(paths: Sequence[KeyPath], steps: Sequence[Step], present: Collection[str] | None = None) -> Progress:
    """The best progress over all key paths (equation 1); of equal ones that with most nodes, then the first.

    Args:
        paths: at least one, none empty.
        steps: the trajectory, in order.
        present: the categories of things in the scene, for ambiguous names.

    Raises:
        ValueError: there is no key path, or an empty one.
    """
    if not paths or not all(paths):
        raise ValueError("task progress needs at least one key path, and none may be empty")
    scene = None if present is None else frozenset(present)
    done = [
        (step.index, pattern(step.subtask, scene, step.inventory_before[-1] if step.inventory_before else ""))
        for step in steps
        if step.success
    ]
    matched = (Progress(path, _match(_compiled(path, scene), done)) for path in paths)
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
    if not isinstance(data, Mapping) or len(data) != 1 or next(iter(data)) not in _GROUPS:
        raise KeyPathError(
            f"{where} must be a subtask in brackets, a list, or one of {', '.join(_GROUPS)}, not {data!r}"
        )
    ((group, content),) = data.items()
    if group == "optional":
        return _AnyOf((_Sequence(()), _part(content, f"{where}, optional")))
    parts = _sequence(content, f"{where}, {group}").parts
    return _AllOf(parts) if group == "all_of" else _AnyOf(parts)


def _node(text: str, where: str) -> _Node:
    try:
        subtask = parse_brackets(text)
    except SubtaskError as error:
        raise KeyPathError(f"{where}: {error}") from error
    if EMMOE.verb(subtask.action) is None:
        raise KeyPathError(f"{where}: {subtask.action!r} is none of {', '.join(verb.name for verb in EMMOE.verbs)}")
    return _Node(subtask)
