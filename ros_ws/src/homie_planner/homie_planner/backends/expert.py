"""The expert: knows the state of the world and the task's goal, and plans by search.

It replans from the actual state whenever the world is not as its plan expected, after every failure at the latest. What
was too difficult it does not try again as long as there is another way. It makes no mistake that the symbols can show,
so that it must reach 100 % on a task that is not broken.

To study what re-planning is worth, it can be made to forget failures: a forgotten one is taken for a success, and the
plan is followed without a look at the world until a failure is noticed again. One that forgets them all never re-plans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from homie_core import key_path, names
from homie_core.episode import Step
from homie_core.errors import ErrorCode
from homie_core.key_path import KeyPath
from homie_core.names import Role
from homie_core.subtask import Subtask
from homie_core.symbolic import END, Act, Domain, State, from_world
from homie_core.vocabulary import CLOSE, GO_TO, OPEN, PICK, PUT
from homie_core.world_state import Kind, WorldState
from homie_eval.emmoe.tasks import Task, TaskError, from_json
from homie_planner.backend import Capabilities, Deadline, PlannerError, PlanReply, PlanRequest
from homie_planner.backends import analysis
from homie_planner.parsing import reply_text
from homie_planner.search import EXPANSION_LIMIT, NoPlan, Problem, Rest, search

_ROLES = {PICK.name: Role.PICK, PUT.name: Role.PUT_OBJECT, OPEN.name: Role.OPEN, CLOSE.name: Role.CLOSE}


_OTHER_WAY_LIMIT = EXPANSION_LIMIT // 10
"""Nodes that the search for another way may expand: if there is one, it is found soon."""


class Options(BaseModel):
    """How good a planner it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    forget: float = Field(0.0, ge=0.0, le=1.0, description="Chance that a failure is forgotten; 1: it never re-plans")


@dataclass(frozen=True, slots=True)
class _Plan:
    """The acts still to do, and the state that each one should lead to."""

    acts: tuple[Act, ...]
    domain: Domain
    state: State


class Expert:
    """The privileged planner. See the head of this file."""

    capabilities = Capabilities(privileged=True)

    def __init__(self, forget: float = 0.0) -> None:
        self.name = "expert" if forget == 0 else f"expert, forget={forget:g}"
        self._forget = forget
        self._near = ""
        self._plan: _Plan | None = None
        self._blind = False

    def reset(self) -> None:
        self._near = ""
        self._plan = None
        self._blind = False

    def close(self) -> None:
        """Nothing to give back."""

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        if request.world is None:
            raise PlannerError("the expert needs the state of the world")
        task = _task(request.task_json)
        last = request.steps[-1] if request.steps else None
        plan = self._continued(request, last) or self._searched(task, request.world, request.steps)
        act, purpose = plan.acts[0], plan.acts[1] if len(plan.acts) > 1 else END
        after = plan.domain.apply(plan.state, act)
        self._plan = _Plan(plan.acts[1:], plan.domain, after)
        spoken = _spoken(task, request.world)
        subtask = _subtask(act, spoken)
        why = _subtask(purpose, spoken) if act.verb == GO_TO.name else None
        target = request.world.get(act.target)
        chosen = replace(subtask, model=_model(subtask, None if target is None else target.kind))
        return PlanReply(reply_text(analysis.sentence(last, subtask, why), chosen))

    def _continued(self, request: PlanRequest, last: Step | None) -> _Plan | None:
        """The rest of the last plan, if its first act had just the effect that was expected, or is believed to."""
        plan, world = self._plan, request.world
        if plan is None or last is None or world is None:
            return None
        if not last.success:
            self._blind = self._forgets(request)
            # wherever the robot stands after a failure, it was not good enough
            self._near = ""
        if self._blind:
            return plan
        if not last.success:
            return None
        self._near = plan.state.near
        _, actual = from_world(world, plan.domain.categories)
        return plan if actual._replace(near=self._near) == plan.state else None

    def _forgets(self, request: PlanRequest) -> bool:
        """Whether the failure of the last step is forgotten: by seed and step, whatever else was planned."""
        rng = np.random.default_rng(np.random.SeedSequence(request.seed, spawn_key=(request.step,)))
        return bool(rng.random() < self._forget)

    def _searched(self, task: Task, world: WorldState, steps: Sequence[Step]) -> _Plan:
        try:
            acts, problem = find_plan(task, world, steps, self._near)
        except NoPlan as error:
            raise PlannerError(str(error)) from error
        return _Plan(acts, problem.domain, problem.start)


