"""Subtasks carried out physically without ROS: the monitor's checks, the executor and the M3 skills on a MuJoCo world.

What the nodes exchange over services and actions is here a function call; the decisions are those of the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch, names
from homie_core.errors import Fault
from homie_core.inventory import Inventory
from homie_core.subtask import Subtask
from homie_core.world_state import GRIPPER, Kind, WorldState
from homie_monitor.checks import Checker, Claim, Targets
from homie_monitor.incidents import incidents
from homie_sim.world import MujocoWorld
from homie_skills.executor import Assignment, Check, Execution, Executor, SkillCall, SkillResult
from homie_skills.m3 import M3
from support.direct_robot import DirectRobot

LOWEST = -0.01
"""Metres below the floor that an object's box may reach: contacts are a little soft."""

DEEPEST = 0.01
"""Metres that the robot may press into furniture: more, and it is inside of it."""

PACE = 1.5
"""Metres per second at which what was torn out of the hand leaves it."""

AFTERWARDS = 20
"""Control ticks that a disturbance lasts after the robot has stopped."""

Push = Callable[[MujocoWorld], None]
"""Something that happens to a world."""


class DisturbedWorld(MujocoWorld):
    """A world in which something may happen: ``disturb``, if there is one, is called before each control tick."""

    disturb: Push | None = None

    def tick(self, count: int = 1) -> None:
        if self.disturb is None:
            super().tick(count)
            return
        for _ in range(count):
            self.disturb(self)
            super().tick()


@dataclass
class PhysicalSubtasks:
    """One robot in one world, and what its planner believes. Counts steps as an episode does."""

    world: DisturbedWorld
    checker: Checker = field(default_factory=Checker)
    inventory: Inventory = ()
    faults: list[Fault] = field(default_factory=list)
    """Every error that the checks found, in order; those of tries that were repeated too."""
    incidents: list[str] = field(default_factory=list)
    """What happened during the tries."""

    def __post_init__(self) -> None:
        self.robot = DirectRobot(self.world)
        self._rng = np.random.default_rng(0)
        self._m3 = M3(self.robot, self.world.world_description(), fetch.mesh_assets(), self._rng)
        self._executor = Executor(self, self, {"M3": "m3"}, self.checker.setting)
        self._step = 0
        self._before: WorldState | None = None

    def begin(self) -> None:
        """Start an episode in the world as it is now, with an empty hand."""
        self.inventory, self.faults, self.incidents, self._step = (), [], [], 0
        self.world.disturb = None

    def take_stock(self) -> None:
        """Somebody else has moved something: what the robot does is told against the world as it is now."""
        self._before = self.world.world_state()

    @contextmanager
    def disturbed(self, push: Push) -> Iterator[None]:
        """Inside, ``push`` happens before each control tick; afterwards no force is left."""
        self.world.disturb = push
        yield
        # What has begun goes on for a moment although the robot has stopped.
        self.world.tick(AFTERWARDS)
        self.world.disturb = None
        self.world.data.xfrc_applied[:] = 0

    def run(self, action: str, target: str = "", destination: str = "", model: str = "M3") -> Execution:
        """Carry out a subtask and take over its inventory."""
        self._step += 1
        subtask = Subtask(action, target, destination, model)
        execution = self._executor.execute(Assignment(subtask, self.inventory, step=self._step))
        self.inventory = execution.inventory
        return execution

    def before(self, assignment: Assignment) -> Check:
        """The monitor's answer before a subtask."""
        self._before = self.world.world_state() if self.checker.sees_world else None
        permission = self.checker.before(assignment.subtask, assignment.inventory, self._before)
        return self._answer(permission.fault, permission.targets)

    def after(self, assignment: Assignment, attempt: int, start: Check, result: SkillResult) -> Check:
        """The monitor's answer after a try."""
        targets = Targets(start.object_id, start.receptacle_id)
        claim = Claim(result.success, result.message, result.code, result.fingers_shut)
        state = self.world.world_state() if self.checker.sees_world else None
        self.incidents += incidents(targets, claim, self._before, state)
        self._before = state
        verdict = self.checker.after(assignment.subtask, targets, assignment.inventory, state, claim)
        return self._answer(verdict.fault, targets, verdict.retry, result.fingers_shut)

    def execute(self, server: str, call: SkillCall) -> SkillResult:
        """One try of a skill, seeded as the skill server does it."""
        spawn = (call.step, call.attempt, *call.skill.encode())
        self._rng.bit_generator.state = np.random.PCG64(np.random.SeedSequence(call.seed, spawn_key=spawn)).state
        target, receptacle = self._id(call.object_id), self._id(call.receptacle_id)
        outcome = self._m3.execute(call.skill, target, receptacle, call.timeout)
        return SkillResult(
            outcome.success, outcome.error_msg, self.world.stamp, outcome.error_code, outcome.fingers_shut
        )

    def _id(self, name: str) -> str:
        """What a skill without background information makes of a canonical name: here it sees perfectly."""
        state = self.world.world_state()
        found = None if self.checker.sees_world or not name else names.resolve(name, state)
        return found.id if found else name

    def _answer(self, fault: Fault | None, targets: Targets, retry: bool = False, shut: bool = False) -> Check:
        if fault is not None:
            self.faults.append(fault)
        hand = "" if shut else None
        if self.checker.sees_world:
            state = self.world.world_state()
            hand = names.name_of(state.held, state) if state.held else ""
        check = Check() if fault is None else Check(fault.code, fault.feedback, fault.detail)
        ids = (targets.object_id, targets.receptacle_id)
        return replace(check, retry=retry, object_id=ids[0], receptacle_id=ids[1], hand=hand)


