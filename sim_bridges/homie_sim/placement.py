"""Where objects start: free spots on surfaces and in containers, with a seeded jitter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_sim.house import House, HouseError, Placement
from homie_sim.objects import CATALOGUE, ObjectModel, category_of
from homie_sim.readout import Readout, Region

JITTER = 0.01
"""Metres that a given spot varies by with the seed, each way."""

YAW_JITTER = math.radians(10)

_ATTEMPTS = 300
_EDGE = 0.02
_CLEARANCE = 0.05
"""Free space between two objects: a finger must fit between them."""

_FRONT_REACH = 0.40
"""A free spot is chosen no deeper than this behind the front edge, so that an arm reaches it."""

_DROP = 0.002


@dataclass(slots=True)
class _Taken:
    """Circles on a region that are occupied: x, y, radius in the region's frame."""

    circles: list[tuple[float, float, float]] = field(default_factory=list)

    def free(self, x: float, y: float, radius: float) -> bool:
        return all(math.hypot(x - a, y - b) > radius + r + _CLEARANCE for a, b, r in self.circles)


class Placer:
    """Puts the objects of one house into the data of one model."""

    def __init__(self, model: mujoco.MjModel, house: House, readout: Readout) -> None:
        self._model = model
        self._house = house
        self._readout = readout

    def place(self, data: mujoco.MjData, overrides: Sequence[Placement], rng: np.random.Generator) -> None:
        """Write the pose of every object into ``data.qpos``: the house's own placements, or those of ``overrides``.

        Fixed spots are filled first, so that free choices avoid them. ``data`` must be at the initial pose, and both
        the house's placements and ``overrides`` checked.

        Raises:
            HouseError: no room left.
        """
        chosen = {entry.object: (entry, f"objects ({entry.object})") for entry in self._house.objects}
        chosen |= {entry.object: (entry, f"placements ({entry.object})") for entry in overrides}
        taken: dict[str, _Taken] = {region.name: _Taken() for region in self._readout.regions}
        for entry, origin in sorted(chosen.values(), key=lambda pair: pair[0].at is None):
            region, x, y = self._spot(entry, origin, taken, rng)
            model = CATALOGUE[category_of(entry.object)]
            taken[region.name].circles.append((x, y, model.radius))
            yaw = self._yaw(entry, rng)
            self._write(data, entry.object, region, (x, y, -region.half[2] + model.size[2] / 2 + _DROP), yaw)

    def _spot(
        self, entry: Placement, field: str, taken: dict[str, _Taken], rng: np.random.Generator
    ) -> tuple[Region, float, float]:
        model = CATALOGUE[category_of(entry.object)]
        regions = self._regions(entry)
        if entry.at is not None:
            jitter = rng.uniform(-JITTER, JITTER, 2)
            return regions[0], entry.at[0] + float(jitter[0]), entry.at[1] + float(jitter[1])
        for _ in range(_ATTEMPTS):
            region = regions[int(rng.integers(len(regions)))]
            spot = _random_spot(region, model, rng)
            if spot is not None and taken[region.name].free(*spot, model.radius):
                return region, *spot
        raise HouseError(f"{field}.on: no room left for {entry.object!r} on {entry.on!r}")

    def _regions(self, entry: Placement) -> list[Region]:
        own = [region for region in self._readout.regions if region.owner == entry.on]
        return [region for region in own if entry.region is None or region.name.endswith(f"/{entry.region}")]

    def _yaw(self, entry: Placement, rng: np.random.Generator) -> float:
        """A given yaw stays; otherwise the front looks to the region's front, give or take."""
        if entry.yaw_degrees is not None:
            return math.radians(entry.yaw_degrees)
        return float(rng.uniform(-YAW_JITTER, YAW_JITTER))

    def _write(
        self, data: mujoco.MjData, name: str, region: Region, local: tuple[float, float, float], yaw: float
    ) -> None:
        rotation = data.site_xmat[region.site].reshape(3, 3)
        start = int(self._model.joint(name).qposadr[0])
        data.qpos[start : start + 3] = data.site_xpos[region.site] + rotation @ np.asarray(local)
        heading = math.atan2(rotation[1, 0], rotation[0, 0]) + yaw
        data.qpos[start + 3 : start + 7] = (math.cos(heading / 2), 0, 0, math.sin(heading / 2))


def _random_spot(region: Region, model: ObjectModel, rng: np.random.Generator) -> tuple[float, float] | None:
    """A point of the region with room for the object around it, near the front; None if the region is too small."""
    margin = model.radius + _EDGE
    x, y, z = region.half
    if margin > x or margin > y or model.size[2] > 2 * z:
        return None
    deepest = max(-x + margin, x - _FRONT_REACH)
    spot: NDArray[np.float64] = rng.uniform((deepest, -y + margin), (max(deepest, x - margin), y - margin))
    return float(spot[0]), float(spot[1])
