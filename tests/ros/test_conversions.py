"""Every dataclass of the protocol survives the way through its message and back, and through serialization."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from homie_core import from_messages as f
from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode, Fault, Phase
from homie_core.subtask import Subtask
from homie_core.world_state import Kind, ObjectState, WorldState
from homie_ros import conversions as c

# What a DDS string can hold: no surrogates, no NUL.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
NUMBER = st.floats(-1e6, 1e6)
SECONDS = st.floats(0, 1e6)
STAMP = st.integers(0, 2**31 * 10**9 - 1)
COUNT = st.integers(0, 2**32 - 1)
POINT = st.tuples(NUMBER, NUMBER, NUMBER)
SUBTASK = st.builds(Subtask, TEXT, TEXT, TEXT, TEXT)
STEP = st.builds(
    Step,
    index=COUNT,
    subtask=SUBTASK,
    success=st.booleans(),
    error_code=st.none() | st.sampled_from(ErrorCode),
    feedback=TEXT,
    analysis=TEXT,
    prompt=TEXT,
    raw_output=TEXT,
    target_id=TEXT,
    destination_id=TEXT,
    note=TEXT,
    attempts=st.integers(0, 255),
    inventory_before=st.lists(TEXT, max_size=3).map(tuple),
    inventory_after=st.lists(TEXT, max_size=3).map(tuple),
    planner_wall_seconds=SECONDS,
    execution_wall_seconds=SECONDS,
    sim_seconds=SECONDS,
    tokens_in=COUNT,
    tokens_out=COUNT,
    requests=COUNT,
    cost_usd=st.none() | SECONDS,
    stamp=STAMP,
)
INFO = st.builds(
    EpisodeInfo,
    episode_id=TEXT,
    benchmark=TEXT,
    task_id=TEXT,
    instruction=TEXT,
    scene=TEXT,
    seed=st.integers(0, 2**64 - 1),
    trial=COUNT,
    planner=TEXT,
    setting=TEXT,
    max_steps=COUNT,
    task_json=TEXT,
    configuration_json=TEXT,
    versions=st.dictionaries(TEXT, TEXT, max_size=3),
    format_version=COUNT,
)
RESULT = st.builds(EpisodeResult, st.sampled_from(Outcome), COUNT, TEXT, SECONDS, SECONDS)
FAULT = st.builds(Fault, st.sampled_from(ErrorCode), TEXT, st.sampled_from(Phase), TEXT)
OBJECT = st.builds(
    ObjectState,
    id=TEXT,
    category=TEXT,
    kind=st.sampled_from(Kind),
    position=POINT,
    quaternion=st.tuples(NUMBER, NUMBER, NUMBER, NUMBER),
    box_center=POINT,
    box_size=POINT,
    parent=TEXT,
    open_fraction=st.floats(0, 1),
    states=st.lists(TEXT, max_size=2).map(tuple),
)


def through_the_wire(message: Any) -> Any:
    return deserialize_message(serialize_message(message), type(message))


@given(SUBTASK)
def test_subtask(value: Subtask) -> None:
    assert f.subtask_from_msg(through_the_wire(c.subtask_to_msg(value))) == value


@given(STEP)
def test_step(value: Step) -> None:
    assert f.step_from_msg(through_the_wire(c.step_to_msg(value, "e"))) == value


@given(INFO)
def test_episode_info(value: EpisodeInfo) -> None:
    assert f.episode_info_from_msg(through_the_wire(c.episode_info_to_msg(value))) == value


@given(RESULT)
def test_episode_result(value: EpisodeResult) -> None:
    assert f.episode_result_from_msg(through_the_wire(c.episode_result_to_msg(value, "e"))) == value


@given(FAULT)
def test_fault(value: Fault) -> None:
    message = through_the_wire(c.fault_to_msg(value, "e", 3, 1, 5))
    assert (message.code, message.feedback, message.phase, message.detail) == (
        value.code,
        value.feedback,
        value.phase,
        value.detail,
    )
    assert (message.episode_id, message.step, message.attempt, f.stamp_from_msg(message)) == ("e", 3, 1, 5)


@given(OBJECT)
def test_object_state(value: ObjectState) -> None:
    assert f.object_state_from_msg(through_the_wire(c.object_state_to_msg(value))) == value


@given(st.lists(OBJECT, max_size=3), STAMP, NUMBER, NUMBER, st.floats(-3.1, 3.1))
def test_world_state(objects: list[ObjectState], stamp: int, x: float, y: float, yaw: float) -> None:
    value = WorldState("home", stamp, tuple(objects), (x, y, yaw), "apple_1")
    back = f.world_state_from_msg(through_the_wire(c.world_state_to_msg(value)))
    assert (back.scene, back.stamp, back.objects, back.held) == (value.scene, value.stamp, value.objects, value.held)
    assert back.robot_pose == pytest.approx(value.robot_pose, abs=1e-9)


def test_an_open_fraction_that_is_not_defined() -> None:
    thing = ObjectState("apple_1", "apple", Kind.OBJECT, (0, 0, 0))
    assert math.isnan(f.object_state_from_msg(through_the_wire(c.object_state_to_msg(thing))).open_fraction)


def test_score() -> None:
    metrics = {"success": 1.0, "task_progress": 0.5, "soft_error_rate": math.nan}
    message = through_the_wire(c.score_to_msg("e", "emmoe", metrics, ["node 1 matched"], steps=4, final=True))
    assert f.metrics_from_msg(message) == pytest.approx(metrics, nan_ok=True)
    assert (message.benchmark, message.steps, message.final, list(message.explanation)) == (
        "emmoe",
        4,
        True,
        ["node 1 matched"],
    )


@given(st.floats(-math.pi + 1e-6, math.pi))
def test_yaw(yaw: float) -> None:
    assert f.yaw_of_quaternion(c.quaternion_of_yaw(yaw)) == pytest.approx(yaw, abs=1e-9)
