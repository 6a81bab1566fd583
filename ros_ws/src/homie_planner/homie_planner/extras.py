"""Libraries that only some planners and runs need. They are installed when asked for: ``make extra-openai``."""

from __future__ import annotations

import importlib
from types import ModuleType

from homie_planner.backend import PlannerError


class MissingExtra(PlannerError):
    """What was asked for needs a library that is not installed. The text names the command that installs it."""


def require(module: str, extra: str) -> ModuleType:
    """The imported ``module``, which ``requirements/extra/<extra>.txt`` installs.

    Raises:
        MissingExtra: it is not installed, or does not load on this machine.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == top:
            raise MissingExtra(f"{top} is not installed; install it with: make extra-{extra}") from error
        raise MissingExtra(f"{top} cannot be loaded ({error}); install it anew with: make extra-{extra}") from error
