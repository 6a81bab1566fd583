"""When each subtask of an episode was executed, and what a camera saw meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from homie_core.episode import Step
from homie_core.from_messages import NANOSECONDS
from homie_eval.bag import Bag, BagError, Record
from homie_eval.episode_stream import episode_records
from homie_eval.images import ImageError, Picture, from_compressed

LONGEST_GAP = NANOSECONDS
"""A stream that says nothing for longer was interrupted: nothing can be learned from what it said before."""


@dataclass(frozen=True, slots=True)
class SubtaskSpan:
    """A subtask that moved something, with the simulation time in which it did, nanoseconds, both ends included."""

    step: Step
    start: int
    end: int

    def ticks(self, rate: int) -> list[int]:
        """The times of the frames at ``rate`` a second, nanoseconds: the first one is the start."""
        return [
            self.start + tick * NANOSECONDS // rate for tick in range((self.end - self.start) * rate // NANOSECONDS + 1)
        ]

    def covered_by(self, stamps: Sequence[int]) -> bool:
        """Whether messages at these times tell of the whole span, with no longer gap than `LONGEST_GAP`."""
        near = [stamp for stamp in stamps if self.start - LONGEST_GAP <= stamp <= self.end + LONGEST_GAP]
        edges = sorted([self.start, *(min(max(stamp, self.start), self.end) for stamp in near), self.end])
        return bool(near) and all(after - before <= LONGEST_GAP for before, after in pairwise(edges))


def executed_spans(steps: Iterable[Step]) -> tuple[SubtaskSpan, ...]:
    """The subtasks that took simulation time, in order: neither those refused beforehand, nor skills without motion."""
    return tuple(
        SubtaskSpan(step, max(0, step.stamp - round(step.sim_seconds * NANOSECONDS)), step.stamp)
        for step in steps
        if step.attempts > 0 and step.sim_seconds > 0 and not step.subtask.is_end
    )


def span_pictures(
    bag: Bag, topic: str, episode_id: str, spans: Sequence[SubtaskSpan], rate: int
) -> Iterator[tuple[SubtaskSpan, Picture]]:
    """A picture for each tick of each span, in one reading pass: the newest one at that time.

    Ticks before the first picture get that one. There is nothing if the episode has no readable picture.
    """
    ticks = iter([(span, tick) for span in spans for tick in span.ticks(rate)])
    due = next(ticks, None)
    shown: Picture | None = None
    for stamp, picture in _decoded(episode_records(bag, topic, episode_id)):
        while shown is not None and due is not None and due[1] < stamp:
            yield due[0], shown
            due = next(ticks, None)
        if due is None:
            return
        shown = picture
    while shown is not None and due is not None:
        yield due[0], shown
        due = next(ticks, None)


def _decoded(records: Iterable[tuple[int, Record]]) -> Iterator[tuple[int, Picture]]:
    """Pictures that cannot be decoded are left out."""
    for stamp, record in records:
        try:
            yield stamp, from_compressed(record.decode())
        except (ImageError, BagError):
            continue
