"""Random plans by physical and by instant skills: how often both succeed, and end in the same symbolic state."""

from __future__ import annotations

from homie_sim.house import load_house
from support.two_worlds import TwoWorlds

SEEDS = range(100, 112)
SUBTASKS = 6


def bench() -> list[tuple[str, float, str]]:
    """Name, value and unit of each measured figure."""
    worlds = TwoWorlds(load_house("house_1"))
    compared = [each for seed in SEEDS for each in worlds.run(seed, SUBTASKS)]
    both = [each for each in compared if each.succeeded]
    different = [each for each in both if each.physical != each.instant]
    return [
        ("subtasks tried in both worlds", len(compared), ""),
        ("that succeeded in both", len(both), ""),
        ("that failed physically alone", sum(bool(c.physical_error) and not c.instant_error for c in compared), ""),
        ("that failed instantly alone", sum(bool(c.instant_error) and not c.physical_error for c in compared), ""),
        ("that succeeded in both and ended differently", len(different), ""),
    ]
