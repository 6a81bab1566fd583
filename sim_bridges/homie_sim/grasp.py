"""What the fingers hold, and the help they get.

An object is held by finger contact. Once both fingers touch the same body while the gripper closes, an equality that
was prepared in the model takes part of the load: a weld for objects, a ball joint for handles. It is let go when the
gripper opens, or when hand and body are dragged apart by more than ``MAX_STRETCH``.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.house import House
from homie_sim.house_builder import connect_name, weld_name

MAX_STRETCH = 0.03
"""Metres that an assisted body may lag behind the hand before it slips away."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Assist:
    """A prepared equality between the gripper (body 1) and a body."""

    equality: int
    body: int
    object_id: str
    """Empty for a handle."""

    @property
    def is_weld(self) -> bool:
        return bool(self.object_id)


class Grasp:
    """Watches the finger contacts of one world and switches its assists."""

    def __init__(self, model: mujoco.MjModel, house: House) -> None:
        self._model = model
        self._gripper = model.body(fetch.GRIPPER_BODY).id
        self._fingers = tuple(
            model.body(fetch.mjcf_name(joint.removesuffix("_joint") + "_link")).id for joint in fetch.GRIPPER_JOINTS
        )
        self._assists = {assist.body: assist for assist in _assists(model, house)}
        self._active: _Assist | None = None
        self._touched: int | None = None
        self._closing = False

    @property
    def held(self) -> str:
        """Id of the object between both fingers, or empty."""
        body = self._active.body if self._active else self._touched
        return self._assists[body].object_id if body is not None else ""

    @property
    def assisted(self) -> bool:
        """Whether an equality helps the fingers now."""
        return self._active is not None

    def reset(self) -> None:
        """Forget everything; the data's equalities are off after ``mj_resetData``."""
        self._active = None
        self._touched = None
        self._closing = False

    @property
    def state(self) -> tuple[str, int | None, bool]:
        """What :meth:`restore` needs to come back to this moment, together with the data's equalities."""
        return self._active.object_id if self._active else "", self._touched, self._closing

    def restore(self, state: tuple[str, int | None, bool]) -> None:
        """Be as at ``state``; the data's equalities must be those of that moment. No handle was held then."""
        object_id, self._touched, self._closing = state
        self._active = self._assist_of(object_id) if object_id else None

    def take(self, data: mujoco.MjData, object_id: str) -> None:
        """Fix an object where it is in the hand, as if both fingers had closed on it. ``data`` must be up to date.

        Raises:
            KeyError: there is no such object.
        """
        self._release(data)
        assist = self._assist_of(object_id)
        self._touched, self._closing = assist.body, True
        self._hold(data, assist)

    def _assist_of(self, object_id: str) -> _Assist:
        return self._assists[self._model.body(object_id).id]

    def set_closing(self, data: mujoco.MjData, closing: bool) -> None:
        """Tell whether the gripper is commanded to close. Opening lets go at once."""
        self._closing = closing
        if not closing:
            self._release(data)

    def update(self, data: mujoco.MjData) -> None:
        """Look at the contacts of the last step; to be called once a control tick."""
        if self._active and self._stretch(data) > MAX_STRETCH:
            self._release(data)
            self._closing = False
        if self._active is None:
            self._touched = self._between_fingers(data)
            if self._closing and self._touched is not None:
                self._hold(data, self._assists[self._touched])

    def _between_fingers(self, data: mujoco.MjData) -> int | None:
        """The assistable body that touches both fingers; the lowest number if there are several."""
        touching: tuple[set[int], set[int]] = (set(), set())
        for first, second in self._model.geom_bodyid[data.contact.geom[: data.ncon]].tolist():
            for finger, bodies in zip(self._fingers, touching, strict=True):
                if first == finger and second in self._assists:
                    bodies.add(second)
                if second == finger and first in self._assists:
                    bodies.add(first)
        return min(touching[0] & touching[1], default=None)

    def _hold(self, data: mujoco.MjData, assist: _Assist) -> None:
        """Fix the body where it is in the hand."""
        values = self._model.eq_data[assist.equality]
        if assist.is_weld:
            values[0:3] = 0
            values[3:6] = self._in_gripper(data, data.xpos[assist.body])
            values[6:10] = _relative_quaternion(data.xquat[self._gripper], data.xquat[assist.body])
        else:
            grip = data.site(fetch.GRIP_SITE).xpos
            point = self._nearest_on_bar(data, assist.body, grip)
            values[0:3] = self._in_gripper(data, point)
            values[3:6] = data.xmat[assist.body].reshape(3, 3).T @ (point - data.xpos[assist.body])
        data.eq_active[assist.equality] = 1
        self._active = assist

    def _release(self, data: mujoco.MjData) -> None:
        if self._active:
            data.eq_active[self._active.equality] = 0
            self._active = None
            self._touched = None

    def _stretch(self, data: mujoco.MjData) -> float:
        """Distance between the point fixed in the hand and the same point of the body, metres."""
        if self._active is None:
            return 0.0
        values = self._model.eq_data[self._active.equality]
        in_hand, in_body = (values[3:6], values[0:3]) if self._active.is_weld else (values[0:3], values[3:6])
        hand = data.xpos[self._gripper] + data.xmat[self._gripper].reshape(3, 3) @ in_hand
        body = data.xpos[self._active.body] + data.xmat[self._active.body].reshape(3, 3) @ in_body
        return float(np.linalg.norm(hand - body))

    def _in_gripper(self, data: mujoco.MjData, point: Array) -> Array:
        return data.xmat[self._gripper].reshape(3, 3).T @ (point - data.xpos[self._gripper])

    def _nearest_on_bar(self, data: mujoco.MjData, handle: int, point: Array) -> Array:
        """The point of the bar's axis (the handle body's z axis) next to ``point``."""
        axis = data.xmat[handle].reshape(3, 3)[:, 2]
        return data.xpos[handle] + axis * float(axis @ (point - data.xpos[handle]))


def _assists(model: mujoco.MjModel, house: House) -> list[_Assist]:
    objects = [
        _Assist(model.equality(weld_name(entry.object)).id, model.body(entry.object).id, entry.object)
        for entry in house.objects
    ]
    handles = [
        _Assist(model.equality(connect_name(name)).id, model.body(f"{name}/handle").id, "")
        for piece in house.furniture
        for name in piece.container_ids()
    ]
    return objects + handles


def _relative_quaternion(reference: Array, quaternion: Array) -> Array:
    """``quaternion`` as seen from ``reference``; w, x, y, z."""
    inverse, result = np.empty(4), np.empty(4)
    mujoco.mju_negQuat(inverse, reference)
    mujoco.mju_mulQuat(result, inverse, quaternion)
    return result
