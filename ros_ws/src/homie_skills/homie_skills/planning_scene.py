"""A private model of the house and the robot, in which motions are tried before the robot makes them.

It is compiled from the bridge's ``world_description`` (MJCF) and set from the world state and the robot's readings.
Only collisions with the robot, or with what it holds, are looked at. Poses are (4, 4), map frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_core.footing import Footing, Surface
from homie_core.world_state import FLOOR, Kind, WorldState
from homie_skills.geometry import inverse, make_pose, object_pose, planar_pose, rotation_x, rotation_y
from homie_skills.robot import FloatArray, UnknownTarget

IntArray = NDArray[np.intp]

CLEARANCE = 0.01
"""Distance that the robot keeps from the house while it plans."""
HELD_CLEARANCE = 0.003
"""Distance that a held object keeps from the house."""
HELD_TO_ROBOT_CLEARANCE = 0.008
SELF_CLEARANCE = 0.0
TOUCH = 0.001
"""Distance down to which hand and target come while one takes, moves or puts down the other."""

HINGE_OPEN_ANGLE = 1.57
"""Angle of a hinged door at which the world state calls it fully open."""

HAND = "hand"
ROBOT = "robot"

_FLOOR_SUFFIX = "/floor"
"""How the names of geoms end that one drives on."""

_HAND_BODIES = ("gripper_link", "l_gripper_finger_link", "r_gripper_finger_link")
_DETECTION_MARGIN = 0.02
_ROBOT_BIT, _HOUSE_BIT = 1, 2
_ALLOWED = -1.0
_SPILLING = float(np.cos(np.radians(30)))
"""Cosine of the angle by which something may lean that has something in it."""
_HULL_ARTEFACTS = (("torso_lift_link", "shoulder_lift_link"), ("torso_lift_link", "shoulder_pan_link"))
"""Links whose convex hulls meet although the links do not."""


@dataclass(frozen=True, slots=True)
class Region:
    """Free space above a supporting surface: a box whose bottom face is the surface. ``pose`` is that of its centre."""

    name: str
    pose: FloatArray
    half_size: FloatArray


@dataclass(frozen=True, slots=True)
class Handle:
    """The bar by which a container is opened.

    x axis of ``pose``: away from the closed container; z axis: along the bar.
    """

    pose: FloatArray
    is_hinge: bool
    axis: FloatArray
    anchor: FloatArray
    upper: float
    """Upper limit of the joint, radians or metres; the lower one is 0."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One collision primitive of an object. ``pose`` is in the frame of the object; sizes are MuJoCo's."""

    kind: int
    pose: FloatArray
    half_extents: FloatArray
    """Half sizes of its box along its own axes, (3,)."""


@dataclass(frozen=True, slots=True)
class Contact:
    """Two things that are too close: names of bodies, and the distance (negative: penetration)."""

    first: str
    second: str
    distance: float


