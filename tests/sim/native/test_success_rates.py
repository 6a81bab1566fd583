"""Rates are read strictly, and luck depends on the try alone."""

import pytest

from homie_core.skill import SkillTry
from homie_sim.native.success_rates import RATED_SKILLS, TABLE_4, SuccessRates, SuccessRatesError

TRIES = 4000


def test_nothing_given_always_succeeds() -> None:
    rates = SuccessRates.parse("")
    assert all(rates.draw(SkillTry(skill, seed=seed)).succeeds for skill in RATED_SKILLS for seed in range(50))


def test_entries_are_read() -> None:
    rates = SuccessRates.parse(" go_to=0.9362, pick=0.55,put_loss=1")
    assert rates.rates == {"go_to": 0.9362, "pick": 0.55}
    assert rates.put_loss == 1.0


def test_the_papers_table_is_complete() -> None:
    rates = SuccessRates.parse(TABLE_4)
    assert rates.rates == {"go_to": 0.4532, "pick": 0.2245, "put": 0.4097, "open": 0.4313, "close": 0.3645}
    assert 0 < rates.put_loss < 1


@pytest.mark.parametrize("text", ["fly=0.5", "pick", "pick=", "pick=1.1", "pick=-0.1", "pick=nan", "pick=1,pick=1"])
def test_a_wrong_entry_is_named(text: str) -> None:
    with pytest.raises(SuccessRatesError, match=text.partition(",")[0]) as caught:
        SuccessRates.parse(text)
    assert "\n" not in str(caught.value)


def test_the_rate_is_met() -> None:
    rates = SuccessRates.parse("pick=0.55,put_loss=0.3")
    lucks = [rates.draw(SkillTry("pick", seed=seed, step=seed % 7 + 1)) for seed in range(TRIES)]
    assert sum(luck.succeeds for luck in lucks) / TRIES == pytest.approx(0.55, abs=0.03)
    assert sum(luck.loses for luck in lucks) / TRIES == pytest.approx(0.3, abs=0.03)


def test_every_part_of_the_try_matters_and_nothing_else() -> None:
    rates = SuccessRates.parse("pick=0.5,open=0.5")
    base = SkillTry("pick", seed=3, step=2, attempt=1)
    others = [
        SkillTry("open", seed=3, step=2, attempt=1),
        SkillTry("pick", seed=4, step=2, attempt=1),
        SkillTry("pick", seed=3, step=3, attempt=1),
        SkillTry("pick", seed=3, step=2, attempt=2),
        SkillTry("pick", seed=2**63, step=2, attempt=1),
    ]
    drawn = [rates.draw(each).rng.random() for each in (base, *others)]
    assert len(set(drawn)) == len(drawn)
    assert rates.draw(SkillTry("pick", "apple_1", seed=3, step=2, attempt=1)).rng.random() == drawn[0]
