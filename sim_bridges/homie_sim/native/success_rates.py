"""How often native skills succeed: planners can be studied with skills as good as real ones (paper, table 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from homie_core.skill import SkillTry

RATED_SKILLS = ("go_to", "pick", "put", "open", "close")

PUT_LOSS = "put_loss"
"""Beside the skills: the share of failed Puts that lose the object (E2), the others keep it in the hand."""

TABLE_4 = "table_4"

_PRESETS = {TABLE_4: "go_to=0.4532,pick=0.2245,put=0.4097,open=0.4313,close=0.3645,put_loss=0.43"}
"""Success of one try, paper, table 4. Of GPT-4o's failed Puts, 19 of 44 lost the object in the published outputs."""


class SuccessRatesError(ValueError):
    """A success rate is wrong. One line: the entry and what is allowed."""


@dataclass(frozen=True, slots=True)
class Luck:
    """What is drawn for one try. ``rng`` decides what else is random about it."""

    succeeds: bool
    loses: bool
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class SuccessRates:
    """Probability, by skill, that a try succeeds which could; 1 where none is given."""

    rates: Mapping[str, float] = field(default_factory=dict)
    put_loss: float = 0.0

    @classmethod
    def parse(cls, text: str) -> SuccessRates:
        """``go_to=0.9,pick=0.55``, the name of a preset, or an empty text for skills that always succeed.

        Raises:
            SuccessRatesError: an entry is not of this form.
        """
        rates: dict[str, float] = {}
        for entry in filter(None, _PRESETS.get(text.strip(), text).replace(" ", "").split(",")):
            name, _, value = entry.partition("=")
            if name not in (*RATED_SKILLS, PUT_LOSS) or name in rates:
                allowed = ", ".join((*RATED_SKILLS, PUT_LOSS))
                raise SuccessRatesError(f"{entry!r}; allowed: {TABLE_4}, or name=rate once each of {allowed}")
            rates[name] = _probability(entry, value)
        return cls({name: rate for name, rate in rates.items() if name != PUT_LOSS}, rates.get(PUT_LOSS, 0.0))

    def draw(self, request: SkillTry) -> Luck:
        """The luck of one try. It depends on nothing but the try, so the order of runs does not matter."""
        key = (request.step, request.attempt, *request.skill.encode())
        rng = np.random.default_rng(np.random.SeedSequence(request.seed, spawn_key=key))
        success, loss = rng.random(2).tolist()
        return Luck(success < self.rates.get(request.skill, 1.0), loss < self.put_loss, rng)


def _probability(entry: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise SuccessRatesError(f"{entry!r}; the rate must be a number from 0 to 1")
    return value
