"""Physical and native skills end in the same symbolic state wherever both succeed (a property over random plans)."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from homie_sim.house import load_house
from support.two_worlds import TwoWorlds

PLANS = 4
SUBTASKS = 6

FIXED = (1, 3, 16)
"""Plans that put on a sofa and a table, and open and close a container."""


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
        if compared.succeeded:
            assert compared.instant == compared.physical, compared.subtask


@pytest.mark.parametrize("seed", FIXED)
def test_a_chosen_plan_is_done_in_both_and_ends_the_same(worlds: TwoWorlds, seed: int) -> None:
    compared = list(worlds.run(seed, SUBTASKS))
    assert sum(each.succeeded for each in compared) >= 4
    assert [each.subtask for each in compared if each.succeeded and each.instant != each.physical] == []
