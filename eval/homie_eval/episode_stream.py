"""The messages of a stream (pictures, joint states, …) that belong to one episode of a bag, with their times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from homie_core.from_messages import NANOSECONDS
from homie_eval.bag import EPISODE_INFO, Bag, BagError, Record

JITTER = NANOSECONDS
"""A stamp that is older than the one before it by more than this is that of a clock that was reset, nanoseconds."""


def episode_records(bag: Bag, topic: str, episode_id: str) -> Iterator[tuple[int, Record]]:
    """Stamps (nanoseconds of simulation time) and messages on ``topic`` while the episode ran, in one reading pass.

    A reset of the clock comes before the announcement of the next episode, so what follows a reset waits for that.
    Messages that are cut off are left out.
    """
    current: dict[str, str] = {}
    last: dict[str, int] = {}
    waiting: dict[str, list[tuple[int, Record]]] = {}
    for record in bag.records(EPISODE_INFO, topic):
        try:
            if record.topic.ends_with(EPISODE_INFO):
                namespace = record.topic.namespace(EPISODE_INFO)
                current[namespace] = record.decode().episode_id
                last.pop(namespace, None)
                held = waiting.pop(namespace, [])
                if current[namespace] == episode_id:
                    yield from held
                continue
            stamp = record.header_stamp()
        except BagError:
            continue
        namespace = record.topic.namespace(topic)
        if stamp + JITTER < last.get(namespace, stamp):
            current.pop(namespace, None)
            waiting.pop(namespace, None)
        last[namespace] = stamp
        if namespace not in current:
            waiting.setdefault(namespace, []).append((stamp, record))
        elif current[namespace] == episode_id:
            yield stamp, record


def episode_stamps(bag: Bag, topic: str, episode_id: str) -> list[int]:
    """When there was a message, nanoseconds of simulation time, in the order of recording."""
    return [stamp for stamp, _ in episode_records(bag, topic, episode_id)]


def rate_of(stamps: Sequence[int]) -> int | None:
    """Messages a second, rounded, at least 1; None if there are not two at different times."""
    gaps = sorted(after - before for before, after in pairwise(stamps) if after > before)
    return max(1, round(NANOSECONDS / gaps[len(gaps) // 2])) if gaps else None
