"""How high a base stands on a floor of several levels, and how it leans on a ramp. Metres, radians, map frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

TRACK = 0.19
"""Distance of the points of support from the base's middle: the Fetch's wheels and castors."""

Pose = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Surface:
    """A level or sloping rectangle of floor: ``height`` at its middle, rises per metre along x and y."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: float
    slope: tuple[float, float] = (0.0, 0.0)

    def holds(self, x: float, y: float) -> bool:
        return self.x[0] <= x <= self.x[1] and self.y[0] <= y <= self.y[1]

    def height_at(self, x: float, y: float) -> float:
        """Height of the surface's plane at a point."""
        along_x, along_y = x - (self.x[0] + self.x[1]) / 2, y - (self.y[0] + self.y[1]) / 2
        return self.height + self.slope[0] * along_x + self.slope[1] * along_y


@dataclass(frozen=True, slots=True)
class Footing:
    """All floor that is not at height 0. Where surfaces lie above each other the highest counts."""

    surfaces: tuple[Surface, ...] = ()

    @property
    def is_level(self) -> bool:
        """Whether all floor is at height 0."""
        return not self.surfaces

    def height(self, x: float, y: float) -> float:
        """Height of the floor at a point."""
        return max((surface.height_at(x, y) for surface in self.surfaces if surface.holds(x, y)), default=0.0)

    def stance(self, x: float, y: float, yaw: float) -> Pose:
        """Height, pitch (nose down positive) and roll (left side up positive) of a base that stands at a pose.

        The plane through four points of support: where a ramp begins or ends the base leans over gradually.
        """
        ahead_x, ahead_y = TRACK * math.cos(yaw), TRACK * math.sin(yaw)
        front, back = self.height(x + ahead_x, y + ahead_y), self.height(x - ahead_x, y - ahead_y)
        left, right = self.height(x - ahead_y, y + ahead_x), self.height(x + ahead_y, y - ahead_x)
        pitch = -math.atan2(front - back, 2 * TRACK)
        roll = math.atan2(left - right, 2 * TRACK)
        return (front + back + left + right) / 4, pitch, roll
