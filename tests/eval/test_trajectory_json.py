"""Trajectories as JSON: what comes back is what was written, to the last digit."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.subtask import Subtask
from homie_core.world_state import Kind, ObjectState, WorldState
from homie_eval.trajectory import Trajectory
from homie_eval.trajectory_json import TrajectoryJsonError, from_json, to_json
from support.trajectories import info

TEXT = st.text(max_size=12)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
POINT = st.tuples(NUMBER, NUMBER, NUMBER)
STEP = st.builds(
    Step,
    index=st.integers(1, 99),
    subtask=st.builds(Subtask, TEXT, TEXT, TEXT, TEXT),
    success=st.booleans(),
    error_code=st.none() | st.sampled_from(ErrorCode),
    raw_output=TEXT,
    inventory_after=st.lists(TEXT, max_size=2).map(tuple),
    planner_wall_seconds=NUMBER,
    cost_usd=st.none() | NUMBER,
    stamp=st.integers(0, 2**62),
)
OBJECT = st.builds(
    ObjectState, id=TEXT, category=TEXT, kind=st.sampled_from(Kind), position=POINT, open_fraction=st.just(0.1) | NUMBER
)
STATE = st.builds(
    WorldState,
    scene=TEXT,
    stamp=st.integers(0, 2**62),
    objects=st.lists(OBJECT, max_size=3).map(tuple),
    robot_pose=POINT,
)
TRAJECTORY = st.builds(
    Trajectory,
    info=st.builds(info, TEXT),
    steps=st.lists(STEP, max_size=3).map(tuple),
    result=st.none() | st.builds(EpisodeResult, st.sampled_from(Outcome), st.integers(0, 99), TEXT, NUMBER, NUMBER),
    final_state=st.none() | STATE,
    problems=st.lists(TEXT, max_size=2).map(tuple),
)


@given(TRAJECTORY)
def test_round_trip(trajectory: Trajectory) -> None:
    assert from_json(to_json(trajectory)) == trajectory


def test_what_does_not_open_still_does_not() -> None:
    table = ObjectState("table", "brown_table", Kind.FURNITURE, (0.0, 0.0, 0.0))
    state = WorldState("house_1", 0, (table,), (0.0, 0.0, 0.0))
    back = from_json(to_json(Trajectory(info(), (), None, state))).final_state
    assert back is not None
    assert math.isnan(back["table"].open_fraction)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"info": 3}'])
def test_what_is_none_is_one_clear_line(text: str) -> None:
    with pytest.raises(TrajectoryJsonError) as error:
        from_json(text)
    assert "\n" not in str(error.value)
