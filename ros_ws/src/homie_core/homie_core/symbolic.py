"""The EMMOE domain as symbols: what a robot may do, when, and what it changes.

For planning by search and for worlds without physics. A :class:`Domain` is what never changes in an episode (which
things there are); a :class:`State` is the rest, small and hashable. Preconditions give the error code that the monitor
would give, in the paper's order F1, F2, L1 to L4, D1 (appendix E.1); D2 has no symbolic counterpart.

Being near: after Go to X the robot is near X and near everything in or on X. After Pick it is near what the object was
taken from. Nothing else is near; in the physical world more may be, so a plan found here does not rely on luck.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from homie_core.errors import ErrorCode
from homie_core.goals import ANY_OBJECT
from homie_core.world_state import FLOOR, GRIPPER, RUNNING, Kind, ObjectState, WorldState, owner_of


class Act(NamedTuple):
    """A subtask on ids. ``verb`` is the canonical spelling of the vocabulary."""

    verb: str
    target: str = ""
    destination: str = ""


END = Act("End")


class State(NamedTuple):
    """What changes. ``parents`` follows ``Domain.movable``, ``opened`` follows ``Domain.containers``.

    ``running`` are the ids of the appliances that run. They stop when they are opened.
    """

    near: str
    """Id of the thing that the robot went to; empty before the first Go to."""
    held: str
    parents: tuple[str, ...]
    opened: tuple[bool, ...]
    running: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Domain:
    """The things of an episode, by what can be done with them. All ids, in the world's order."""

    categories: dict[str, str]
    movable: tuple[str, ...]
    containers: tuple[str, ...]
    receptacles: tuple[str, ...]
    """Where a Put may go: containers and furniture, then vessels."""
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What things are (cold, clean, ...) but for whether they run. No act of this domain changes it."""
    _movable_index: dict[str, int] = field(init=False, repr=False, compare=False)
    _container_index: dict[str, int] = field(init=False, repr=False, compare=False)
    _receptacle_set: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_movable_index", {id: index for index, id in enumerate(self.movable)})
        object.__setattr__(self, "_container_index", {id: index for index, id in enumerate(self.containers)})
        object.__setattr__(self, "_receptacle_set", frozenset(self.receptacles))

    def parent(self, state: State, id: str) -> str:
        """What a movable thing is in or on, as `ObjectState.parent` has it; empty for things that stand."""
        index = self._movable_index.get(id)
        return "" if index is None else state.parents[index]

    def is_open(self, state: State, id: str) -> bool:
        """Whether ``id`` is an open container."""
        index = self._container_index.get(id)
        return index is not None and state.opened[index]

    def is_closed(self, state: State, id: str) -> bool:
        """Whether ``id`` is a closed container."""
        index = self._container_index.get(id)
        return index is not None and not state.opened[index]

    def is_near(self, state: State, id: str) -> bool:
        """Whether the robot can reach ``id``: it went to it, or to what it is in or on."""
        while id:
            if id == state.near:
                return True
            id = owner_of(self.parent(state, id))
        return False

    def inside_closed(self, state: State, id: str) -> bool:
        """Whether ``id`` lies in a closed container, directly or inside another object."""
        id = self.parent(state, id)
        while id:
            if self.is_closed(state, id):
                return True
            id = self.parent(state, id)
        return False

    def _is_in_hand(self, state: State, id: str) -> bool:
        """Whether ``id`` is held, directly or inside a vessel that is."""
        while id:
            if id == state.held:
                return True
            id = self.parent(state, id)
        return False

    def check(self, state: State, act: Act) -> ErrorCode | None:
        """Why ``act`` cannot be done now, or None if it can."""
        if act.verb not in _CHECKS:
            return ErrorCode.NOT_IN_LIST
        if act.verb == "End":
            return None
        if act.target not in self.categories or (act.verb == "Put" and act.destination not in self.categories):
            return ErrorCode.UNKNOWN_TARGET
        if act.verb in ("Pick", "Open", "Close") and state.held:
            return ErrorCode.HAND_FULL
        if act.verb == "Put" and not state.held:
            return ErrorCode.HAND_EMPTY
        return _CHECKS[act.verb](self, state, act)

    def apply(self, state: State, act: Act) -> State:
        """The state after ``act`` succeeded. Call :meth:`check` first.

        Raises:
            ValueError: there is no such verb.
        """
        match act.verb:
            case "Go to":
                return state._replace(near=act.target)
            case "Pick":
                near = owner_of(self.parent(state, act.target))
                parents = self._with_parent(state, act.target, GRIPPER)
                return state._replace(near="" if near == FLOOR else near, held=act.target, parents=parents)
            case "Put":
                return state._replace(held="", parents=self._with_parent(state, state.held, act.destination))
            case "Open" | "Close":
                index = self._container_index[act.target]
                opened = (*state.opened[:index], act.verb == "Open", *state.opened[index + 1 :])
                running = state.running - {act.target} if act.verb == "Open" else state.running
                return state._replace(opened=opened, running=running)
            case "End":
                return state
            case _:
                raise ValueError(f"no such verb: {act.verb!r}")

    def _with_parent(self, state: State, id: str, parent: str) -> tuple[str, ...]:
        index = self._movable_index[id]
        return (*state.parents[:index], parent, *state.parents[index + 1 :])

    def successors(self, state: State) -> Iterator[tuple[Act, State]]:
        """Every act that can be done now and changes something, with the state that it leads to. End is left out."""
        for act in self._candidates(state):
            if self.check(state, act) is None:
                after = self.apply(state, act)
                if after != state:
                    yield act, after

    def _candidates(self, state: State) -> Iterator[Act]:
        if state.held:
            yield from (Act("Put", state.held, place) for place in self.receptacles if place != state.held)
        else:
            yield from (Act("Pick", id) for id in self.movable)
            for id, opened in zip(self.containers, state.opened, strict=True):
                yield Act("Close" if opened else "Open", id)
        yield from (Act("Go to", id) for id in self.categories if id != state.held)

    def _check_pick(self, state: State, act: Act) -> ErrorCode | None:
        if self.inside_closed(state, act.target):
            return ErrorCode.CONTAINER_CLOSED
        if act.target not in self._movable_index:
            return ErrorCode.NOT_INTERACTIVE
        return None if self.is_near(state, act.target) else ErrorCode.TOO_FAR

    def _check_put(self, state: State, act: Act) -> ErrorCode | None:
        if self.is_closed(state, act.destination) or self.inside_closed(state, act.destination):
            return ErrorCode.CONTAINER_CLOSED
        into_itself = self._is_in_hand(state, act.destination)
        if act.target != state.held or act.destination not in self._receptacle_set or into_itself:
            return ErrorCode.NOT_INTERACTIVE
        return None if self.is_near(state, act.destination) else ErrorCode.TOO_FAR

    def _check_open_close(self, state: State, act: Act) -> ErrorCode | None:
        if act.target not in self._container_index:
            return ErrorCode.NOT_INTERACTIVE
        return None if self.is_near(state, act.target) else ErrorCode.TOO_FAR

    def _check_nothing(self, state: State, act: Act) -> ErrorCode | None:
        return None


_CHECKS = {
    "Go to": Domain._check_nothing,
    "Pick": Domain._check_pick,
    "Put": Domain._check_put,
    "Open": Domain._check_open_close,
    "Close": Domain._check_open_close,
    "End": Domain._check_nothing,
}


def from_world(world: WorldState, relevant: Collection[str] | None = None) -> tuple[Domain, State]:
    """The domain and state of ``world``.

    ``relevant`` names ids or categories that matter for a task (``any`` is every movable object); then everything else
    is left out, save what the relevant things are in or on. Without it everything is kept.

    The robot is near nothing at first: where it stands is not a symbol.
    """
    wanted = None if relevant is None else _closure(world, frozenset(relevant))
    things = [thing for thing in world.objects if wanted is None or thing.id in wanted]
    movable = tuple(thing for thing in things if thing.kind is Kind.OBJECT)
    containers = tuple(thing for thing in things if thing.kind is Kind.CONTAINER)
    fixed = (thing for thing in things if thing.is_receptacle and thing.kind is not Kind.OBJECT)
    vessels = (thing for thing in movable if thing.is_receptacle)
    domain = Domain(
        categories={thing.id: thing.category for thing in things},
        movable=tuple(thing.id for thing in movable),
        containers=tuple(thing.id for thing in containers),
        receptacles=tuple(thing.id for thing in (*fixed, *vessels)),
        states={thing.id: states for thing in things if (states := _lasting(thing))},
    )
    parents = tuple(GRIPPER if thing.id == world.held else thing.parent for thing in movable)
    running = frozenset(thing.id for thing in things if RUNNING in thing.states)
    return domain, State("", world.held, parents, tuple(thing.is_open for thing in containers), running)


def _lasting(thing: ObjectState) -> tuple[str, ...]:
    return tuple(state for state in thing.states if state != RUNNING)


def _closure(world: WorldState, relevant: frozenset[str]) -> frozenset[str]:
    kept: set[str] = {world.held} if world.held else set()
    for thing in world.objects:
        movable = thing.kind is Kind.OBJECT
        if thing.id in relevant or thing.category in relevant or (movable and ANY_OBJECT in relevant):
            kept.add(thing.id)
    for id in tuple(kept):
        thing_or_none = world.get(id)
        while thing_or_none is not None and thing_or_none.kind is Kind.OBJECT:
            support = owner_of(thing_or_none.parent)
            if support in kept:
                break
            kept.add(support)
            thing_or_none = world.get(support)
    return frozenset(kept)


@dataclass(frozen=True, slots=True)
class SymbolicScene:
    """A :class:`homie_core.goals.Scene` that answers from a symbolic state."""

    domain: Domain
    state: State

    def named(self, name: str) -> Sequence[str]:
        if name == ANY_OBJECT:
            return self.domain.movable
        return [id for id, category in self.domain.categories.items() if name in (id, category)]

    def receptacles(self, id: str) -> Sequence[str]:
        found: list[str] = []
        up = self.domain.parent(self.state, id)
        while up:
            found.append(up)
            up = self.domain.parent(self.state, up)
        return found

    def is_a(self, id: str, name: str) -> bool:
        return id == name or self.domain.categories.get(id) == name

    def is_open(self, id: str) -> bool:
        return self.domain.is_open(self.state, id)

    def held(self) -> str:
        return self.state.held

    def robot_at(self, id: str) -> bool:
        return self.domain.is_near(self.state, id)

    def has_state(self, id: str, state: str) -> bool:
        return id in self.state.running if state == RUNNING else state in self.domain.states.get(id, ())
