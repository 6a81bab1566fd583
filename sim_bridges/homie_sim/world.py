"""The embedded world: a house and a Fetch in MuJoCo, moved in control ticks of simulation time. No threads, no ROS."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_core.world_state import VESSELS, WorldState
from homie_sim import arrangement, physics
from homie_sim.appliance_state import ApplianceStates
from homie_sim.describing import Describer
from homie_sim.fetch_model import FOOTING_SERVOS, SERVOS
from homie_sim.grasp import Grasp
from homie_sim.house import House, RobotStart
from homie_sim.house_builder import TIMESTEP, compile_house, describe
from homie_sim.objects import category_of
from homie_sim.occupancy import OccupancyGrid, build_grid
from homie_sim.placement import Placer
from homie_sim.readout import Readout
from homie_sim.rendering import Depth, Image, Viewer

CONTROL_PERIOD = 0.01
"""Seconds of simulation between two looks at the running commands."""

STEPS_PER_TICK = round(CONTROL_PERIOD / TIMESTEP)

OPEN_AT_START = 0.95
"""Open fraction of a container that the house leaves open."""

_SETTLE_TICKS = 200
_SETTLE_ROUNDS = 3
_SETTLE_BLOCK = 10
_SETTLED_SPEED = 0.005
_CREEPING_SPEED = 0.15
_NANOSECONDS_PER_STEP = round(TIMESTEP * 1e9)
_SNAPSHOT = mujoco.mjtState.mjSTATE_INTEGRATION


class WorldError(RuntimeError):
    """The world cannot be brought into the wanted state. One line."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment of a world, to come back to."""

    physics: NDArray[np.float64]
    grasp: tuple[str, int | None, bool]
    running: tuple[str, ...]
    steps: int


