"""Shards of one run become one run, with the proof that nothing is missing and nothing is there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from homie_eval.runs.plan import Shard
from homie_eval.runs.store import RunStore, State


class MergeError(ValueError):
    """These runs are not the shards of one run, or not all of them. One line."""


def merge(sources: Sequence[RunStore], path: Path, *, unfinished: bool = False) -> RunStore:
    """Write the run that ``sources`` are the shards of to ``path``.

    Every episode of the whole run is in exactly one shard and has a terminal record there; with ``unfinished``, those
    that have none stay pending in the result, which can then be gone on with.

    Raises:
        MergeError: the shards do not fit together, one is missing, or an episode is not finished.
        StoreError: ``path`` exists.
    """
    _check_shards(sources)
    whole = sources[0].plan.model_copy(update={"shard": Shard()})
    records = [record for source in sources for record in source.records()]
    _check_episodes([record.episode.id for record in records], [episode.id for episode in whole.episodes])
    ended = [record for record in records if record.state in (State.DONE, State.FAILED)]
    if len(ended) < len(records) and not unfinished:
        first = next(record.episode.id for record in records if record not in ended)
        raise MergeError(f"{len(records) - len(ended)} episodes are not finished, the first is {first}")
    target = RunStore.create(path, whole)
    for record in ended:
        target.put(record)
    return target


def _check_shards(sources: Sequence[RunStore]) -> None:
    if not sources:
        raise MergeError("there is nothing to merge")
    first = sources[0]
    for source in sources[1:]:
        if source.plan.fingerprint != first.plan.fingerprint:
            raise MergeError(f"{source.path} is no shard of the run in {first.path}: their plans differ")
        if source.plan.shard.count != first.plan.shard.count:
            raise MergeError(
                f"{source.path} is one of {source.plan.shard.count} shards, "
                f"{first.path} one of {first.plan.shard.count}"
            )
    numbers = Counter(source.plan.shard.number for source in sources)
    for number in range(1, first.plan.shard.count + 1):
        if numbers[number] != 1:
            how = "missing" if not numbers[number] else f"given {numbers[number]} times"
            raise MergeError(f"shard {number}/{first.plan.shard.count} is {how}")


def _check_episodes(found: Sequence[str], wanted: Sequence[str]) -> None:
    """The files may have been changed by hand, so what the plans promise is looked at once more."""
    counts = Counter(found)
    missing = [id for id in wanted if not counts[id]]
    doubled = [id for id, count in counts.items() if count > 1]
    strange = sorted(set(found) - set(wanted))
    for what, ids in (("missing", missing), ("there twice", doubled), ("no part of the run", strange)):
        if ids:
            raise MergeError(f"{len(ids)} episodes are {what}, the first is {ids[0]}")
