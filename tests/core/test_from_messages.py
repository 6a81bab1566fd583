"""Reading messages that are nothing but objects with fields: what is missing, and what is not in the protocol."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from homie_core.errors import ErrorCode
from homie_core.from_messages import (
    MessageError,
    episode_result_from_msg,
    error_code_from_text,
    metrics_from_msg,
    object_state_from_msg,
    planar_pose_from_msg,
    step_from_msg,
    time_from_msg,
)
from homie_core.world_state import Kind


def message(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**fields)


TIME = message(sec=3, nanosec=7)
UPRIGHT = message(x=0.0, y=0.0, z=0.0, w=1.0)


def vector(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> SimpleNamespace:
    return message(x=x, y=y, z=z)


def step(**fields: Any) -> SimpleNamespace:
    """A StepRecord as it was before it told what was handled."""
    values = {
        "header": message(stamp=TIME),
        "index": 2,
        "subtask": message(action="Put", target="can", destination="fridge", model="M3"),
        "success": True,
        "error_code": "",
        "feedback": "None",
        "analysis": "so",
        "prompt": "p",
        "raw_output": "r",
        "attempts": 1,
        "inventory_before": ["can"],
        "inventory_after": [],
        "planner_wall_seconds": 0.5,
        "execution_wall_seconds": 1.5,
        "sim_seconds": 2.5,
        "tokens_in": 3,
        "tokens_out": 4,
        "requests": 2,
        "cost_usd": 0.5,
    }
    return message(**{**values, **fields})


def thing(kind: str = "container", open_fraction: float = 0.5) -> SimpleNamespace:
    pose = message(position=vector(1, 2, 3), orientation=UPRIGHT)
    return message(
        id="fridge",
        category="fridge",
        kind=kind,
        pose=pose,
        box_center=vector(1, 2, 3),
        box_size=vector(1, 1, 2),
        parent="",
        open_fraction=open_fraction,
        states=["on"],
    )


def test_a_step_of_before_it_told_what_was_handled() -> None:
    read = step_from_msg(step())
    assert (read.target_id, read.destination_id, read.note) == ("", "", "")
    assert (read.subtask.brackets(), read.stamp, read.inventory_before) == (
        "[Put, can, fridge]",
        3_000_000_007,
        ("can",),
    )


def test_what_was_handled_and_the_note() -> None:
    read = step_from_msg(step(target_id="potted_meat_can_1", destination_id="fridge", note="'can' is ambiguous"))
    assert (read.target_id, read.destination_id) == ("potted_meat_can_1", "fridge")
    assert read.note == "'can' is ambiguous"


def test_a_thing() -> None:
    read = object_state_from_msg(thing(open_fraction=math.nan))
    assert (read.kind, read.position, read.quaternion, read.states) == (
        Kind.CONTAINER,
        (1.0, 2.0, 3.0),
        (0.0, 0.0, 0.0, 1.0),
        ("on",),
    )
    assert math.isnan(read.open_fraction)


def test_times_codes_poses_and_metrics() -> None:
    assert time_from_msg(TIME) == 3_000_000_007
    assert (error_code_from_text(""), error_code_from_text("L1")) == (None, ErrorCode.HAND_FULL)
    half_turn = message(position=vector(1, 2), orientation=message(x=0.0, y=0.0, z=1.0, w=0.0))
    assert planar_pose_from_msg(half_turn) == pytest.approx((1, 2, math.pi))
    assert metrics_from_msg(message(metric_names=["TP", "GC"], metric_values=[1, 0.5])) == {"TP": 1.0, "GC": 0.5}


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda: step_from_msg(step(error_code="X9")), "error_code is 'X9'; allowed: L1, L2"),
        (lambda: episode_result_from_msg(message(outcome="exploded")), "outcome is 'exploded'; allowed: ended, step_"),
        (lambda: object_state_from_msg(thing("ghost")), "kind of fridge is 'ghost'; allowed: object, furniture"),
    ],
)
def test_words_that_are_not_in_the_protocol_are_named(read: Callable[[], object], text: str) -> None:
    with pytest.raises(MessageError) as raised:
        read()
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)
