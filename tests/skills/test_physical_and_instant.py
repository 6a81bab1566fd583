"""Physical and native skills end in the same symbolic state wherever both succeed (a property over random plans)."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from homie_core.skill import SkillTry
from homie_core.world_state import top_of
from homie_sim.house import load_house
from homie_sim.world import MujocoWorld
from support.physical_subtasks import move_object
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


CAN = "potted_meat_can_1"


@pytest.fixture(scope="module")
def furnished() -> TwoWorlds:
    """A house with a microwave that is low enough to reach its roof."""
    return TwoWorlds(load_house("house_2"))


def test_a_can_on_the_roof_of_a_closed_microwave_is_taken_and_does_not_go_in(furnished: TwoWorlds) -> None:
    def stand_on_roof(world: MujocoWorld) -> None:
        box = world.world_state()["microwave"]
        x, y, z = box.box_center
        move_object(world, CAN, (x, y, z + box.box_size[2] / 2 + 0.06))
        world.tick(100)
        assert world.world_state()[CAN].parent == top_of("microwave")

    tries = [SkillTry("go_to", CAN), SkillTry("pick", CAN), SkillTry("put", CAN, "microwave")]
    to, take, refused = furnished.follow(tries, stand_on_roof)
    assert to.succeeded and take.succeeded
    assert take.physical == take.instant
    assert take.physical[0] == CAN
    assert "microwave is closed" in refused.physical_error and "microwave is closed" in refused.instant_error
    assert refused.physical == take.physical == refused.instant


BOWL, LEMON = "bowl_1", "lemon_1"


def fill(world: MujocoWorld) -> None:
    """Lay a lemon in the bowl."""
    x, y, z = world.world_state()[BOWL].box_center
    move_object(world, LEMON, (x, y, z + 0.05))
    world.tick(100)
    assert world.world_state()[LEMON].parent == BOWL


def test_a_lemon_goes_into_a_bowl(worlds: TwoWorlds) -> None:
    tries = [SkillTry("go_to", LEMON), SkillTry("pick", LEMON), SkillTry("go_to", BOWL), SkillTry("put", LEMON, BOWL)]
    *_, put = worlds.follow(tries, lambda _world: None)
    assert put.succeeded, put
    assert put.physical == put.instant
    assert put.physical[1][LEMON] == BOWL


@pytest.mark.parametrize("seed", range(3))
def test_a_full_bowl_takes_along_what_is_in_it(worlds: TwoWorlds, seed: int) -> None:
    tries = [
        SkillTry("go_to", BOWL),
        SkillTry("pick", BOWL),
        SkillTry("go_to", "brown_table"),
        SkillTry("put", BOWL, "brown_table"),
    ]
    done = worlds.follow(tries, fill, seed)
    for each in done:
        assert each.succeeded, each
        assert each.physical == each.instant
        assert each.physical[1][LEMON] == BOWL
    assert done[1].physical[0] == BOWL
    assert done[-1].physical[1][BOWL] == "brown_table"
