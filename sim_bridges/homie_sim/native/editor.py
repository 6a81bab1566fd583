"""Changes of the world that no physics makes: the base, objects and containers are put where they are wanted."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_core.world_state import VESSELS, WorldState
from homie_sim.native.grips import grips
from homie_sim.objects import category_of
from homie_sim.world import MujocoWorld

Array = NDArray[np.float64]
Pose = tuple[float, float, float]

TOUCH = 0.002
"""Metres that two things may overlap before they count as in each other's way."""

_FLOOR_SUFFIX = "/floor"
_KNEE = 0.4
_FINGER_GAP = 0.002
_FOLDED = 0.02
_HOLD_TICKS = 8
_REST_TICKS = 60
_REST_BLOCK = 5
_RESTING_SPEED = 0.01


class Editor:
    """Edits one world. After every call the data are up to date; velocities of what was moved are zero."""

    def __init__(self, world: MujocoWorld) -> None:
        self.world = world
        model = world.model
        self._base = model.body(fetch.BASE_BODY).id
        self._robot_tree = int(model.body_treeid[self._base])
        self._floors = np.array([_is_floor(model, geom) for geom in range(model.ngeom)])
        self._fingers = {
            joint: _solid_geoms(model, model.body(fetch.mjcf_name(joint.removesuffix("_joint") + "_link")).id)
            for joint in fetch.GRIPPER_JOINTS
        }

    # --- the robot

    def stand(self, pose: Pose) -> None:
        """Put the base at ``pose``; what is in the hand comes along."""
        carried = self.world.carried()
        before = self._frame(self._base)
        self.world.set_joint_positions(dict(zip(fetch.BASE_JOINTS, pose, strict=True)))
        self._carry(carried, before, self._frame(self._base))

    def fold_arm(self) -> None:
        """Fold torso and arm; what is in the hand comes along, a vessel level."""
        postures = _postures(self.world.held)
        if any(self._is_at(posture) for posture in postures):
            return
        self._put_arm(postures[0])

    def _is_at(self, posture: Mapping[str, float]) -> bool:
        present = self.world.joint_positions()
        return all(abs(present[joint] - value) < _FOLDED for joint, value in posture.items())

    def _put_arm(self, posture: Mapping[str, float]) -> None:
        carried, gripper = self.world.carried(), self.world.model.body(fetch.GRIPPER_BODY).id
        before = self._frame(gripper)
        self.world.set_joint_positions(posture)
        self._carry(carried, before, self._frame(gripper))

    def take(self, object_id: str) -> bool:
        """Put an object between the fingers of the folded arm and close them; False if it fits nowhere.

        What is in it comes along.
        """
        world = self.world
        load = (object_id, *world.world_state().contents_of(object_id))
        ways = list(grips(world.model, world.data, object_id))
        for posture, grip in itertools.product(_postures(object_id), ways):
            self._put_arm(posture)
            self._open_fingers(grip.width / 2 + _FINGER_GAP)
            hand = self._frame(world.data.site(fetch.GRIP_SITE).id, site=True)
            self._carry(load, self._frame(world.model.body(object_id).id), hand @ grip.pose)
            if not self._hits_robot(load):
                break
        else:
            return False
        self._close_fingers(object_id)
        world.grasp.take(world.data, object_id)
        world.tick(_HOLD_TICKS)
        return world.held == object_id

    def let_go(self) -> None:
        """Open the hand; what was in it stays where it is until time passes."""
        self.world.grasp.set_closing(self.world.data, False)
        self._open_fingers(fetch.FINGER_TRAVEL)

    # --- the house

    def place(self, object_id: str, position: Array, yaw: float) -> None:
        """Put an object, with what is in it, upright at ``position`` (3,), the middle of its bounding box."""
        pose = np.eye(4)
        pose[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
        pose[:3, 3] = position
        load = (object_id, *self.world.world_state().contents_of(object_id))
        self._carry(load, self._frame(self.world.model.body(object_id).id), pose)

    def move_container(self, container_id: str, position: float, state: WorldState) -> None:
        """Set the joint of a door or drawer; what lies inside of it, by ``state``, comes along."""
        joint = self.world.model.joint(f"{container_id}/joint")
        body = int(joint.bodyid[0])
        before = self._frame(body)
        self.world.data.qpos[joint.qposadr[0]] = position
        self.world.data.qvel[joint.dofadr[0]] = 0
        mujoco.mj_forward(self.world.model, self.world.data)
        if self._moves_contents(container_id, body):
            self._carry(state.contents_of(container_id), before, self._frame(body))
        self.world.appliances.update(self.world.data)

    def rest(self, object_id: str) -> bool:
        """Let time pass until an object rests; False if it does not."""
        start = int(self.world.model.joint(object_id).dofadr[0])
        for _ in range(_REST_TICKS // _REST_BLOCK):
            self.world.tick(_REST_BLOCK)
            if float(np.abs(self.world.data.qvel[start : start + 6]).max()) < _RESTING_SPEED:
                return True
        return False

    def ground(self, x: float, y: float) -> float:
        """Height of the first thing below a point at the height of the robot's knees: the floor, where it is free."""
        high = self.base_height() + _KNEE
        point, down = np.array([x, y, high]), np.array([0.0, 0.0, -1.0])
        return high - float(mujoco.mj_ray(self.world.model, self.world.data, point, down, None, True, -1, None))

    def base_height(self) -> float:
        """Height of the floor that the base stands on."""
        return float(self.world.data.xpos[self._base][2])

    # --- what is in the way

    def obstacle(self) -> str:
        """Name of a body that the robot, or what it holds, overlaps; empty if there is none."""
        return self._overlapped(self._robot_bodies())

    def obstacle_of(self, container_id: str, state: WorldState) -> str:
        """Name of a body that a door or drawer, or what lies inside by ``state``, overlaps; empty if there is none."""
        model = self.world.model
        body = int(model.joint(f"{container_id}/joint").bodyid[0])
        moving = np.array([_is_below(model, each, body) for each in range(model.nbody)])
        moving[[model.body(each).id for each in state.contents_of(container_id)]] = True
        return self._overlapped(moving)

    def obstacle_of_object(self, object_id: str) -> str:
        """Name of a body that an object, or what is in it, overlaps; empty if there is none."""
        model = self.world.model
        load = (object_id, *self.world.world_state().contents_of(object_id))
        return self._overlapped(np.isin(np.arange(model.nbody), [model.body(each).id for each in load]))

    def _robot_bodies(self) -> NDArray[np.bool_]:
        own = self.world.model.body_treeid == self._robot_tree
        own[[self.world.model.body(each).id for each in self.world.carried()]] = True
        return own

    def _overlapped(self, bodies: NDArray[np.bool_]) -> str:
        """Name of the first body outside of ``bodies`` (nbody,) that one of them overlaps; floors do not count."""
        model, contact = self.world.model, self.world.data.contact
        for first, second, distance in zip(*contact.geom.T.tolist(), contact.dist.tolist(), strict=True):
            if distance > -TOUCH or self._floors[first] or self._floors[second]:
                continue
            one, other = int(model.geom_bodyid[first]), int(model.geom_bodyid[second])
            if bodies[one] != bodies[other]:
                return str(model.body(other if bodies[one] else one).name)
        return ""

    def _hits_robot(self, object_ids: Sequence[str]) -> bool:
        model, contact = self.world.model, self.world.data.contact
        bodies = [model.body(object_id).id for object_id in object_ids]
        pairs = model.geom_bodyid[contact.geom[contact.dist < -TOUCH]]
        ours = pairs[np.isin(pairs, bodies).any(axis=1)]
        return bool((model.body_treeid[ours] == self._robot_tree).any())

    # --- parts

    def _open_fingers(self, travel: float) -> None:
        travel = min(travel, fetch.FINGER_TRAVEL)
        self.world.set_joint_positions(dict.fromkeys(fetch.GRIPPER_JOINTS, travel))

    def _close_fingers(self, object_id: str) -> None:
        """Bring each finger to the object's surface; its servo goes on, so that fingers which lose it close."""
        world = self.world
        solid = _solid_geoms(world.model, world.model.body(object_id).id)
        travel = world.joint_positions()
        goal = {
            joint: float(np.clip(travel[joint] - self._gap(geoms, solid), 0, fetch.FINGER_TRAVEL))
            for joint, geoms in self._fingers.items()
        }
        world.set_joint_positions(goal)
        for joint in goal:
            world.set_target(joint, 0.0)

    def _gap(self, ours: NDArray[np.intp], theirs: NDArray[np.intp]) -> float:
        return min(
            mujoco.mj_geomDistance(self.world.model, self.world.data, one, other, fetch.MAX_OPENING, None)
            for one in ours.tolist()
            for other in theirs.tolist()
        )

    def _write(self, object_id: str, pose: Array) -> None:
        joint = self.world.model.joint(object_id)
        position, velocity = int(joint.qposadr[0]), int(joint.dofadr[0])
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, pose[:3, :3].ravel())
        self.world.data.qpos[position : position + 3] = pose[:3, 3]
        self.world.data.qpos[position + 3 : position + 7] = quaternion
        self.world.data.qvel[velocity : velocity + 6] = 0

    def _carry(self, object_ids: Sequence[str], before: Array, after: Array) -> None:
        """Move objects as something else has moved, from frame ``before`` to ``after``; (4, 4) each."""
        change = after @ np.linalg.inv(before)
        for object_id in object_ids:
            self._write(object_id, change @ self._frame(self.world.model.body(object_id).id))
        mujoco.mj_forward(self.world.model, self.world.data)

    def _frame(self, index: int, site: bool = False) -> Array:
        """Pose (4, 4, map) of a body or a site."""
        data = self.world.data
        pose = np.eye(4)
        pose[:3, :3] = (data.site_xmat if site else data.xmat)[index].reshape(3, 3)
        pose[:3, 3] = (data.site_xpos if site else data.xpos)[index]
        return pose

    def _moves_contents(self, container_id: str, body: int) -> bool:
        """Whether the container's regions are on what moves, as in a drawer, and not behind it, as in a fridge."""
        model = self.world.model
        sites = [region.site for region in self.world.readout.regions if region.owner == container_id]
        return any(_is_below(model, int(model.site_bodyid[site]), body) for site in sites)


def _postures(object_id: str) -> tuple[Mapping[str, float], ...]:
    """Of the folded arm with this in the hand; nothing: an empty id."""
    return fetch.LEVEL_ARMS if object_id and category_of(object_id) in VESSELS else (fetch.STOWED_ARM,)


def _is_below(model: mujoco.MjModel, body: int, root: int) -> bool:
    while body > 0:
        if body == root:
            return True
        body = int(model.body_parentid[body])
    return root == 0


def _solid_geoms(model: mujoco.MjModel, body: int) -> NDArray[np.intp]:
    return np.flatnonzero((model.geom_bodyid == body) & (model.geom_contype != 0))


def _is_floor(model: mujoco.MjModel, geom: int) -> bool:
    """Planes, and the blocks and ramps of raised floors."""
    is_plane = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE
    return bool(is_plane or model.geom(geom).name.endswith(_FLOOR_SUFFIX))
