from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from homie_skills import motion_planning
from homie_skills.inverse_kinematics import joint_limits
from homie_skills.motion_planning import RESOLUTION, densify, edge_free, nearest_turn, plan
from homie_skills.planning_scene import PlanningScene
from homie_skills.postures import FORWARD, READY, STOWED

LOWER, UPPER = joint_limits()


def wall(joints: np.ndarray) -> bool:
    """Free unless the pan is near 0 while the lift is low: the way from one side to the other leads over it."""
    return not (abs(joints[1]) < 0.2 and joints[2] > -0.8)


LEFT, RIGHT = FORWARD.copy(), FORWARD.copy()
LEFT[1], RIGHT[1] = 1.0, -1.0


def test_straight_line_where_nothing_is_in_the_way() -> None:
    path = plan(LEFT, [RIGHT], lambda _joints: True, np.random.default_rng(0))
    assert path is not None
    np.testing.assert_array_equal(path, [LEFT, RIGHT])


def test_path_round_an_obstacle_is_free_and_ends_where_it_should() -> None:
    path = plan(LEFT, [RIGHT], wall, np.random.default_rng(0))
    assert path is not None and len(path) > 2
    np.testing.assert_allclose(path[0], LEFT)
    np.testing.assert_allclose(path[-1], RIGHT)
    dense = densify(path)
    assert all(wall(joints) for joints in dense)
    assert np.all(np.abs(np.diff(dense, axis=0)) <= RESOLUTION + 1e-9)


def test_path_stays_within_limits() -> None:
    path = plan(LEFT, [RIGHT], wall, np.random.default_rng(3))
    assert path is not None
    limited = ~motion_planning.CONTINUOUS
    assert np.all(path[:, limited] >= LOWER[limited]) and np.all(path[:, limited] <= UPPER[limited])


def test_same_seed_gives_the_same_path() -> None:
    first, second = (plan(LEFT, [RIGHT], wall, np.random.default_rng(7)) for _ in range(2))
    assert first is not None and second is not None
    np.testing.assert_array_equal(first, second)


def test_blocked_goal_and_closed_way_give_none() -> None:
    rng = np.random.default_rng(0)
    assert plan(LEFT, [np.zeros(8)], wall, rng) is None
    assert plan(LEFT, [RIGHT], lambda joints: abs(joints[1]) > 0.2, rng, iterations=300) is None


def test_first_free_goal_is_preferred() -> None:
    path = plan(LEFT, [READY, RIGHT], lambda _joints: True, np.random.default_rng(0))
    assert path is not None
    np.testing.assert_array_equal(path[-1], READY)


@given(st.floats(-20, 20))
def test_nearest_turn_stays_within_half_a_turn(angle: float) -> None:
    reference = READY.copy()
    reference[7] = angle
    turned = nearest_turn(READY, reference)
    assert abs(turned[7] - angle) <= math.pi + 1e-9
    np.testing.assert_allclose(np.cos(turned), np.cos(READY), atol=1e-9)


def test_edge_looks_between_its_ends() -> None:
    assert not edge_free(LEFT, RIGHT, wall)
    assert edge_free(LEFT, LEFT, wall)


def test_unfolding_before_a_table_hits_nothing(scene: PlanningScene) -> None:
    scene.place_base((6.5, 0.82, math.pi / 2))
    path = plan(STOWED, [FORWARD], lambda joints: not scene.in_collision(joints), np.random.default_rng(0))
    assert path is not None
    assert not any(scene.in_collision(joints) for joints in densify(path))
