"""Physical and native skills end in the same symbolic state wherever both succeed (a property over random plans)."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from homie_sim.house import load_house
from support.two_worlds import TwoWorlds

PLANS = 3
SUBTASKS = 6


@pytest.fixture(scope="module")
def worlds() -> TwoWorlds:
    return TwoWorlds(load_house("house_1"))


@pytest.mark.timeout(600)
@settings(
    max_examples=PLANS,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_random_plan_ends_the_same(worlds: TwoWorlds, seed: int) -> None:
    for compared in worlds.run(seed, SUBTASKS):
        if not compared.physical_error:
            assert compared.instant == compared.physical, compared.subtask
