"""Resets and time of the embedded world."""

from __future__ import annotations

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.house import HouseError
from homie_sim.world import MujocoWorld, WorldError


def test_the_same_seed_gives_the_same_state_bit_for_bit(world: MujocoWorld) -> None:
    world.reset(seed=7)
    first = world.data.qpos.copy()
    world.tick(50)
    later = world.data.qpos.copy()
    world.reset(seed=8)
    assert not np.array_equal(first, world.data.qpos)
    world.reset(seed=7)
    assert np.array_equal(first, world.data.qpos)
    world.tick(50)
    assert np.array_equal(later, world.data.qpos)


def test_time_starts_at_zero_and_goes_by_ticks(world: MujocoWorld) -> None:
    assert world.time == 0 and world.stamp == 0
    world.tick(3)
    assert world.stamp == 30_000_000 and world.ticks == 3


def test_a_moment_lasts_until_something_changes(world: MujocoWorld) -> None:
    moments = [world.moment]
    world.world_state()
    assert world.moment == moments[0]
    world.tick()
    moments.append(world.moment)
    world.set_joint_positions({"torso_lift_joint": 0.1})
    moments.append(world.moment)
    world.pass_time(1.0)
    moments.append(world.moment)
    assert len(set(moments)) == len(moments)


@pytest.mark.parametrize("seed", range(5))
def test_everything_lies_where_it_was_put_and_stays(world: MujocoWorld, seed: int) -> None:
    world.reset(seed)
    before = world.world_state()
    world.tick(300)
    after = world.world_state()
    for entry in world.house.objects:
        assert before[entry.object].parent == entry.on
        moved = np.subtract(after[entry.object].position, before[entry.object].position)
        assert np.linalg.norm(moved) < 0.003, entry.object


def test_an_object_can_be_placed_elsewhere(world: MujocoWorld) -> None:
    for place in ("kitchen_counter/drawer_2", "fridge", "sofa", "tv_stand", "sink"):
        world.reset(3, [{"object": "potted_meat_can_1", "on": place}])
        assert world.world_state()["potted_meat_can_1"].parent == place


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        ({"object": "anvil_1", "on": "sofa"}, ["placements.0.object", "'anvil_1'", "potted_meat_can_1"]),
        ({"object": "apple_1", "on": "moon"}, ["placements.0.on", "'moon'", "brown_table"]),
        ({"object": "apple_1"}, ["placements.0.on", "Field required"]),
        ({"object": "apple_1", "on": "sofa", "under": 1}, ["placements.0.under", "1"]),
        ({"object": "apple_1", "on": "fridge", "region": "attic"}, ["region", "'attic'", "shelf_1, shelf_2"]),
        ({"object": "cracker_box_1", "on": "kitchen_counter/drawer_1"}, ["no room", "cracker_box_1"]),
        ("apple", ["placements.0", "'apple'"]),
    ],
)
def test_a_wrong_placement_is_refused_in_one_line(world: MujocoWorld, placement: object, words: list[str]) -> None:
    with pytest.raises(HouseError) as caught:
        world.reset(0, [placement])
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_the_robot_starts_as_the_house_says(world: MujocoWorld) -> None:
    start = world.house.robot
    np.testing.assert_allclose(world.base_pose(), (start.x, start.y, np.radians(start.yaw_degrees)), atol=1e-3)
    positions = world.joint_positions()
    assert set(positions) == set(fetch.JOINTS)
    for joint, value in fetch.STOWED_ARM.items():
        assert positions[joint] == pytest.approx(value, abs=1e-3)


def test_pictures_need_a_world_made_for_them(world: MujocoWorld) -> None:
    with pytest.raises(WorldError, match="render=True"):
        world.views()


def test_physics_is_fast_when_nothing_moves(world: MujocoWorld) -> None:
    world.tick(100)
    before = world.physics_wall_seconds
    world.tick(500)
    # 5 s of simulation: 0.05 s on the machine this was written on.
    assert world.physics_wall_seconds - before < 1.0
