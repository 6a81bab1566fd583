"""A trajectory: everything about one episode that scores and reports need, and how it is put together.

:class:`TrajectoryBuilder` takes the episode's events in the order in which they come. The live referee feeds it from
topics and the bag reader from a file, so both end with the same trajectory, and with the same score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from homie_core.episode import EpisodeInfo, EpisodeResult, Step
from homie_core.from_messages import MessageError
from homie_core.world_state import WorldState

StateSource = Callable[[], WorldState]
"""Gives a world state when it is needed: most of those in a bag never are, and decoding them is slow.

Raises:
    MessageError: it cannot be read.
"""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode as recorded.

    ``result`` is None while it runs and when the recording stops before its end. ``final_state`` is the last world
    state within the episode. ``problems`` are one line each: what is missing or was left out.
    """

    info: EpisodeInfo
    steps: tuple[Step, ...]
    result: EpisodeResult | None = None
    final_state: WorldState | None = None
    problems: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the episode's end was recorded."""
        return self.result is not None


@dataclass(slots=True)
class _Open:
    """An episode that is being put together. Stamps in nanoseconds of simulation time."""

    info: EpisodeInfo
    steps: dict[int, Step] = field(default_factory=dict)
    result: EpisodeResult | None = None
    result_stamp: int = 0
    states: list[tuple[int, StateSource]] = field(default_factory=list)

    def end_stamp(self) -> int | None:
        """Simulation time at the end of the episode, or None while it runs."""
        if self.result is None:
            return None
        return max(self.result_stamp, self.last_step_stamp())

    def last_step_stamp(self) -> int:
        return max((step.stamp for step in self.steps.values()), default=0)

    def final_state(self) -> tuple[int, StateSource] | None:
        """The newest state that is not newer than the end."""
        end = self.end_stamp()
        within = [state for state in self.states if end is None or state[0] <= end]
        # The last of equally new ones: max() takes the first it meets.
        return max(reversed(within), key=lambda state: state[0], default=None)

    def drop_old_states(self) -> None:
        """Forget the states that a newer one within the steps so far replaces."""
        reached = self.last_step_stamp()
        newest = max((stamp for stamp, _ in self.states if stamp <= reached), default=None)
        if newest is not None:
            self.states = [state for state in self.states if state[0] >= newest]


class TrajectoryBuilder:
    """Puts trajectories together from the events of one namespace.

    The final world state is chosen by simulation time, not by arrival: the newest one that is not newer than the
    episode's end. Topics overtake one another, and a reset starts the clock again at zero.
    """

    def __init__(self) -> None:
        self._episodes: dict[str, _Open] = {}
        self._current: _Open | None = None
        self._latest_state: tuple[int, StateSource] | None = None
        self._strays: dict[str, int] = {}

    def on_info(self, info: EpisodeInfo, stamp: int = 0) -> None:
        """An episode begins. A repeated announcement of a known one changes nothing."""
        if info.episode_id in self._episodes:
            return
        episode = _Open(info)
        if self._latest_state is not None and self._latest_state[0] <= stamp:
            episode.states.append(self._latest_state)
        self._episodes[info.episode_id] = episode
        self._current = episode

    def on_step(self, episode_id: str, step: Step) -> None:
        """A step was executed. A step that is delivered twice counts once."""
        episode = self._episodes.get(episode_id)
        if episode is None:
            self._strays[episode_id] = self._strays.get(episode_id, 0) + 1
            return
        if step.index not in episode.steps:
            episode.steps[step.index] = step
            episode.drop_old_states()

    def on_result(self, episode_id: str, result: EpisodeResult, stamp: int = 0) -> None:
        """An episode stopped."""
        episode = self._episodes.get(episode_id)
        if episode is None:
            self._strays.setdefault(episode_id, 0)
            return
        if episode.result is None:
            episode.result, episode.result_stamp = result, stamp

    def on_world_state(self, stamp: int, source: StateSource) -> None:
        """The world changed. ``source`` gives the state if it turns out to be needed."""
        self._latest_state = (stamp, source)
        if self._current is not None:
            self._current.states.append(self._latest_state)

    @property
    def current_id(self) -> str:
        """Id of the episode that was announced last, or empty."""
        return self._current.info.episode_id if self._current is not None else ""

    def settled(self, episode_id: str) -> bool:
        """Whether the episode has stopped, all its steps are here, and so is a world state as new as the last of them.

        Raises:
            KeyError: the episode was never announced.
        """
        episode = self._episodes[episode_id]
        state = episode.final_state()
        if episode.result is None or state is None or episode.result.steps > len(episode.steps):
            return False
        return state[0] >= episode.last_step_stamp()

    def trajectory(self, episode_id: str) -> Trajectory:
        """The episode as far as it is known.

        Raises:
            KeyError: the episode was never announced.
        """
        episode = self._episodes[episode_id]
        state = episode.final_state()
        steps = tuple(episode.steps[index] for index in sorted(episode.steps))
        problems = _problems(episode, steps)
        final_state = None
        if state is not None:
            try:
                final_state = state[1]()
            except MessageError as error:
                problems.append(f"the last world state cannot be read: {error}")
        return Trajectory(episode.info, steps, episode.result, final_state, tuple(problems))

    def trajectories(self) -> tuple[Trajectory, ...]:
        """Every announced episode, in the order of announcement."""
        return tuple(self.trajectory(episode_id) for episode_id in self._episodes)

    def problems(self) -> tuple[str, ...]:
        """One line for each episode that was never announced, and so has no trajectory."""
        return tuple(
            f"episode {episode_id!r} has no episode/info: its {count} steps are left out"
            for episode_id, count in self._strays.items()
        )


def _problems(episode: _Open, steps: tuple[Step, ...]) -> list[str]:
    found = []
    indices = [0, *(step.index for step in steps)]
    for before, after in pairwise(indices):
        if after > before + 1:
            found.append(f"steps {before + 1} to {after - 1} are missing")
    if episode.result is None:
        found.append("the recording stops before the end of the episode")
    elif episode.result.steps != indices[-1]:
        found.append(f"the result speaks of {episode.result.steps} steps, the last recorded one is {indices[-1]}")
    if not episode.states:
        found.append("no world state was recorded")
    return found