class MujocoWorld:
    """One house with one Fetch.

    Everything that moves it goes through :meth:`set_target` and :meth:`tick`; the state is what physics made of it.
    Not thread-safe: one thread owns a world.
    """

    control_period = CONTROL_PERIOD

    def __init__(self, house: House, render: bool = False) -> None:
        """Compile the house; ``reset`` brings it to life.

        Raises:
            FileNotFoundError: the Fetch's meshes are not installed.
        """
        physics.log_warnings()
        self.house = house
        self.model = compile_house(house, textured=render)
        self.data = mujoco.MjData(self.model)
        self.readout = Readout(self.model, house)
        self.grasp = Grasp(self.model, house)
        self.appliances = ApplianceStates(self.model, house, self.readout)
        self.physics_wall_seconds = 0.0
        self._placer = Placer(self.model, house, self.readout)
        self._servos = SERVOS if house.footing.is_level else SERVOS | FOOTING_SERVOS
        self._joints = {joint: self.model.joint(fetch.mjcf_name(joint)) for joint in self._servos}
        self._actuators = {joint: self.model.actuator(fetch.mjcf_name(joint)).id for joint in self._servos}
        self._qpos = {joint: int(info.qposadr[0]) for joint, info in self._joints.items()}
        self._qvel = {joint: int(info.dofadr[0]) for joint, info in self._joints.items()}
        self._viewer: Viewer | None = None
        self._renders = render
        self._steps = 0
        self.reset()

    # --- life of an episode

    def reset(self, seed: int = 0, placements: Sequence[object] = ()) -> None:
        """Put everything in its place and let it settle; then the clock reads 0.

        Args:
            seed: Varies the objects' poses a little. The same seed gives the same state, bit for bit.
            placements: What is otherwise than the house says; see :mod:`homie_sim.arrangement`.

        Raises:
            HouseError: a placement is not possible; the line names the field and what is allowed.
            WorldError: something did not come to rest.
            PhysicsError: the simulation broke down.
        """
        changes = arrangement.parse(placements, self.house, self.readout.regions)
        mujoco.mj_resetData(self.model, self.data)
        self.grasp.reset()
        self.appliances.reset(changes.running)
        self._place_robot(changes.robot or self.house.robot)
        self._open_containers(changes.open_containers(self.house))
        mujoco.mj_forward(self.model, self.data)
        self._placer.place(self.data, changes.objects, np.random.default_rng(seed))
        self._settle()
        self.data.time = 0.0
        self._steps = 0

    def _place_robot(self, start: RobotStart) -> None:
        pose = dict(zip(fetch.BASE_JOINTS, (start.x, start.y, math.radians(start.yaw_degrees)), strict=True))
        for joint, value in {**dict.fromkeys(self._servos, 0.0), **fetch.STOWED_ARM, **pose}.items():
            self.data.qpos[self._qpos[joint]] = value
            self.set_target(joint, value)
        self._stand_on_floor()
        self.set_grip_effort(fetch.MAX_GRIP_EFFORT)

    def _stand_on_floor(self) -> None:
        """Put the base on the floor below it at once."""
        for joint, value in self._stance().items():
            self.data.qpos[self._qpos[joint]] = value
            self.data.qvel[self._qvel[joint]] = 0
            self.set_target(joint, value)

    def _follow_floor(self) -> None:
        """Set the targets of height and lean to the floor below, with the rates at which they change as it drives."""
        now = self._stance()
        if not now:
            return
        period = CONTROL_PERIOD
        x, y, yaw = self.base_position()
        vx, vy, turn = (float(self.data.qvel[self._qvel[joint]]) for joint in fetch.BASE_JOINTS)
        ahead = self.house.footing.stance(x + vx * period, y + vy * period, yaw + turn * period)
        for (joint, value), soon in zip(now.items(), ahead, strict=True):
            self.set_target(joint, value, (soon - value) / period)

    def _stance(self) -> dict[str, float]:
        """Where the joints of the footing are to be; empty in a house with a level floor."""
        if self.house.footing.is_level:
            return {}
        return dict(zip(fetch.FOOTING_JOINTS, self.house.footing.stance(*self.base_position()), strict=True))

    def _open_containers(self, ids: Sequence[str]) -> None:
        for id in ids:
            container = self.readout.containers[id]
            self.data.qpos[container.qpos] = OPEN_AT_START * container.fully_open

    def _settle(self) -> None:
        """Wait until nothing moves. Round things that only roll on slowly, as they may for ever, are held up."""
        for _ in range(_SETTLE_ROUNDS):
            if self._comes_to_rest():
                break
            if float(np.abs(self.data.qvel).max()) < _CREEPING_SPEED:
                self.data.qvel[:] = 0
        else:
            dof = int(np.abs(self.data.qvel).argmax())
            body = self.model.body(int(self.model.dof_bodyid[dof])).name
            seconds = _SETTLE_ROUNDS * _SETTLE_TICKS * CONTROL_PERIOD
            raise WorldError(f"{body} does not come to rest within {seconds:.0f} s after a reset")
        self.data.qvel[:] = 0
        self.data.qacc_warmstart[:] = 0
        mujoco.mj_forward(self.model, self.data)

    def _comes_to_rest(self) -> bool:
        for _ in range(_SETTLE_TICKS // _SETTLE_BLOCK):
            physics.step(self.model, self.data, _SETTLE_BLOCK * STEPS_PER_TICK)
            if float(np.abs(self.data.qvel).max()) < _SETTLED_SPEED:
                return True
        return False

    # --- acting

    def set_target(self, joint: str, position: float, velocity: float = 0.0) -> None:
        """Where a servo is to be now; ``velocity`` makes it follow a moving target without lag."""
        self.data.ctrl[self._actuators[joint]] = position + self._servos[joint].lead * velocity

    def set_grip_effort(self, effort: float) -> None:
        """Newtons that each finger pushes with at most."""
        for joint in fetch.GRIPPER_JOINTS:
            self.model.actuator_forcerange[self._actuators[joint]] = (-effort, effort)

    def tick(self, count: int = 1) -> None:
        """Advance the simulation by ``count`` control periods; the servos hold their targets.

        Raises:
            PhysicsError: the simulation broke down; the world is of no use until its next reset.
        """
        for _ in range(count):
            self._follow_floor()
            start = time.perf_counter()
            physics.step(self.model, self.data, STEPS_PER_TICK)
            self.physics_wall_seconds += time.perf_counter() - start
            self._steps += STEPS_PER_TICK
            self.grasp.update(self.data)
            self.appliances.update(self.data)

    # --- reading

    @property
    def stamp(self) -> int:
        """Simulation time in nanoseconds."""
        return self._steps * _NANOSECONDS_PER_STEP

    @property
    def ticks(self) -> int:
        """Control ticks since the reset."""
        return self._steps // STEPS_PER_TICK

    @property
    def time(self) -> float:
        """Simulation time in seconds."""
        return self.stamp * 1e-9

    @property
    def held(self) -> str:
        """Id of the object between both fingers, or empty."""
        return self.grasp.held

    def joint_positions(self) -> dict[str, float]:
        """Position of each of ``fetch.JOINTS``, by ROS name."""
        return {joint: float(self.data.qpos[self._qpos[joint]]) for joint in fetch.JOINTS}

    def joint_velocities(self) -> dict[str, float]:
        """Velocity of each of ``fetch.JOINTS``, by ROS name."""
        return {joint: float(self.data.qvel[self._qvel[joint]]) for joint in fetch.JOINTS}

    def joint_efforts(self) -> dict[str, float]:
        """Force or torque of each servo of ``fetch.JOINTS``, by ROS name."""
        return {joint: float(self.data.actuator_force[self._actuators[joint]]) for joint in fetch.JOINTS}

    def base_pose(self) -> tuple[float, float, float]:
        """x, y, yaw of the base in the map; yaw between -pi and pi."""
        x, y, yaw = self.base_position()
        return x, y, math.remainder(yaw, 2 * math.pi)

    def base_velocity(self) -> tuple[float, float]:
        """Forward speed and turn rate of the base."""
        vx, vy, turn = (float(self.data.qvel[self._qvel[joint]]) for joint in fetch.BASE_JOINTS)
        yaw = self.base_pose()[2]
        return vx * math.cos(yaw) + vy * math.sin(yaw), turn

    def base_position(self) -> tuple[float, float, float]:
        """x, y, yaw as the joints have it: yaw goes on counting over full turns."""
        x, y, yaw = (float(self.data.qpos[self._qpos[joint]]) for joint in fetch.BASE_JOINTS)
        return x, y, yaw

    def base_stance(self) -> tuple[float, float, float]:
        """Height of the floor under the base, and its pitch and roll there; (0, 0, 0) on level ground."""
        if self.house.footing.is_level:
            return 0.0, 0.0, 0.0
        z, pitch, roll = (float(self.data.qpos[self._qpos[joint]]) for joint in fetch.FOOTING_JOINTS)
        return z, pitch, roll

    def occupancy(self) -> OccupancyGrid:
        """The floor as it is now, open doors included."""
        return build_grid(self.model, self.data, self.house, self.carried())

    def carried(self) -> tuple[str, ...]:
        """Ids of the object in the hand and of what is in that."""
        if not self.held:
            return ()
        inside = self.world_state().contents_of(self.held) if category_of(self.held) in VESSELS else ()
        return (self.held, *inside)

    def opening(self) -> float:
        """Distance between the finger pads, metres."""
        return sum(float(self.data.qpos[self._qpos[joint]]) for joint in fetch.GRIPPER_JOINTS)

    def world_state(self) -> WorldState:
        """Everything in the world, at this moment."""
        return self.readout.read(self.data, self.stamp, self.base_pose(), self.held, self.appliances.running)

    def world_description(self) -> str:
        """The world as MJCF text; compiles with ``homie_core.fetch.mesh_assets()`` as assets."""
        return describe(self.house)

    # --- pictures

    @property
    def viewer(self) -> Viewer:
        """Draws this world. Opened on first use by the thread that owns the world, which must also ``close`` it.

        Raises:
            WorldError: the world was made without ``render``.
            RenderError: no OpenGL here.
        """
        if not self._renders:
            raise WorldError("render: False; pictures need a world made with render=True")
        if self._viewer is None:
            self._viewer = Viewer(self.model, self.house)
        return self._viewer

    def views(self) -> dict[str, Image]:
        """Front, left, back and right of the present heading; (256, 256, 3) each. The robot stays as it is."""
        return self.viewer.views(self.data)

    def description(self) -> str:
        """What the four views show, in words; see :mod:`homie_sim.describing`."""
        return self._describer.describe(self.viewer.segmented_views(self.data), self.world_state())

    @cached_property
    def _describer(self) -> Describer:
        return Describer(self.model, self.house, self.readout)

    def head_camera(self) -> Image:
        """The head camera's picture; (480, 640, 3)."""
        return self.viewer.head_camera(self.data)

    def head_depth(self) -> Depth:
        """The head camera's depth, metres; (480, 640)."""
        return self.viewer.head_depth(self.data)

    def third_person(self) -> Image:
        """Robot and rooms from outside; (360, 640, 3)."""
        return self.viewer.third_person(self.data)

    def top_down(self) -> Image:
        """The whole house from straight above, north up; (480, 640, 3)."""
        return self.viewer.top_down(self.data)

    @property
    def render_wall_seconds(self) -> float:
        """Wall time spent drawing so far."""
        return 0.0 if self._viewer is None else self._viewer.wall_seconds

    def close(self) -> None:
        """Free the renderer, if there is one; in the thread that owns the world."""
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None

    # --- for tests and native skills: not physics

    def set_joint_positions(self, positions: Mapping[str, float]) -> None:
        """Put joints of the robot somewhere at once, servos included."""
        for joint, value in positions.items():
            self.data.qpos[self._qpos[joint]] = value
            self.data.qvel[self._qvel[joint]] = 0
            self.set_target(joint, value)
        self._stand_on_floor()
        mujoco.mj_forward(self.model, self.data)

    def pass_time(self, seconds: float) -> None:
        """Let the clock run on, in whole control ticks, while nothing moves."""
        steps = round(seconds / CONTROL_PERIOD) * STEPS_PER_TICK
        self._steps += steps
        self.data.time += steps * TIMESTEP

    @property
    def moment(self) -> Hashable:
        """Equal at two times between which nothing has changed that can be seen from outside."""
        data = self.data
        numbers = (data.qpos.tobytes(), data.qvel.tobytes(), data.actuator_force.tobytes())
        return self._steps, self.held, self.appliances.running, *numbers

    def snapshot(self) -> Snapshot:
        """This moment. No handle may be in the hand."""
        physics = np.empty(mujoco.mj_stateSize(self.model, _SNAPSHOT))
        mujoco.mj_getState(self.model, self.data, physics, _SNAPSHOT)
        return Snapshot(physics, self.grasp.state, self.appliances.running, self._steps)

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at ``snapshot``, the clock included."""
        mujoco.mj_setState(self.model, self.data, snapshot.physics, _SNAPSHOT)
        self.grasp.restore(snapshot.grasp)
        self.appliances.restore(snapshot.running)
        self._steps = snapshot.steps
        mujoco.mj_forward(self.model, self.data)
