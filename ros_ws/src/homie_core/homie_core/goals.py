"""Goal conditions: what must be true of the world when a task is done.

Goal-Condition success (GC) is the share of a task's conditions that hold at the end of a trajectory (Shridhar et al.
2020; EMMOE paper, section 2.3). A condition is one mapping in a task file::

    - {object: potted_meat_can, in: fridge}                 # at least one; "in" covers "on"
    - {object: [apple, lemon], in: sink, count: 2}          # at least two of these, together
    - {object: bowl, in: sink, count: all}                  # every one of them
    - {object: any, in: sofa, count: none}                  # nothing movable is left there
    - {object: cracker_box, in: sofa, count: {exactly: 5}}
    - {object: bowl, in: [kitchen_counter, sink]}           # in any of these
    - {object: [apple, pear, plum], in: sofa, kinds: 2}     # at least one each of two of these
    - {open: drawer}                                        # at least one is open
    - {closed: drawer}                                      # every one is closed
    - {held: sponge}
    - {at: living_room}                                     # the robot: in the room, or within 2 m of the thing
    - {object: apple, state: cold}                          # at least one

Names are ids or canonical categories. Conditions are checked on a :class:`Scene`, the few questions about the world
that they need, so that the physical world and the planner's symbolic states are judged by the same code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from homie_core.names import distance
from homie_core.world_state import Kind, WorldState

AT_DISTANCE = 2.0
"""The robot is at a thing when its bounding box is at most this far away, metres (the limit of error D1)."""

ANY_OBJECT = "any"
"""Stands for every movable object."""


class GoalError(ValueError):
    """A goal condition that cannot be read, with the place in one line."""


class Scene(Protocol):
    """What goal conditions ask about the world."""

    def named(self, name: str) -> Sequence[str]:
        """Ids of the things whose id or category is ``name``; for ``any`` every movable object."""

    def receptacles(self, id: str) -> Sequence[str]:
        """What ``id`` is in or on: its parent and, while that is movable itself, the parent's parent."""

    def is_a(self, id: str, name: str) -> bool:
        """Whether ``name`` is the id or the category of ``id``."""

    def is_open(self, id: str) -> bool: ...

    def held(self) -> str:
        """Id of the object in the hand, or empty."""

    def robot_at(self, id: str) -> bool: ...

    def has_state(self, id: str, state: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class WorldScene:
    """A :class:`Scene` that answers from a world state."""

    state: WorldState

    def named(self, name: str) -> Sequence[str]:
        if name == ANY_OBJECT:
            return [thing.id for thing in self.state.objects if thing.kind is Kind.OBJECT]
        return [thing.id for thing in self.state.objects if name in (thing.id, thing.category)]

    def receptacles(self, id: str) -> Sequence[str]:
        found: list[str] = []
        thing = self.state.get(id)
        while thing is not None and thing.kind is Kind.OBJECT and thing.parent and thing.parent not in found:
            found.append(thing.parent)
            thing = self.state.get(thing.parent)
        return found

    def is_a(self, id: str, name: str) -> bool:
        thing = self.state.get(id)
        return id == name or (thing is not None and thing.category == name)

    def is_open(self, id: str) -> bool:
        return self.state[id].is_open

    def held(self) -> str:
        return self.state.held

    def robot_at(self, id: str) -> bool:
        thing = self.state[id]
        limit = 0.0 if thing.kind is Kind.PLACE else AT_DISTANCE
        return distance(thing, self.state.robot_pose) <= limit

    def has_state(self, id: str, state: str) -> bool:
        return state in self.state[id].states


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition holds, and what was found, in one line."""

    holds: bool
    explanation: str


class Condition(ABC):
    """One thing that must be true of the world."""

    @abstractmethod
    def holds(self, scene: Scene) -> bool:
        """Whether it is true."""

    @abstractmethod
    def found(self, scene: Scene) -> str:
        """What is the case, for people."""

    @abstractmethod
    def __str__(self) -> str:
        """The condition in words."""

    def names(self) -> tuple[str, ...]:
        """The ids and categories that it speaks of."""
        return ()

    def evaluate(self, scene: Scene) -> Verdict:
        holds = self.holds(scene)
        return Verdict(holds, f"{self}: {'yes' if holds else 'no'} ({self.found(scene)})")


@dataclass(frozen=True, slots=True)
class Quantity:
    """How many of some things: at least ``minimum``, at most ``maximum``, or all of them (and at least one)."""

    minimum: int = 1
    maximum: int | None = None
    all: bool = False

    def accepts(self, count: int, total: int) -> bool:
        if self.all:
            return 0 < total == count
        return self.minimum <= count and (self.maximum is None or count <= self.maximum)

    def __str__(self) -> str:
        if self.all:
            return "every"
        if self.maximum == 0:
            return "no"
        if self.maximum is None:
            return f"at least {self.minimum}"
        return f"exactly {self.minimum}" if self.minimum == self.maximum else f"{self.minimum} to {self.maximum}"


@dataclass(frozen=True, slots=True)
class Located(Condition):
    """Objects that are in or on a receptacle, directly or inside another object there.

    With ``kinds`` above 0 not the objects are counted but the names in ``objects`` of which there is one there: it must
    be at least ``kinds`` of them.
    """

    objects: tuple[str, ...]
    receptacles: tuple[str, ...]
    quantity: Quantity = Quantity()
    kinds: int = 0

    def _matching(self, scene: Scene) -> tuple[list[str], int]:
        things = _things(scene, self.objects)
        return [id for id in things if self._is_there(scene, id)], len(things)

    def _is_there(self, scene: Scene, id: str) -> bool:
        return any(scene.is_a(up, name) for up in scene.receptacles(id) for name in self.receptacles)

    def holds(self, scene: Scene) -> bool:
        there, total = self._matching(scene)
        if self.kinds:
            return sum(any(scene.is_a(id, name) for id in there) for name in self.objects) >= self.kinds
        return self.quantity.accepts(len(there), total)

    def found(self, scene: Scene) -> str:
        there, total = self._matching(scene)
        return f"{len(there)} of {total}{': ' if there else ''}{', '.join(there)}"

    def names(self) -> tuple[str, ...]:
        return (*self.objects, *self.receptacles)

    def __str__(self) -> str:
        amount = f"at least {self.kinds} kinds of" if self.kinds else str(self.quantity)
        return f"{amount} {_spoken(self.objects)} in {_spoken(self.receptacles)}"


@dataclass(frozen=True, slots=True)
class InState(Condition):
    """Objects that are hot, cold, clean, on or sliced."""

    objects: tuple[str, ...]
    state: str
    quantity: Quantity = Quantity()

    def _matching(self, scene: Scene) -> tuple[list[str], int]:
        things = _things(scene, self.objects)
        return [id for id in things if scene.has_state(id, self.state)], len(things)

    def holds(self, scene: Scene) -> bool:
        matching, total = self._matching(scene)
        return self.quantity.accepts(len(matching), total)

    def found(self, scene: Scene) -> str:
        matching, total = self._matching(scene)
        return f"{len(matching)} of {total}{': ' if matching else ''}{', '.join(matching)}"

    def names(self) -> tuple[str, ...]:
        return self.objects

    def __str__(self) -> str:
        return f"{self.quantity} {_spoken(self.objects)} {self.state}"


@dataclass(frozen=True, slots=True)
class Opened(Condition):
    """At least one container of that name is open, or (``open`` false) all of them are closed."""

    container: str
    open: bool

    def holds(self, scene: Scene) -> bool:
        containers = scene.named(self.container)
        opened = [id for id in containers if scene.is_open(id)]
        return bool(opened) if self.open else bool(containers) and not opened

    def found(self, scene: Scene) -> str:
        containers = scene.named(self.container)
        return ", ".join(f"{id} {'open' if scene.is_open(id) else 'closed'}" for id in containers) or "there is none"

    def names(self) -> tuple[str, ...]:
        return (self.container,)

    def __str__(self) -> str:
        return f"{self.container} {'open' if self.open else 'closed'}"


@dataclass(frozen=True, slots=True)
class Held(Condition):
    """The hand holds such an object."""

    object: str

    def holds(self, scene: Scene) -> bool:
        return scene.held() in scene.named(self.object)

    def found(self, scene: Scene) -> str:
        return f"the hand holds {scene.held() or 'nothing'}"

    def names(self) -> tuple[str, ...]:
        return (self.object,)

    def __str__(self) -> str:
        return f"{self.object} held"


@dataclass(frozen=True, slots=True)
class RobotAt(Condition):
    """The robot is in a room, or near a thing."""

    place: str

    def holds(self, scene: Scene) -> bool:
        return any(scene.robot_at(id) for id in scene.named(self.place))

    def found(self, scene: Scene) -> str:
        return "it is there" if self.holds(scene) else "it is elsewhere"

    def names(self) -> tuple[str, ...]:
        return (self.place,)

    def __str__(self) -> str:
        return f"robot at {self.place}"


def _things(scene: Scene, names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(id for name in names for id in scene.named(name)))


def _spoken(names: Iterable[str]) -> str:
    return " or ".join("object" if name == ANY_OBJECT else name for name in names)


@dataclass(frozen=True, slots=True)
class GoalResult:
    """The verdict on each condition, in order."""

    verdicts: tuple[Verdict, ...]

    @property
    def share(self) -> float:
        """GC, 0 to 1: the share of conditions that hold."""
        return sum(verdict.holds for verdict in self.verdicts) / len(self.verdicts)

    @property
    def success(self) -> bool:
        return all(verdict.holds for verdict in self.verdicts)


def evaluate(conditions: Sequence[Condition], scene: Scene) -> GoalResult:
    """Check every condition.

    Raises:
        ValueError: there is no condition to check.
    """
    if not conditions:
        raise ValueError("goal-condition success needs at least one condition")
    return GoalResult(tuple(condition.evaluate(scene) for condition in conditions))


def satisfied(conditions: Iterable[Condition], scene: Scene) -> bool:
    """Whether all conditions hold; the fast form that makes no explanations."""
    return all(condition.holds(scene) for condition in conditions)


def parse(data: Any) -> tuple[Condition, ...]:
    """Read conditions as they stand in a task file: a list of mappings.

    Raises:
        GoalError: the form is wrong; the message says which condition, which field and what is allowed.
    """
    if not isinstance(data, list):
        raise GoalError(f"goal must be a list of conditions, not {data!r}")
    return tuple(_condition(item, f"goal condition {number}") for number, item in enumerate(data, start=1))


def _condition(data: Any, where: str) -> Condition:
    if not isinstance(data, Mapping):
        raise GoalError(f"{where} must be a mapping, not {data!r}")
    forms: tuple[tuple[set[str], set[str], Callable[[Mapping[str, Any], str], Condition]], ...] = (
        ({"object", "in"}, {"count"}, _located),
        ({"object", "in", "kinds"}, set(), _kinds_located),
        ({"object", "state"}, {"count"}, _in_state),
        ({"open"}, set(), lambda item, at: Opened(_name(item, "open", at), True)),
        ({"closed"}, set(), lambda item, at: Opened(_name(item, "closed", at), False)),
        ({"held"}, set(), lambda item, at: Held(_name(item, "held", at))),
        ({"at"}, set(), lambda item, at: RobotAt(_name(item, "at", at))),
    )
    fields = set(data)
    for required, optional, make in forms:
        if required <= fields <= required | optional:
            return make(data, where)
    allowed = "; ".join(" + ".join(sorted(required)) for required, _, _ in forms)
    raise GoalError(f"{where} has the fields {', '.join(map(str, data)) or '(none)'}; allowed are: {allowed}")


def _located(item: Mapping[str, Any], where: str) -> Condition:
    return Located(_names(item, "object", where), _names(item, "in", where), _quantity(item, where))


def _kinds_located(item: Mapping[str, Any], where: str) -> Condition:
    names, kinds = _names(item, "object", where), item["kinds"]
    if type(kinds) is not int or not 1 <= kinds <= len(names):
        raise GoalError(f"{where}: kinds must be a number from 1 to that of the objects, {len(names)}, not {kinds!r}")
    return Located(names, _names(item, "in", where), kinds=kinds)


def _in_state(item: Mapping[str, Any], where: str) -> Condition:
    return InState(_names(item, "object", where), _name(item, "state", where), _quantity(item, where))


def _name(item: Mapping[str, Any], field: str, where: str) -> str:
    value = item[field]
    if not isinstance(value, str) or not value.strip():
        raise GoalError(f"{where}: {field} must be a name, not {value!r}")
    return value.strip()


def _names(item: Mapping[str, Any], field: str, where: str) -> tuple[str, ...]:
    value = item[field]
    values = value if isinstance(value, list) else [value]
    if not values:
        raise GoalError(f"{where}: {field} must be a name or a list of names, not {value!r}")
    return tuple(_name({field: each}, field, where) for each in values)


def _quantity(item: Mapping[str, Any], where: str) -> Quantity:
    value = item.get("count", 1)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return Quantity(minimum=value)
    if value == "all":
        return Quantity(all=True)
    if value == "none":
        return Quantity(0, 0)
    if (
        isinstance(value, Mapping)
        and set(value) == {"exactly"}
        and type(value["exactly"]) is int
        and value["exactly"] >= 0
    ):
        return Quantity(value["exactly"], value["exactly"])
    raise GoalError(
        f"{where}: count must be a number from 1 on (at least), all, none, or {{exactly: n}}, not {value!r}"
    )
