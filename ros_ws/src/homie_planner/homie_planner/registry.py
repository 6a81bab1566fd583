"""The planners by name: ``expert``, ``replay:case_1``."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from homie_planner.backend import Backend, PlannerError
from homie_planner.config import ConfigError, PlannerConfig, validated
from homie_planner.instruction import ObservationKind


class UnknownPlanner(PlannerError):
    """No planner has this name, or its argument is missing or not wanted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of planner. ``argument`` is what follows the colon, or empty if nothing does.

    ``module`` has a pydantic model ``Options`` and a function ``make(argument, options)`` that returns the backend. It
    is imported when the planner is asked for, and imports its extra libraries later still.
    """

    argument: str
    summary: str
    module: str


KINDS = {
    "expert": Kind("", "plans by search; sees the world and the goal", "homie_planner.backends.expert"),
    "human": Kind("", "a person plans, on a page in a browser", "homie_planner.backends.human"),
    "replay": Kind("PLAN", "repeats a recorded plan or bag", "homie_planner.backends.replay"),
    "openai": Kind("MODEL", "asks a model at an OpenAI-compatible endpoint", "homie_planner.backends.openai_endpoint"),
    "gguf": Kind("FILE", "runs a GGUF file on the CPU; smollm2 names a small one", "homie_planner.backends.gguf"),
    "transformers": Kind(
        "MODEL", "runs a local model, a name or a folder", "homie_planner.backends.transformers_model"
    ),
}


def usage() -> str:
    """The planners that there are, as a user writes them."""
    return ", ".join(f"{name}:<{kind.argument}>" if kind.argument else name for name, kind in KINDS.items())


def make_planner(config: PlannerConfig) -> Backend:
    """The planner that ``config`` describes.

    Raises:
        UnknownPlanner: there is none.
        PlannerError: its argument or an option is not usable, or it could not take in what it would be asked.
    """
    name, colon, argument = config.planner.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        raise UnknownPlanner(f"planner {config.planner!r} is unknown; allowed: {usage()}, or a YAML file")
    if bool(kind.argument) != bool(colon and argument):
        wanted = f"{name}:{kind.argument}" if kind.argument else name
        raise UnknownPlanner(f"planner {config.planner!r} is written {wanted}")
    module = importlib.import_module(kind.module)
    backend: Backend = module.make(argument, validated(module.Options, config.options, f"options of planner {name}"))
    _check_senses(config, backend)
    return backend


def _check_senses(config: PlannerConfig, backend: Backend) -> None:
    """A model without eyes would be asked about images that it never gets."""
    blind_model = backend.capabilities.repairs and not backend.capabilities.images
    if blind_model and config.instruction.observation is not ObservationKind.TEXT:
        backend.close()
        raise ConfigError(f"planner {config.planner!r} looks at no images: set instruction.observation=text")
