"""Which appliances run: they start as the house says, and stop for good when their door opens."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import mujoco

from homie_sim.furniture.appliances import LIT_WHEN_OFF, LIT_WHEN_ON, Appliance
from homie_sim.furniture.parts import DECORATION_GROUP, REGION_GROUP
from homie_sim.house import House
from homie_sim.readout import Readout

STOPS_AT = 0.05
"""Open fraction of the door from which an appliance stops."""


class ApplianceStates:
    """Watches the doors of one world's appliances and switches their lamps."""

    def __init__(self, model: mujoco.MjModel, house: House, readout: Readout) -> None:
        self._model = model
        self._readout = readout
        self._at_start = {piece.id: piece.on for piece in house.furniture if isinstance(piece, Appliance)}
        self._lamps = {id: _lamps(model, id) for id in self._at_start}
        self._running = dict(self._at_start)
        self.reset()

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the appliances that run, in the house's order."""
        return tuple(id for id, runs in self._running.items() if runs)

    def reset(self, running: Mapping[str, bool] | None = None) -> None:
        """As the house says, but for those of which ``running`` says whether they run."""
        for id, runs in {**self._at_start, **(running or {})}.items():
            self._switch(id, runs)

    def restore(self, running: Collection[str]) -> None:
        """Let these run, and no others."""
        for id in self._at_start:
            self._switch(id, id in running)

    def update(self, data: mujoco.MjData) -> None:
        """Stop those whose doors are open; to be called once a control tick."""
        for id in self.running:
            if self._readout.open_fraction(data, id) > STOPS_AT:
                self._switch(id, False)

    def _switch(self, id: str, runs: bool) -> None:
        self._running[id] = runs
        for geom, lit_when in self._lamps[id]:
            self._model.geom_group[geom] = DECORATION_GROUP if lit_when == runs else REGION_GROUP


def _lamps(model: mujoco.MjModel, id: str) -> list[tuple[int, bool]]:
    """Geoms of the appliance's lamps, and in which state each is seen."""
    found = []
    for geom in range(model.ngeom):
        name = model.geom(geom).name
        for word, lit_when in ((LIT_WHEN_ON, True), (LIT_WHEN_OFF, False)):
            if name.startswith(f"{id}/{word}/"):
                found.append((geom, lit_when))
    return found
