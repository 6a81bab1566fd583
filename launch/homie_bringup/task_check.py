"""Whether a task and its house fit together: what the task's file alone does not show.

- Every name of its key paths and its goal means something in the house.
- Its goal does not hold already at the start.
- Its key paths can be carried out, each alone, by the rules of `homie_core.symbolic`, in a way that reaches the goal.
- The expert needs as many steps as the file says, and no more than an episode has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from homie_core import goals, names
from homie_core.episode import STEP_LIMIT
from homie_core.goals import ANY_OBJECT, WorldScene
from homie_core.key_path import KeyPath
from homie_core.names import Role
from homie_core.vocabulary import CLOSE, EMMOE, OPEN, PICK, PUT
from homie_core.world_state import WorldState
from homie_eval.emmoe.tasks import Task, TaskError
from homie_planner.backends.expert import find_plan
from homie_planner.search import NoPlan
from homie_sim.house import HouseError, load_house
from homie_sim.world import MujocoWorld, WorldError

PATHS = 24
"""Key paths of a task that are carried out; of more, so many that lie evenly among them."""

_ROLES = {PICK.name: Role.PICK, PUT.name: Role.PUT_OBJECT, OPEN.name: Role.OPEN, CLOSE.name: Role.CLOSE}


def check_task(task: Task, world: MujocoWorld | None = None) -> None:
    """Check a task against its house, in the state in which its episodes start.

    Args:
        task: the task.
        world: its house; None: it is built here.

    Raises:
        TaskError: it does not fit; one line for the first thing that is wrong.
    """
    try:
        world = world or MujocoWorld(load_house(task.scene))
        world.reset(0, json.loads(task.placements_json or "[]"))
    except (HouseError, WorldError) as error:
        raise TaskError(f"task {task.id}: {error}") from error
    for fault in faults(task, world.world_state()):
        raise TaskError(f"task {task.id}: {fault}")


def faults(task: Task, start: WorldState) -> Iterator[str]:
    """What does not fit, one line each, given the world at the start. Nothing is carried out with unknown names."""
    unknown = [*_unknown_in_paths(task, start), *_unknown_in_goal(task, start)]
    yield from unknown
    if task.conditions and goals.satisfied(task.conditions, WorldScene(start)):
        yield f"goal: {'; '.join(map(str, task.conditions))}: it holds already at the start"
    if unknown:
        return
    for path in _some(task.paths):
        yield from _path_faults(task, path, start)
    yield from _length_faults(task, start)


def _unknown_in_paths(task: Task, start: WorldState) -> Iterator[str]:
    for node in dict.fromkeys(node for path in task.paths for node in path):
        verb = EMMOE.verb(node.action)
        role = _ROLES.get(verb.name, Role.VISIT) if verb else Role.VISIT
        for text, use in ((node.target, role), (node.destination, Role.PUT_PLACE)):
            if text and names.resolve(text, start, use) is None:
                yield f"key_paths: {node.brackets()}: {names.unresolved_reason(text, start)}"


def _unknown_in_goal(task: Task, start: WorldState) -> Iterator[str]:
    scene = WorldScene(start)
    for condition in task.conditions:
        for name in condition.names():
            if name != ANY_OBJECT and not scene.named(name):
                yield f"goal: {condition}: {name!r} is neither an id nor a category in {start.scene}"


def _some(paths: Sequence[KeyPath]) -> Sequence[KeyPath]:
    return paths[:: -(-len(paths) // PATHS)]


def _path_faults(task: Task, path: KeyPath, start: WorldState) -> Iterator[str]:
    """Carry out one key path alone."""
    written = ", ".join(node.brackets() for node in path)
    try:
        find_plan(task, start, paths=[path])
    except NoPlan as error:
        yield f"key_paths: {written}: cannot be carried out: {error}"


def _length_faults(task: Task, start: WorldState) -> Iterator[str]:
    acts, _ = find_plan(task, start)
    if len(acts) != task.expert_length:
        yield f"expert_length: {task.expert_length}; the expert needs {len(acts)} steps"
    if len(acts) > STEP_LIMIT:
        yield f"the expert needs {len(acts)} steps; an episode has {STEP_LIMIT}"
