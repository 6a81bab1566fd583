"""Trajectories from events in whatever order they come."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.from_messages import MessageError
from homie_core.world_state import WorldState
from homie_eval.trajectory import StateSource, Trajectory, TrajectoryBuilder
from support.trajectories import info, steps_of
from support.worlds import kitchen

RUN = "(1) [Go to, fridge] (2) [Open, fridge] (3) [Go to, green_can] (4) [Pick, green_can] (5) [End]"
SECOND = 1_000_000_000


def stamped(offset: int = 0) -> tuple[Step, ...]:
    """Five steps that end after 10, 20, ... seconds; End takes no time."""
    return tuple(
        replace(step, stamp=offset + (step.index - step.subtask.is_end) * 10 * SECOND) for step in steps_of(RUN)
    )


def at(stamp: int) -> tuple[int, StateSource]:
    state = kitchen(stamp=stamp)
    return stamp, lambda: state


def built(builder: TrajectoryBuilder, id: str = "e1") -> tuple[Trajectory, int]:
    trajectory = builder.trajectory(id)
    state: WorldState | None = trajectory.final_state
    return trajectory, -1 if state is None else state.stamp


def test_an_episode_from_beginning_to_end() -> None:
    builder, steps = TrajectoryBuilder(), stamped()
    builder.on_world_state(*at(0))
    builder.on_info(info())
    for step in steps:
        builder.on_world_state(*at(step.stamp))
        builder.on_step("e1", step)
        assert not builder.settled("e1")
    result = EpisodeResult(Outcome.ENDED, 5)
    builder.on_result("e1", result, steps[-1].stamp)
    trajectory, stamp = built(builder)
    assert (trajectory.steps, trajectory.result, stamp, trajectory.problems) == (steps, result, 40 * SECOND, ())
    assert trajectory.complete
    assert builder.settled("e1")
    assert builder.current_id == "e1"


def test_a_world_state_that_cannot_be_read_is_a_problem_of_the_episode() -> None:
    def unreadable() -> WorldState:
        raise MessageError("kind of fridge is 'ghost'; allowed: object")

    builder = TrajectoryBuilder()
    builder.on_info(info())
    builder.on_world_state(0, unreadable)
    trajectory = builder.trajectory("e1")
    assert trajectory.final_state is None
    assert "the last world state cannot be read: kind of fridge is 'ghost'; allowed: object" in trajectory.problems


@given(st.permutations(range(11)))
def test_the_order_of_arrival_makes_no_difference(order: list[int]) -> None:
    builder, steps = TrajectoryBuilder(), stamped()
    builder.on_info(info())
    for index in order:
        if index < 5:
            builder.on_step("e1", steps[index])
        elif index < 10:
            builder.on_world_state(*at(steps[index - 5].stamp))
        else:
            builder.on_result("e1", EpisodeResult(Outcome.ENDED, 5), steps[-1].stamp)
    trajectory, stamp = built(builder)
    assert (trajectory.steps, stamp, trajectory.problems) == (steps, 40 * SECOND, ())


def test_what_is_delivered_twice_counts_once() -> None:
    builder, steps = TrajectoryBuilder(), stamped()
    for _ in range(2):
        builder.on_info(info())
        for step in steps:
            builder.on_step("e1", step)
        builder.on_result("e1", EpisodeResult(Outcome.ENDED, 5))
    builder.on_result("e1", EpisodeResult(Outcome.CANCELLED, 9))
    trajectory, _ = built(builder)
    assert trajectory.steps == steps
    assert trajectory.result == EpisodeResult(Outcome.ENDED, 5)


def test_a_state_of_after_the_end_or_of_the_next_reset_is_not_the_final_one() -> None:
    builder, steps = TrajectoryBuilder(), stamped()
    builder.on_info(info())
    builder.on_world_state(*at(40 * SECOND))
    for step in steps:
        builder.on_step("e1", step)
    builder.on_result("e1", EpisodeResult(Outcome.ENDED, 5), 40 * SECOND)
    builder.on_world_state(*at(41 * SECOND))
    builder.on_world_state(*at(0))
    assert built(builder)[1] == 40 * SECOND


def test_a_second_episode_begins_with_the_state_of_its_reset() -> None:
    builder = TrajectoryBuilder()
    builder.on_info(info())
    builder.on_world_state(*at(40 * SECOND))
    builder.on_result("e1", EpisodeResult(Outcome.ENDED, 0), 40 * SECOND)
    builder.on_world_state(*at(0))
    builder.on_info(info("e2"))
    assert built(builder, "e2")[1] == 0
    late = TrajectoryBuilder()
    late.on_info(info())
    late.on_world_state(*at(40 * SECOND))
    late.on_info(info("e2"))
    assert built(late, "e2")[1] == -1
    assert [trajectory.info.episode_id for trajectory in late.trajectories()] == ["e1", "e2"]


def test_an_unfinished_episode_says_so() -> None:
    builder = TrajectoryBuilder()
    builder.on_info(info())
    builder.on_step("e1", stamped()[0])
    builder.on_step("e1", stamped()[3])
    assert built(builder)[0].problems == (
        "steps 2 to 3 are missing",
        "the recording stops before the end of the episode",
        "no world state was recorded",
    )
    builder.on_result("e1", EpisodeResult(Outcome.STEP_LIMIT, 4_000_000_000))
    assert "the result speaks of 4000000000 steps, the last recorded one is 4" in built(builder)[0].problems


def test_steps_of_an_episode_that_was_never_announced_are_a_problem() -> None:
    builder = TrajectoryBuilder()
    for step in stamped():
        builder.on_step("lost", step)
    builder.on_result("lost", EpisodeResult(Outcome.ENDED, 5))
    assert builder.trajectories() == ()
    assert builder.problems() == ("episode 'lost' has no episode/info: its 5 steps are left out",)
    assert builder.current_id == ""
    with pytest.raises(KeyError):
        builder.trajectory("lost")
