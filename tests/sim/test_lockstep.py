"""The thread that owns a world."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.commands import CANCELLED, GripperCommand, JointTrajectoryCommand, NavigateCommand, Outcome, Part
from homie_sim.house import House, HouseError
from homie_sim.lockstep import LockstepLoop, LoopDeadlineError, LoopError
from homie_sim.world import MujocoWorld

DEADLINE = 20.0


@pytest.fixture
def loop(house: House) -> Iterator[LockstepLoop]:
    with LockstepLoop(MujocoWorld(house)) as running:
        yield running


def now(loop: LockstepLoop) -> float:
    return loop.call(lambda world: world.time, DEADLINE)


class Broken:
    """A command that fails while it runs."""

    part = Part.HEAD

    def start(self, world: MujocoWorld) -> Outcome | None:
        return None

    def update(self, world: MujocoWorld) -> Outcome | None:
        raise ZeroDivisionError("the head came off")

    def stop(self, world: MujocoWorld) -> None:
        pass


class Endless(Broken):
    """A command that never ends by itself."""

    part = Part.ARM

    def update(self, world: MujocoWorld) -> Outcome | None:
        return None


def test_time_stands_still_without_a_command(loop: LockstepLoop) -> None:
    time.sleep(0.05)
    assert now(loop) == 0


def test_a_command_runs_to_its_end_and_time_stops_again(loop: LockstepLoop) -> None:
    assert loop.submit(GripperCommand(0.1)).wait(DEADLINE).ok
    ended = now(loop)
    assert ended > 0.9
    time.sleep(0.05)
    assert now(loop) == ended


def test_commands_for_different_parts_run_together(loop: LockstepLoop) -> None:
    handles = [
        loop.submit(GripperCommand(0.1)),
        loop.submit(JointTrajectoryCommand(fetch.HEAD_JOINTS, [[0.5, 0.3]], [1.0])),
        loop.submit(NavigateCommand(3.4, 1.6, 1.0)),
    ]
    assert all(handle.wait(DEADLINE).ok for handle in handles)


def test_a_new_command_for_the_same_part_replaces_the_old_one(loop: LockstepLoop) -> None:
    first = loop.submit(Endless())
    second = loop.submit(JointTrajectoryCommand(["wrist_roll_joint"], [[2.0]], [0.5]))
    assert first.wait(DEADLINE) is CANCELLED
    assert second.wait(DEADLINE).ok


def test_cancel_stops_where_the_robot_is(loop: LockstepLoop) -> None:
    handle = loop.submit(Endless())
    handle.cancel()
    assert handle.wait(DEADLINE) is CANCELLED and handle.done
    handle.cancel()


def test_a_deadline_says_what_was_waited_for(loop: LockstepLoop) -> None:
    handle = loop.submit(Endless())
    with pytest.raises(LoopDeadlineError, match=r"waited 0.05 s for the end of Endless"):
        handle.wait(0.05)
    with pytest.raises(LoopDeadlineError, match=r"for a nap"):
        loop.call(lambda world: time.sleep(0.3), 0.05, "a nap")


def test_calls_are_served_while_a_command_runs(loop: LockstepLoop) -> None:
    loop.submit(Endless())
    times = [now(loop) for _ in range(5)]
    assert times == sorted(times)


def test_an_exception_of_a_call_reaches_its_caller_only(loop: LockstepLoop) -> None:
    with pytest.raises(HouseError, match=r"'moon'"):
        loop.reset(0, [{"object": "apple_1", "on": "moon"}], DEADLINE)
    assert now(loop) == 0


def test_a_failure_of_the_thread_reaches_every_waiter_with_its_cause(loop: LockstepLoop) -> None:
    waiting = loop.submit(Endless())
    loop.submit(Broken())
    with pytest.raises(LoopError, match="the head came off") as caught:
        waiting.wait(DEADLINE)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(LoopError, match="the head came off"):
        now(loop)
    with pytest.raises(LoopError, match="the head came off"):
        loop.submit(GripperCommand(0.1))


class Unable(Endless):
    """A command that cannot even begin."""

    def start(self, world: MujocoWorld) -> Outcome | None:
        raise ValueError("no such joint")


def test_a_command_that_cannot_begin_fails_alone(loop: LockstepLoop) -> None:
    running = loop.submit(Endless())
    with pytest.raises(ValueError, match="no such joint"):
        loop.submit(Unable()).wait(DEADLINE)
    assert running.wait(DEADLINE) is CANCELLED
    stopped = now(loop)
    time.sleep(0.05)
    assert now(loop) == stopped
    assert loop.submit(JointTrajectoryCommand(["wrist_roll_joint"], [[2.0]], [0.5])).wait(DEADLINE).ok


def test_close_fails_what_still_runs(house: House) -> None:
    loop = LockstepLoop(MujocoWorld(house))
    handle = loop.submit(Endless())
    loop.close()
    with pytest.raises(LoopError, match="closed"):
        handle.wait(DEADLINE)


def test_observers_come_at_fixed_simulation_times(house: House) -> None:
    with LockstepLoop(MujocoWorld(house)) as loop:
        stamps: list[float] = []
        ends: list[float] = []
        loop.observe(lambda world: stamps.append(world.time), 0.2)
        loop.observe_ends(lambda world: ends.append(world.time))
        loop.reset(0, [], DEADLINE)
        assert loop.submit(GripperCommand(0.1)).wait(DEADLINE).ok
        assert ends == [now(loop)]
        np.testing.assert_allclose(stamps, np.arange(len(stamps)) * 0.2)
        assert len(stamps) >= 5


def test_observers_of_the_end_run_before_the_result_is_known(house: House) -> None:
    with LockstepLoop(MujocoWorld(house)) as loop:
        order: list[str] = []
        loop.observe_ends(lambda world: order.append("state"))
        handle = loop.submit(GripperCommand(0.1))
        known = threading.Event()

        def tell(outcome: Outcome) -> None:
            order.append("result")
            known.set()

        handle.add_done_callback(tell)
        assert known.wait(DEADLINE)
        assert order == ["state", "result"]


def test_a_reset_cancels_and_rewinds(loop: LockstepLoop) -> None:
    handle = loop.submit(Endless())
    loop.reset(4, [], DEADLINE)
    assert handle.wait(DEADLINE) is CANCELLED
    assert now(loop) == 0


def test_threads_or_not_the_trajectory_is_the_same(house: House, world: MujocoWorld) -> None:
    from homie_sim.commands import run

    world.reset(9)
    run(world, NavigateCommand(6.5, 0.95, 1.57))
    with LockstepLoop(MujocoWorld(house)) as loop:
        loop.reset(9, [], DEADLINE)
        handle = loop.submit(NavigateCommand(6.5, 0.95, 1.57))
        while not handle.done:
            loop.call(lambda world: world.world_state(), DEADLINE)
        assert handle.wait(DEADLINE).ok
        threaded = loop.call(lambda world: world.data.qpos.copy(), DEADLINE)
    assert np.array_equal(threaded, world.data.qpos)