def find_plan(
    task: Task,
    world: WorldState,
    steps: Sequence[Step] = (),
    near: str = "",
    paths: Sequence[KeyPath] | None = None,
) -> tuple[tuple[Act, ...], Problem]:
    """A shortest plan for what is left of a task after ``steps``, and the problem that it solves.

    ``near`` is the id of the thing that the robot went to, empty if it may be near nothing; ``paths`` are the key paths
    that will do, by default all. Acts that proved too difficult, and things that the task does not speak of, are in the
    plan only if there is none without them.

    Raises:
        NoPlan: there is none, or it takes too long to find one.
    """
    things = world.categories
    present = frozenset(things.values())
    rests = _rests(task.paths if paths is None else paths, steps, things)
    spoken = {thing.id: names.name_of(thing.id, world) for thing in world.objects}
    failure = NoPlan("no plan")
    relevant, too_difficult = _relevant(task), _too_difficult(steps)
    choices: list[tuple[frozenset[str] | None, frozenset[Act], int]]
    choices = [(relevant, frozenset(), EXPANSION_LIMIT), (None, frozenset(), EXPANSION_LIMIT)]
    if too_difficult:
        choices.insert(0, (relevant, too_difficult, _OTHER_WAY_LIMIT))
    for kept, without, limit in choices:
        domain, state = from_world(world, kept)
        start = state._replace(near=near if near in domain.categories else "")
        problem = Problem(domain, start, rests, task.conditions, spoken, present, without)
        try:
            return search(problem, limit), problem
        except NoPlan as error:
            failure = error
    raise failure


def _too_difficult(steps: Sequence[Step]) -> frozenset[Act]:
    """What was given up after all tries, and has not been done since."""
    given_up: set[Act] = set()
    for step in steps:
        act = Act(step.subtask.action, step.target_id, step.destination_id)
        if step.success:
            given_up.discard(act)
        elif step.error_code is ErrorCode.TOO_DIFFICULT:
            given_up.add(act)
    return frozenset(given_up)


def _task(text: str) -> Task:
    try:
        return from_json(text)
    except TaskError as error:
        raise PlannerError(f"the expert needs the task with its goal and key paths: {error}") from error


def _rests(paths: Sequence[KeyPath], steps: Sequence[Step], things: Mapping[str, str]) -> tuple[Rest, ...]:
    """What is left of each key path after ``steps``; ``things`` are those of the scene, id to category."""
    present = frozenset(things.values())
    rests = []
    for path in paths:
        matched = len(key_path.task_progress([path], steps, things).steps)
        rests.append(tuple(key_path.pattern(node, present) for node in path[matched:]))
    return tuple(rests)


def _relevant(task: Task) -> frozenset[str]:
    """Ids and categories that the task speaks of. What is left out cannot be needed, save as a place to put things."""
    spoken = {name for condition in task.conditions for name in condition.names()}
    for node in {node for path in task.paths for node in path}:
        for text in (node.target, node.destination):
            spoken.update(names.parse(text).categories)
        if node.destination:
            spoken.add(names.canonical(node.destination, role=Role.PUT_PLACE))
    return frozenset(spoken)


def _spoken(task: Task, world: WorldState) -> dict[str, str]:
    """How the expert calls each thing: as the task does where that is clear, else by its canonical name."""
    spoken = {thing.id: names.name_of(thing.id, world) for thing in world.objects}
    for path in task.paths:
        for node in path:
            for text in (node.target, node.destination):
                category = names.canonical(text, {thing.category for thing in world.objects})
                things = list(world.of_category(category))
                if len(things) == 1 and spoken[things[0].id] == category:
                    spoken[things[0].id] = text
    return spoken


def _subtask(act: Act, spoken: Mapping[str, str]) -> Subtask:
    target = spoken.get(act.target, act.target)
    return Subtask(act.verb, target, spoken.get(act.destination, act.destination))


def _model(subtask: Subtask, kind: Kind | None) -> str:
    """The model that the paper gives to the action (appendix D and table E2)."""
    match subtask.action:
        case GO_TO.name:
            return "PixNav" if kind is Kind.OBJECT else "NoMaD"
        case PICK.name | PUT.name:
            return "RT-1-X"
        case OPEN.name | CLOSE.name:
            return "octo"
        case _:
            return ""


def make(argument: str, options: Options) -> Expert:
    """The expert, as good as ``options`` say."""
    return Expert(options.forget)