def pull_down(object_id: str, force: float = 1000.0) -> Push:
    """Something that tears an object down out of the hand with ``force`` newtons, more than arm and fingers bear."""
    return _tear(object_id, force, lambda _world: np.array([0.0, 0.0, -1.0]))


def knock_out(object_id: str, force: float = 1000.0) -> Push:
    """Something that knocks an object out of the hand, away from the robot and a little upwards."""

    def direction(world: MujocoWorld) -> NDArray[np.float64]:
        away = world.data.body(object_id).xpos[:2] - world.base_pose()[:2]
        return np.append(away / np.linalg.norm(away), 0.3)

    return _tear(object_id, force, direction)


def _tear(object_id: str, force: float, direction: Callable[[MujocoWorld], NDArray[np.float64]]) -> Push:
    """Pull at an object while it is held; what the hand has lost leaves it at walking pace."""
    held: list[str] = []

    def push(world: MujocoWorld) -> None:
        pull = np.zeros(3)
        if world.held == object_id:
            held[:] = [object_id]
            pull = force * direction(world)
        elif held:
            held.clear()
            world.data.joint(object_id).qvel[:] = (*(PACE * direction(world)), 0.0, 0.0, 0.0)
        world.data.xfrc_applied[world.model.body(object_id).id, :3] = pull

    return push


def draw_away(object_id: str, distance: float = 0.12) -> Push:
    """Somebody who draws an object away from the robot, by ``distance`` metres, whenever the fingers are round it."""

    def push(world: MujocoWorld) -> None:
        thing = world.data.body(object_id).xpos
        if np.linalg.norm(thing - world.data.site(fetch.GRIP_SITE).xpos) < 0.04:
            away = thing[:2] - world.base_pose()[:2]
            x, y = thing[:2] + distance * away / np.linalg.norm(away)
            move_object(world, object_id, (x, y, thing[2]))

    return push


def hold_base(world: MujocoWorld) -> None:
    """Somebody who holds the base fast: it hardly moves, however its wheels pull."""
    for joint in fetch.BASE_JOINTS:
        dof = int(world.model.joint(fetch.mjcf_name(joint)).dofadr[0])
        world.data.qvel[dof] = 0.0


def move_object(world: MujocoWorld, object_id: str, position: Sequence[float], yaw: float = 0.0) -> None:
    """Stand an object somewhere, at rest, before the episode or a motion goes on."""
    joint = world.model.joint(object_id)
    start, speed = int(joint.qposadr[0]), int(joint.dofadr[0])
    world.data.qpos[start : start + 3] = position
    world.data.qpos[start + 3 : start + 7] = (np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2))
    world.data.qvel[speed : speed + 6] = 0.0
    mujoco.mj_forward(world.model, world.data)


def assert_consistent(world: MujocoWorld) -> None:
    """The world is one that an episode can go on in.

    All numbers are finite; no object has vanished, fallen through the floor or left the house; doors and drawers are
    within their travel; the hand and the state agree; the robot is not inside of furniture.
    """
    assert np.all(np.isfinite(world.data.qpos))
    state = world.world_state()
    objects = {thing.id: thing for thing in state.objects if thing.kind is Kind.OBJECT}
    assert set(objects) == {entry.object for entry in world.house.objects}
    assert {id for id, thing in objects.items() if thing.parent == GRIPPER} == ({state.held} - {""})
    low = np.min([(room.x[0], room.y[0]) for room in world.house.rooms], axis=0)
    high = np.max([(room.x[1], room.y[1]) for room in world.house.rooms], axis=0)
    for id, thing in objects.items():
        assert thing.box_center[2] - thing.box_size[2] / 2 > LOWEST, f"{id} fell through the floor"
        assert np.all(low < thing.box_center[:2]) and np.all(thing.box_center[:2] < high), f"{id} left the house"
        assert thing.parent, f"{id} is nowhere"
    for id, container in world.readout.containers.items():
        position = float(world.data.qpos[container.qpos])
        assert -0.02 < position < container.limit + 0.02, f"{id} stands at {position:.3f}"
    assert deepest_contact(world) < DEEPEST


def deepest_contact(world: MujocoWorld) -> float:
    """How far the robot presses into the house, metres; what it holds and what it stands on do not count."""
    robot = _bodies_below(world.model, fetch.mjcf_name("base_link"))
    furniture = set().union(*(_bodies_below(world.model, piece.id) for piece in world.house.furniture))
    deepest = 0.0
    for index in range(world.data.ncon):
        contact = world.data.contact[index]
        first, second = (int(world.model.geom_bodyid[geom]) for geom in contact.geom)
        if (first in robot and second in furniture) or (second in robot and first in furniture):
            deepest = max(deepest, -float(contact.dist))
    return deepest


def _bodies_below(model: mujoco.MjModel, name: str) -> set[int]:
    below = {model.body(name).id}
    for body in range(model.nbody):
        if int(model.body_parentid[body]) in below:
            below.add(body)
    return below
