"""One task and seed, one trajectory: in one process or in one process per node."""

from pathlib import Path
from typing import Any

import pytest
from rosbags.highlevel import AnyReader

from homie_eval.bag import read_bag
from support.system_support import Finished, run_demo

Sample = tuple[int, tuple[float, ...]]


def motion(bag: Path) -> list[Sample]:
    """Every joint state of a bag: simulation time in nanoseconds and positions, repeated ones once."""
    samples: dict[int, tuple[float, ...]] = {}
    with AnyReader([bag]) as reader:
        connections = [c for c in reader.connections if c.topic.endswith("joint_states")]
        for connection, _, raw in reader.messages(connections):
            message: Any = reader.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            positions = tuple(message.position)
            assert samples.setdefault(stamp, positions) == positions, f"two joint states at {stamp} ns"
    return sorted(samples.items())


def what_happened(run: Finished) -> list[tuple[object, ...]]:
    (trajectory,) = read_bag(run.folder / "bag").trajectories
    return [
        (step.index, step.subtask, step.success, step.error_code, step.attempts, step.stamp, step.sim_seconds)
        for step in trajectory.steps
    ]


@pytest.fixture(scope="module")
def separate(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_demo(tmp_path_factory.mktemp("processes"), "--processes")


def test_the_same_steps(expert_run: Finished, separate: Finished) -> None:
    assert separate.code == 0, separate.output
    assert what_happened(separate) == what_happened(expert_run)


def test_the_same_motion(expert_run: Finished, separate: Finished) -> None:
    one, many = motion(expert_run.folder / "bag"), motion(separate.folder / "bag")
    assert len(one) > 100
    assert many == one


def test_the_same_world_at_the_end(expert_run: Finished, separate: Finished) -> None:
    (one,), (many,) = (read_bag(run.folder / "bag").trajectories for run in (expert_run, separate))
    assert one.final_state is not None
    # By their texts, because a thing that does not open has NaN as its open fraction, which differs from itself.
    assert repr(many.final_state) == repr(one.final_state)
