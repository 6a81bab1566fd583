"""The planners by name: ``expert``, ``replay:case_1``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from homie_planner.backend import Backend, PlannerError
from homie_planner.backends import replay
from homie_planner.backends.expert import Expert


class UnknownPlanner(PlannerError):
    """No planner has this name, or its argument is missing or not wanted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of planner. ``argument`` is what follows the colon, or empty if nothing does."""

    argument: str
    summary: str
    make: Callable[[str], Backend]


KINDS = {
    "expert": Kind("", "plans by search; sees the world and the goal", lambda _: Expert()),
    "replay": Kind("PLAN", "repeats a recorded plan or bag", replay.load),
}


def usage() -> str:
    """The planners that there are, as a user writes them."""
    return ", ".join(f"{name}:<{kind.argument}>" if kind.argument else name for name, kind in KINDS.items())


def make_planner(text: str) -> Backend:
    """The planner that ``text`` names.

    Raises:
        UnknownPlanner: there is none.
        PlannerError: its argument is not usable.
    """
    name, colon, argument = text.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        raise UnknownPlanner(f"planner {text!r} is unknown; allowed: {usage()}")
    if bool(kind.argument) != bool(colon and argument):
        raise UnknownPlanner(f"planner {text!r} is written {name}{':' + kind.argument if kind.argument else ''}")
    return kind.make(argument)


__all__ = ["KINDS", "PlannerError", "UnknownPlanner", "make_planner", "usage"]
