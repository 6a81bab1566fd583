"""Steps of physics that can be believed.

MuJoCo does not stop when a state becomes infinite or absurdly large: it puts everything back to the model's initial
state and goes on. Here that is an error, which ends the episode as a failure of the infrastructure.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import mujoco

_LOG = logging.getLogger(__name__)


class PhysicsError(RuntimeError):
    """The simulation has left the range of numbers. One line that names MuJoCo's warning and what it is about."""


@dataclass(frozen=True, slots=True)
class _Breakdown:
    """A warning after which the state is not that of the episode any more; ``subject`` names what it is about."""

    warning: mujoco.mjtWarning
    quantity: str
    subject: Callable[[mujoco.MjModel, int], str]


def _of_dof(model: mujoco.MjModel, dof: int) -> str:
    return str(model.body(int(model.dof_bodyid[dof])).name)


def _of_position(model: mujoco.MjModel, address: int) -> str:
    return str(model.joint(int((model.jnt_qposadr <= address).nonzero()[0][-1])).name)


def _of_actuator(model: mujoco.MjModel, actuator: int) -> str:
    return str(model.actuator(actuator).name)


_BREAKDOWNS = (
    _Breakdown(mujoco.mjtWarning.mjWARN_BADQPOS, "position", _of_position),
    _Breakdown(mujoco.mjtWarning.mjWARN_BADQVEL, "velocity", _of_dof),
    _Breakdown(mujoco.mjtWarning.mjWARN_BADQACC, "acceleration", _of_dof),
    _Breakdown(mujoco.mjtWarning.mjWARN_BADCTRL, "control", _of_actuator),
)


def step(model: mujoco.MjModel, data: mujoco.MjData, count: int) -> None:
    """Advance by ``count`` time steps.

    Raises:
        PhysicsError: a number became infinite, not a number, or huge. ``data`` is of no use until its next reset.
    """
    mujoco.mj_step(model, data, nstep=count)
    if not data.warning.number.any():
        return
    for breakdown in _BREAKDOWNS:
        warning = data.warning[breakdown.warning]
        if warning.number:
            name = breakdown.warning.name.removeprefix("mjWARN_")
            raise PhysicsError(
                f"the simulation broke down: {name}, the {breakdown.quantity} of "
                f"{breakdown.subject(model, warning.lastinfo)} is not finite or is huge"
            )


def log_warnings() -> None:
    """Let MuJoCo's warnings of this process go to Python's log, not to a file ``MUJOCO_LOG.TXT`` wherever it runs."""
    mujoco.set_mju_user_warning(_LOG.warning)
