"""Finds the shortest plan that satisfies a key path and the goal, by A* over symbolic states.

A node of the search is a symbolic state together with what is left of a key path: a plan has to run through one key
path in order (TP 100 %) and to end in a state in which every goal condition holds. All key paths are searched at once;
two of them that have the same rest are one node.

What is left is estimated by the nodes left on the path, since an act matches at most one of them, and by the acts that
must come between them: the Go to from one place to the next, and the Pick before a Put (`_Estimate`). That never says
too much, so that the plan found is a shortest one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from homie_core.goals import Condition, satisfied
from homie_core.key_path import Pattern, pattern
from homie_core.subtask import Subtask
from homie_core.symbolic import END, Act, Domain, State, SymbolicScene
from homie_core.vocabulary import CLOSE, GO_TO, OPEN, PICK, PUT
from homie_core.world_state import owner_of

EXPANSION_LIMIT = 50_000
"""Nodes that a search may expand before it gives up."""

Rest = tuple[Pattern, ...]
"""What is left of a key path."""

_END = Pattern(END.verb)


class NoPlan(Exception):
    """There is no plan, or none was found within the limit."""


@dataclass(frozen=True)
class Problem:
    """What to plan for.

    ``rests`` holds for each key path what is left of it; ``names`` how the planner calls each thing (a key path is
    matched by names); ``present`` are the categories in the scene; ``without`` are acts that the plan must not have.
    """

    domain: Domain
    start: State
    rests: Sequence[Rest]
    conditions: Sequence[Condition]
    names: Mapping[str, str]
    present: frozenset[str] = frozenset()
    without: frozenset[Act] = frozenset()
    _patterns: dict[Act, Pattern] = field(default_factory=dict, init=False, repr=False, compare=False)
    _matching: dict[Pattern, tuple[Act, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def pattern(self, act: Act) -> Pattern:
        """What of ``act`` a key path is compared with."""
        known = self._patterns.get(act)
        if known is None:
            target = self.names.get(act.target, act.target)
            destination = self.names.get(act.destination, act.destination)
            in_hand = target if act.verb == PUT.name else ""
            known = pattern(Subtask(act.verb, target, destination), self.present, in_hand)
            self._patterns[act] = known
        return known

    def acts_for(self, node: Pattern) -> tuple[Act, ...]:
        """Every act that matches a node of a key path, possible now or not."""
        known = self._matching.get(node)
        if known is None:
            acts = (act for act in self._acts(node.verb) if act not in self.without)
            known = tuple(act for act in acts if node.accepts(self.pattern(act)))
            self._matching[node] = known
        return known

    def _acts(self, verb: str) -> Iterator[Act]:
        domain = self.domain
        if verb == GO_TO.name:
            yield from (Act(verb, id) for id in domain.categories)
        elif verb == PICK.name:
            yield from (Act(verb, id) for id in domain.movable)
        elif verb == PUT.name:
            yield from (Act(verb, id, place) for id in domain.movable for place in domain.receptacles)
        elif verb in (OPEN.name, CLOSE.name):
            yield from (Act(verb, id) for id in domain.containers)


class _Estimate:
    """A lower bound of the acts that a plan still needs."""

    def __init__(self, problem: Problem) -> None:
        self._domain = problem.domain
        self._conditions = problem.conditions
        self._ids: dict[str, tuple[str, ...]] = {}
        for id, category in problem.domain.categories.items():
            self._ids[category] = (*self._ids.get(category, ()), id)
        self._known: dict[tuple[State, Rest], int] = {}

    def __call__(self, state: State, rest: Rest) -> int:
        key = (state, rest)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(rest) + self._between(state, rest)
        return known

    def _between(self, state: State, rest: Rest) -> int:
        """Acts that are not on the path but have to come between its nodes."""
        acts = 0
        places: frozenset[str] | None = frozenset((state.near,))
        in_hand = self._domain.categories.get(state.held, "")
        moved: set[str] = set()
        for node in rest:
            if node == _END:
                return acts + int(len(rest) == 1 and not self._goal(state))
            if node.verb == PUT.name and node.target != in_hand:
                acts += 1  # its Pick
                places = None if node.target in moved else self._after_pick(state, node.target)
            if node.verb != GO_TO.name and not self._reachable(state, node, places, moved):
                acts += 1  # the Go to
            if node.verb == PICK.name:
                in_hand = node.target
                places = None if node.target in moved else self._after_pick(state, node.target)
            elif node.verb == GO_TO.name:
                places = None
            else:
                places = frozenset(self._ids.get(node.destination or node.target, ()))
            if node.verb == PUT.name:
                in_hand = ""
                moved.add(node.target)
        return acts

    def _goal(self, state: State) -> bool:
        return satisfied(self._conditions, SymbolicScene(self._domain, state))

    def _after_pick(self, state: State, category: str) -> frozenset[str]:
        """Where the robot may be after picking something of ``category``."""
        return frozenset(owner_of(self._domain.parent(state, id)) for id in self._ids.get(category, ()))

    def _reachable(self, state: State, node: Pattern, places: frozenset[str] | None, moved: set[str]) -> bool:
        """Whether the robot can do ``node`` from one of ``places`` (None: they are not known)."""
        if places is None:
            return True
        if node.verb != PICK.name:
            return any(id in places for id in self._ids.get(node.destination or node.target, ()))
        if node.target in moved:
            return True
        return any(self._near(state, id, places) for id in self._ids.get(node.target, ()))

    def _near(self, state: State, id: str, places: frozenset[str]) -> bool:
        while id:
            if id in places:
                return True
            id = owner_of(self._domain.parent(state, id))
        return False


Cost = tuple[int, int]
"""Acts, then how many of them use a thing that the robot did not go to itself but only near."""


def search(problem: Problem, limit: int = EXPANSION_LIMIT) -> tuple[Act, ...]:
    """A shortest plan, End included. Equal problems give equal plans.

    Raises:
        NoPlan: there is none, or more than ``limit`` nodes would have to be expanded.
    """
    order = count()
    estimate = _Estimate(problem)
    # Of nodes that look alike, the one that seems nearest to the end is taken first.
    queue: list[tuple[int, int, int, int, Cost, State, Rest]] = []
    parents: dict[tuple[State, Rest], tuple[tuple[State, Rest], Act] | None] = {}
    best: dict[tuple[State, Rest], Cost] = {}
    for rest in dict.fromkeys(problem.rests):
        if not all(node == _END or problem.acts_for(node) for node in rest):
            continue  # it names what is not there
        node = (problem.start, rest)
        parents[node], best[node] = None, (0, 0)
        left = estimate(*node)
        heapq.heappush(queue, (left, 0, left, next(order), (0, 0), *node))
    for _ in range(limit):
        if not queue:
            raise NoPlan("no plan reaches the goal through a key path from here")
        *_, cost, state, rest = heapq.heappop(queue)
        node = (state, rest)
        if cost > best[node]:
            continue
        if _finished(problem, state, rest):
            return _plan(parents, node)
        for act, after in _steps(problem, state, rest):
            following = (after, rest[1:] if rest and rest[0].accepts(problem.pattern(act)) else rest)
            total = (cost[0] + 1, cost[1] + _indirect(state, act))
            if total < best.get(following, (limit, 0)):
                best[following], parents[following] = total, (node, act)
                left = estimate(*following)
                heapq.heappush(queue, (total[0] + left, total[1], left, next(order), total, *following))
    raise NoPlan(f"no plan found within {limit} search steps")


def _finished(problem: Problem, state: State, rest: Rest) -> bool:
    """Whether End is all that is left, and may be said."""
    ends = not rest or rest == (_END,)
    return ends and satisfied(problem.conditions, SymbolicScene(problem.domain, state))


def _steps(problem: Problem, state: State, rest: Rest) -> Iterator[tuple[Act, State]]:
    """What can be done: all that changes something, and what the key path wants although it changes nothing."""
    yield from (step for step in problem.domain.successors(state) if step[0] not in problem.without)
    if not rest:
        return
    for act in problem.acts_for(rest[0]):
        if problem.domain.check(state, act) is None:
            after = problem.domain.apply(state, act)
            if after == state:
                yield act, after


def _indirect(state: State, act: Act) -> int:
    return int(act.verb != GO_TO.name and state.near != (act.destination or act.target))


def _plan(
    parents: Mapping[tuple[State, Rest], tuple[tuple[State, Rest], Act] | None], last: tuple[State, Rest]
) -> tuple[Act, ...]:
    acts = [END]
    step = parents[last]
    while step is not None:
        last, act = step
        acts.append(act)
        step = parents[last]
    return tuple(reversed(acts))
