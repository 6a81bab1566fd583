"""Where the hand can take an object that is made of primitive shapes.

A grasp is a pose of the hand (x: approach, y: closing direction) between the fingers' pads. Hands come in level,
pitched down, or from above; the closing direction is always level. Lengths in metres.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from homie_core import fetch
from homie_skills.geometry import make_pose, rotation_y, rotation_z
from homie_skills.planning_scene import Shape
from homie_skills.robot import FloatArray
from homie_skills.shapes import span

MAX_WIDTH = 0.09
"""Widest part that fits between the open fingers with room to spare."""

PITCHES = tuple(math.radians(degrees) for degrees in (0, 30, 45, 60, 90))
"""How far the hand points down: level, pitched, from above."""

OPENING_MARGIN = 0.04
SUPPORT_GAP = 0.003
WRIST_GAP = 0.009

_YAWS = 24
_YAW_STEP = 2 * math.pi / _YAWS
_TIP = 0.0185
_PALM_DEPTH = 0.047
"""How deep an object may reach behind the grip point before it touches the palm."""
_HOLD_HEIGHT = 0.005
_RIM_DEPTH = 0.016
_RIM_OPENING = 0.045
"""Fits round a slanting wall, and leaves room for what is in the middle."""
_THIN = 0.012
_WORST_FIT = 0.002
_FINGERS_BELOW = np.array([[_TIP, 0.0135], [-0.0385, 0.0135]])
_HAND_BELOW = np.array([[-0.052, 0.04], [-0.174, 0.04], [-0.21, 0.055], [-0.32, 0.06]])
"""Points on the underside of the hand: x along the approach from the grip point, and how far below its axis."""


@dataclass(frozen=True, slots=True)
class Grasp:
    """One way to take an object. ``opening``: how far the fingers should be apart before they close."""

    hand: FloatArray
    opening: float
    pitch: float

    @property
    def yaw(self) -> float:
        """Level direction of approach; for a hand that points straight down, that of its back."""
        level = self.hand[:2, 0] if self.pitch < 1.5 else self.hand[:2, 2]
        return math.atan2(level[1], level[0])


def grasps(shapes: Sequence[Shape], pose: FloatArray) -> list[Grasp]:
    """All grasps of an object that stands or lies as ``pose`` (4, 4, map) says.

    Whole grasps, with the object between the fingers, come first; objects too wide for that are taken by a thin
    wall (a bowl by its rim), from above. What has none is tried from above, with the open fingers on its top: if there
    is nothing that they can close on, they close on nothing.
    """
    return list(_whole_grasps(shapes, pose)) or list(_rim_grasps(shapes, pose)) or list(_attempts(shapes, pose))


def _whole_grasps(shapes: Sequence[Shape], pose: FloatArray) -> Iterator[Grasp]:
    heading = math.atan2(pose[1, 0], pose[0, 0])
    yaws = [heading + index * _YAW_STEP for index in range(_YAWS)]
    spans = [span(shapes, pose, rotation_z(yaw)[:, 1]) for yaw in yaws]
    widths = [high - low for low, high in spans]
    bottom, top = span(shapes, pose, np.array([0.0, 0.0, 1.0]))
    for index, yaw in enumerate(yaws):
        narrowest = min(widths[index], widths[index - 1], widths[(index + 1) % _YAWS])
        # Fingers on two slanting faces would turn the object: only directions of least width hold well.
        if widths[index] > MAX_WIDTH or widths[index] > narrowest + _WORST_FIT:
            continue
        side = sum(spans[index]) / 2
        for pitch in PITCHES:
            hand = _whole_hand(shapes, pose, yaw, pitch, side, bottom, top)
            if hand is not None:
                yield Grasp(hand, min(fetch.MAX_OPENING, widths[index] + OPENING_MARGIN), pitch)


def _whole_hand(
    shapes: Sequence[Shape], pose: FloatArray, yaw: float, pitch: float, side: float, bottom: float, top: float
) -> FloatArray | None:
    """The hand with this direction, its grip point as near to the object's middle as palm and support allow."""
    rotation = rotation_z(yaw) @ rotation_y(pitch)
    forward = rotation_z(yaw)[:, 0]
    near, far = span(shapes, pose, forward)
    lowest = bottom + _room_below(pitch)
    height = max((bottom + top) / 2, lowest)
    ahead = (near + far) / 2
    back = -span(shapes, pose, -rotation[:, 0])[1]
    # Palm: along the approach the object may begin at most _PALM_DEPTH before the grip point.
    ahead, height = _leave_room(ahead, height, back, pitch)
    if height < lowest or height > top - _HOLD_HEIGHT:
        return None
    position = ahead * forward + side * rotation[:, 1] + np.array([0.0, 0.0, height])
    return make_pose(rotation, position)


def _leave_room(ahead: float, height: float, back: float, pitch: float) -> tuple[float, float]:
    """Move the grip point (``ahead``, ``height``) back along the approach until the palm is clear of the object."""
    along = ahead * math.cos(pitch) - height * math.sin(pitch)
    excess = max(0.0, along - back - _PALM_DEPTH)
    return ahead - excess * math.cos(pitch), height + excess * math.sin(pitch)


def _room_below(pitch: float) -> float:
    """How high the grip point must be above the support: fingers may come nearer to it than palm and wrist."""
    turn = np.array([math.sin(pitch), math.cos(pitch)])
    return max(float(np.max(_FINGERS_BELOW @ turn)) + SUPPORT_GAP, float(np.max(_HAND_BELOW @ turn)) + WRIST_GAP)


def _rim_grasps(shapes: Sequence[Shape], pose: FloatArray) -> Iterator[Grasp]:
    for shape in shapes:
        thin = int(np.argmin(shape.half_extents))
        if shape.half_extents[thin] > _THIN:
            continue
        placed = pose @ shape.pose
        across = placed[:3, thin]
        if abs(across[2]) > 0.7:
            continue
        top = span([shape], pose, np.array([0.0, 0.0, 1.0]))[1]
        closing = np.array([across[0], across[1], 0.0]) / np.hypot(across[0], across[1])
        height = top - _RIM_DEPTH
        # Follow the wall up to where it is held, should it lean.
        drop = (height - placed[2, 3]) * across[2] / max(1e-6, math.hypot(across[0], across[1]))
        position = np.array([placed[0, 3], placed[1, 3], height]) - np.array([closing[0], closing[1], 0.0]) * drop
        for sign in (1.0, -1.0):
            down, side = np.array([0.0, 0.0, -1.0]), sign * closing
            hand = make_pose(np.column_stack([down, side, np.cross(down, side)]), position)
            yield Grasp(hand, _RIM_OPENING, PITCHES[-1])


def _attempts(shapes: Sequence[Shape], pose: FloatArray) -> Iterator[Grasp]:
    """From straight above, over the object's middle."""
    heading = math.atan2(pose[1, 0], pose[0, 0])
    top = span(shapes, pose, np.array([0.0, 0.0, 1.0]))[1]
    for turn in range(4):
        rotation = rotation_z(heading + turn * math.pi / 2) @ rotation_y(math.pi / 2)
        yield Grasp(
            make_pose(rotation, (pose[0, 3], pose[1, 3], top + _TIP + SUPPORT_GAP)), fetch.MAX_OPENING, PITCHES[-1]
        )