class PlanningScene:
    """Where everything is, and whether a posture of the robot would hit something."""

    def __init__(self, mjcf: str, assets: Mapping[str, bytes]) -> None:
        self.model = mujoco.MjModel.from_xml_string(mjcf, dict(assets))
        self.data = mujoco.MjData(self.model)
        self._body_names = [self.model.body(index).name for index in range(self.model.nbody)]
        self._arm_address = self._addresses(fetch.ARM_WITH_TORSO_JOINTS)
        self._finger_address = self._addresses(fetch.GRIPPER_JOINTS)
        self._head_address = self._addresses(fetch.HEAD_JOINTS)
        self._base_address = self._addresses(fetch.BASE_JOINTS)
        self._grip_site = self.model.site(fetch.GRIP_SITE).id
        self._solid = (self.model.geom_contype | self.model.geom_conaffinity) != 0
        self._robot_geoms = self._subtree_geoms(fetch.BASE_BODY)
        self._floors = self._find_floors()
        self._footing = self._find_footing()
        self._threshold = np.full((self.model.ngeom, self.model.ngeom), SELF_CLEARANCE)
        self._contents: dict[str, list[str]] = {}
        self._held = ""
        self._held_address = -1
        self._grasp: FloatArray = np.eye(4)
        self._cargo: dict[str, FloatArray] = {}
        self._prepare_collision()

    # ---- state -----------------------------------------------------------------------------------------------------

    def update(self, state: WorldState, joints: Mapping[str, float], base: tuple[float, float, float]) -> None:
        """Take over where everything is; an object in the hand is attached to it, with what is in it."""
        self.detach()
        qpos = self.data.qpos
        self._contents = {}
        for thing in state.objects:
            if thing.kind is Kind.OBJECT:
                self._set_free_pose(thing.id, object_pose(thing))
                self._contents.setdefault(thing.parent, []).append(thing.id)
            elif thing.kind is Kind.CONTAINER and not np.isnan(thing.open_fraction):
                self._set_open_fraction(thing.id, thing.open_fraction)
        self._stand(base)
        for addresses, names in (
            (self._arm_address, fetch.ARM_WITH_TORSO_JOINTS),
            (self._head_address, fetch.HEAD_JOINTS),
            (self._finger_address, fetch.GRIPPER_JOINTS),
        ):
            qpos[addresses] = [joints[name] for name in names]
        self._move()
        if state.held:
            self.attach(state.held, state.contents_of(state.held))

    @property
    def arm(self) -> FloatArray:
        """Torso and arm, (8,)."""
        return self.data.qpos[self._arm_address].copy()

    @property
    def base(self) -> tuple[float, float, float]:
        """(x, y, yaw)."""
        x, y, yaw = self.data.qpos[self._base_address]
        return float(x), float(y), float(yaw)

    @property
    def held(self) -> str:
        """Id of the attached object, or empty."""
        return self._held

    @property
    def spills(self) -> bool:
        """Whether something is in what the hand holds, and would fall out of it as it leans now."""
        if not self._cargo:
            return False
        return bool(self.pose(self._held)[2, 2] < _SPILLING)

    @property
    def grasp(self) -> FloatArray:
        """Pose of the attached object in the frame of the hand."""
        return self._grasp.copy()

    @property
    def hand_pose(self) -> FloatArray:
        """Pose of the hand (site ``fetch/grip``)."""
        data, site = self.data, self._grip_site
        return make_pose(data.site_xmat[site].reshape(3, 3), data.site_xpos[site])

    @property
    def base_matrix(self) -> FloatArray:
        """Pose of the base: on the floor where it stands, be that level or not."""
        x, y, yaw = self.base
        z, pitch, roll = self._footing.stance(x, y, yaw)
        return planar_pose(x, y, yaw) @ make_pose(rotation_y(pitch) @ rotation_x(roll), (0.0, 0.0, z))

    def place_arm(self, joints: FloatArray) -> None:
        """Put torso and arm, and what is held, to ``joints`` (8,)."""
        self.data.qpos[self._arm_address] = joints
        self._move()

    def place_base(self, base: tuple[float, float, float]) -> None:
        """Put the robot, and what it holds, to ``base`` (x, y, yaw)."""
        self._stand(base)
        self._move()

    def place_fingers(self, opening: float) -> None:
        """Open the gripper to ``opening`` metres."""
        self.data.qpos[self._finger_address] = opening / 2
        self._move()

    def place_head(self, pan: float, tilt: float) -> None:
        """Turn the head to ``pan`` and ``tilt`` radians."""
        self.data.qpos[self._head_address] = pan, tilt
        self._move()

    def place_container(self, id: str, position: float) -> None:
        """Put the joint of a container to ``position`` (radians or metres); what lies in a drawer moves along."""
        before = self.pose(id)
        self.data.qpos[self._joint_address(f"{id}/joint")] = position
        self._move()
        motion = self.pose(id) @ inverse(before)
        for content in self._contents.get(id, ()):
            self._set_free_pose(content, motion @ self.pose(content))
        if self._contents.get(id):
            self._move()

    def container_position(self, id: str) -> float:
        """Position of the joint of a container."""
        return float(self.data.qpos[self._joint_address(f"{id}/joint")])

    def attach(self, id: str, cargo: Iterable[str] = ()) -> None:
        """Let the object, and the objects of ``cargo`` in it, move with the hand from now on, from where they are."""
        self.detach()
        self._held_address = self._joint_address(id)
        self._held = id
        self._grasp = inverse(self.hand_pose) @ self.pose(id)
        self._cargo = {each: inverse(self.pose(id)) @ self.pose(each) for each in cargo}
        self._set_bits(self._held_geoms(), _ROBOT_BIT)
        self._set_held_thresholds(HELD_CLEARANCE)

    def detach(self) -> None:
        """Leave the held object, and what is in it, where it is."""
        if not self._held:
            return
        self._set_bits(self._held_geoms(), _HOUSE_BIT)
        self._set_held_thresholds(CLEARANCE)
        self._held, self._cargo = "", {}

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Everything that moves inside is put back at the end; attachments are not."""
        saved = self.data.qpos.copy()
        try:
            yield
        finally:
            self.data.qpos[:] = saved
            self._move()

    # ---- what there is ---------------------------------------------------------------------------------------------

    def pose(self, id: str) -> FloatArray:
        """Pose of the body ``id``.

        Raises:
            UnknownTarget: there is none.
        """
        body = self._body(id)
        return make_pose(self.data.xmat[body].reshape(3, 3), self.data.xpos[body])

    def objects(self) -> list[str]:
        """Ids of all movable objects, the held one included."""
        return [id for contents in self._contents.values() for id in contents]

    def regions(self, owner: str) -> list[Region]:
        """Where things can be put on or in ``owner``."""
        prefix = f"{owner}/region/"
        sites = [self.model.site(index) for index in range(self.model.nsite)]
        return [
            Region(
                site.name.removeprefix(prefix),
                make_pose(self.data.site_xmat[site.id].reshape(3, 3), self.data.site_xpos[site.id]),
                self.model.site_size[site.id].copy(),
            )
            for site in sites
            if site.name.startswith(prefix)
        ]

    def handle(self, container: str) -> Handle:
        """The handle of a container, where it is now.

        Raises:
            UnknownTarget: it has none.
        """
        site = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, f"{container}/handle")
        joint = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, f"{container}/joint")
        if site < 0 or joint < 0:
            raise UnknownTarget(f"{container!r} has no handle")
        return Handle(
            pose=make_pose(self.data.site_xmat[site].reshape(3, 3), self.data.site_xpos[site]),
            is_hinge=self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE,
            axis=self.data.xaxis[joint].copy(),
            anchor=self.data.xanchor[joint].copy(),
            upper=float(self.model.jnt_range[joint, 1]),
        )

    def shapes(self, id: str) -> list[Shape]:
        """The collision primitives of an object."""
        frame = inverse(self.pose(id))
        return [
            Shape(
                int(self.model.geom_type[geom]),
                frame @ make_pose(self.data.geom_xmat[geom].reshape(3, 3), self.data.geom_xpos[geom]),
                self.model.geom_aabb[geom, 3:].copy(),
            )
            for geom in self._subtree_geoms(id)
        ]

    def house_boxes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Boxes round all solid parts of the house (floors, the robot and what it holds left out).

        Returns:
            Centres (n, 3), rotations (n, 3, 3) and half sizes (n, 3).
        """
        model, data = self.model, self.data
        chosen = self._solid & (model.geom_contype == _HOUSE_BIT)
        chosen[self._floors] = False
        rotations = data.geom_xmat[chosen].reshape(-1, 3, 3)
        centers = data.geom_xpos[chosen] + np.einsum("nij,nj->ni", rotations, model.geom_aabb[chosen, :3])
        return centers, rotations, model.geom_aabb[chosen, 3:]

    # ---- collision -------------------------------------------------------------------------------------------------

    def in_collision(self, joints: FloatArray | None = None) -> bool:
        """Whether the robot, at ``joints`` (8,) or as it is, hits or nearly hits something."""
        if joints is not None:
            self.place_arm(joints)
        return bool(self._violations().size)

    def hand_in_collision(self) -> bool:
        """Whether the hand or what it holds hits something now, which no other posture of the arm would change."""
        fixed = self._geoms_of((*_HAND_BODIES, "wrist_roll_link"))
        if self._held:
            fixed = np.concatenate([fixed, self._held_geoms()])
        chosen = self._violations()
        involved = np.isin(self.data.contact.geom[chosen], fixed)
        return bool(np.any(involved & ~np.isin(self.data.contact.geom[chosen], self._robot_geoms)[:, ::-1]))

    def contacts(self) -> list[Contact]:
        """What the robot hits or nearly hits now."""
        chosen = self._violations()
        contact = self.data.contact
        return [
            Contact(self._geom_owner(first), self._geom_owner(second), float(distance))
            for (first, second), distance in zip(contact.geom[chosen], contact.dist[chosen], strict=True)
        ]

    def held_fits(self, pose: FloatArray) -> bool:
        """Whether the held object, at ``pose``, would hit nothing of the house; hand and robot are not considered."""
        self._write_held_pose(pose)
        mujoco.mj_kinematics(self.model, self.data)
        chosen = self._violations()
        pairs = self.data.contact.geom[chosen]
        robot = np.isin(pairs, self._robot_geoms).any(axis=1)
        return not bool(np.any(~robot))

    @contextmanager
    def allowing(self, *pairs: tuple[str, str], down_to: float = _ALLOWED) -> Iterator[None]:
        """Inside, each pair may come closer, down to the given distance (negative: penetration; default: anything).

        A name is the id of a body (with all that is fixed below it), ``HAND``, ``ROBOT`` or ``FLOOR``.
        """
        saved = self._threshold.copy()
        try:
            for first, second in pairs:
                self._lower_threshold(self._group(first), self._group(second), down_to)
            yield
        finally:
            self._threshold = saved

    @contextmanager
    def tolerating_start(self, slack: float = 0.003) -> Iterator[None]:
        """Inside, pairs that are too close now may stay so, but come closer by no more than ``slack`` metres."""
        saved = self._threshold.copy()
        try:
            chosen = self._violations()
            contact = self.data.contact
            for (first, second), distance in zip(contact.geom[chosen], contact.dist[chosen], strict=True):
                limit = min(self._threshold[first, second], distance - slack)
                self._threshold[first, second] = self._threshold[second, first] = limit
            yield
        finally:
            self._threshold = saved

    # ---- internals -------------------------------------------------------------------------------------------------

    def _stand(self, base: tuple[float, float, float]) -> None:
        self.data.qpos[self._base_address] = base
        if not self._footing.is_level:
            self.data.qpos[self._addresses(fetch.FOOTING_JOINTS)] = self._footing.stance(*base)

    def _find_floors(self) -> IntArray:
        """Planes, and the blocks and ramps of a house on several levels."""
        model = self.model
        raised = np.array([model.geom(geom).name.endswith(_FLOOR_SUFFIX) for geom in range(model.ngeom)], dtype=bool)
        return np.flatnonzero(self._solid & (raised | (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)))

    def _find_footing(self) -> Footing:
        """The top faces of the floors that are boxes."""
        model, data = self.model, self.data
        mujoco.mj_kinematics(model, data)
        boxes = [geom for geom in self._floors if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX]
        return Footing(
            tuple(_top_face(data.geom_xpos[g], data.geom_xmat[g].reshape(3, 3), model.geom_size[g]) for g in boxes)
        )

    def _prepare_collision(self) -> None:
        model = self.model
        model.geom_margin[:] = _DETECTION_MARGIN
        model.geom_gap[:] = 0.0
        house = np.setdiff1d(np.flatnonzero(self._solid), self._robot_geoms)
        self._set_bits(house, _HOUSE_BIT)
        self._set_bits(self._robot_geoms, _ROBOT_BIT)
        self._threshold[np.ix_(self._robot_geoms, house)] = CLEARANCE
        self._threshold[np.ix_(house, self._robot_geoms)] = CLEARANCE
        for first, second in _HULL_ARTEFACTS:
            self._lower_threshold(
                self._body_geoms(fetch.mjcf_name(first)), self._body_geoms(fetch.mjcf_name(second)), _ALLOWED
            )
        self._lower_threshold(self._body_geoms(fetch.BASE_BODY), self._floors, _ALLOWED)
        mujoco.mj_forward(model, self.data)

    def _move(self) -> None:
        mujoco.mj_kinematics(self.model, self.data)
        if self._held:
            self._write_held_pose(self.hand_pose @ self._grasp)
            mujoco.mj_kinematics(self.model, self.data)

    def _violations(self) -> IntArray:
        mujoco.mj_collision(self.model, self.data)
        if self.data.ncon == 0:
            return np.empty(0, dtype=np.intp)
        contact = self.data.contact
        geoms = contact.geom
        return np.flatnonzero(contact.dist < self._threshold[geoms[:, 0], geoms[:, 1]])

    def _set_bits(self, geoms: IntArray, bit: int) -> None:
        """Make the geoms part of the robot or of the house; the house collides with the robot only."""
        model = self.model
        for geom in geoms:
            model.geom_contype[geom] = bit
            model.geom_conaffinity[geom] = _ROBOT_BIT | _HOUSE_BIT if bit == _ROBOT_BIT else _ROBOT_BIT
            body = model.geom_bodyid[geom]
            model.body_contype[body] = bit
            model.body_conaffinity[body] = _ROBOT_BIT | _HOUSE_BIT

    def _write_held_pose(self, pose: FloatArray) -> None:
        self._write_free_pose(self._held_address, pose)
        for id, place in self._cargo.items():
            self._set_free_pose(id, pose @ place)

    def _held_geoms(self) -> IntArray:
        """Those of the held object and of what is in it."""
        return np.concatenate([self._subtree_geoms(id) for id in (self._held, *self._cargo)])

    def _set_held_thresholds(self, clearance: float) -> None:
        held = self._held_geoms()
        house = np.setdiff1d(np.flatnonzero(self._solid), np.concatenate([self._robot_geoms, held]))
        hand = self._group(HAND)
        attached = clearance == HELD_CLEARANCE
        robot = HELD_TO_ROBOT_CLEARANCE if attached else CLEARANCE
        allowed = _ALLOWED if attached else robot
        for others, value in ((house, clearance), (self._robot_geoms, robot), (hand, allowed), (held, _ALLOWED)):
            self._threshold[np.ix_(held, others)] = value
            self._threshold[np.ix_(others, held)] = value

    def _lower_threshold(self, first: IntArray, second: IntArray, value: float) -> None:
        for rows, columns in ((first, second), (second, first)):
            block = np.ix_(rows, columns)
            self._threshold[block] = np.minimum(self._threshold[block], value)

    def _group(self, name: str) -> IntArray:
        if name == ROBOT:
            return self._robot_geoms
        if name == HAND:
            return self._geoms_of(_HAND_BODIES)
        if name == FLOOR:
            return self._floors
        return self._subtree_geoms(name)

    def _geoms_of(self, links: Iterable[str]) -> IntArray:
        return np.concatenate([self._body_geoms(fetch.mjcf_name(link)) for link in links])

    def _body(self, id: str) -> int:
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, id)
        if body < 0:
            raise UnknownTarget(f"nothing in the world is called {id!r}")
        return body

    def _body_geoms(self, id: str) -> IntArray:
        return np.flatnonzero(self._solid & (self.model.geom_bodyid == self._body(id)))

    def _subtree_geoms(self, id: str) -> IntArray:
        members = np.zeros(self.model.nbody, dtype=bool)
        root = self._body(id)
        members[root] = True
        for body in range(root + 1, self.model.nbody):
            members[body] = members[self.model.body_parentid[body]]
        return np.flatnonzero(self._solid & members[self.model.geom_bodyid])

    def _geom_owner(self, geom: int) -> str:
        return self._body_names[self.model.geom_bodyid[geom]]

    def _addresses(self, joints: Iterable[str]) -> IntArray:
        return np.array([self._joint_address(fetch.mjcf_name(joint)) for joint in joints], dtype=np.intp)

    def _joint_address(self, name: str) -> int:
        joint = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint < 0:
            raise UnknownTarget(f"the world has no joint {name!r}")
        return int(self.model.jnt_qposadr[joint])

    def _set_free_pose(self, id: str, pose: FloatArray) -> None:
        self._write_free_pose(self._joint_address(id), pose)

    def _write_free_pose(self, address: int, pose: FloatArray) -> None:
        self.data.qpos[address : address + 3] = pose[:3, 3]
        mujoco.mju_mat2Quat(self.data.qpos[address + 3 : address + 7], pose[:3, :3].flatten())

    def _set_open_fraction(self, id: str, fraction: float) -> None:
        joint = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, f"{id}/joint")
        if joint < 0:
            raise UnknownTarget(f"the world has no joint '{id}/joint'")
        hinge = self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        full = HINGE_OPEN_ANGLE if hinge else float(self.model.jnt_range[joint, 1])
        self.data.qpos[self.model.jnt_qposadr[joint]] = fraction * full


def _top_face(center: FloatArray, rotation: FloatArray, half: FloatArray) -> Surface:
    """The top face of a box that is turned by quarters about the vertical and may slope along one axis."""
    normal = rotation[:, 2]
    middle = center + half[2] * normal
    x, y = np.abs(rotation[:2, :2]) @ half[:2]
    return Surface(
        (float(middle[0] - x), float(middle[0] + x)),
        (float(middle[1] - y), float(middle[1] + y)),
        float(middle[2]),
        (float(-normal[0] / normal[2]), float(-normal[1] / normal[2])),
    )
