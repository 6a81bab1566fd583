"""Episodes leave nothing behind in their process: no object, no thread, no open file."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rclpy.action.server import ServerGoalHandle

from homie_core.episode import Step
from homie_ros.action_server import RESULT_TIMEOUT
from homie_ros.waiting import wait_until
from support.instant_episodes import instant_graph

WARM = 3
"""Episodes until everything is imported, matched and cached."""

MORE = 8


def test_episodes_leave_nothing_behind() -> None:
    others = _goal_handles()  # of tests that ran before in this process
    with instant_graph("always") as episode:
        before = _left_after(episode, range(WARM), others)
        threads, files = threading.active_count(), _open_files()
        after = _left_after(episode, range(WARM, WARM + MORE), others)
        assert threading.active_count() <= threads
        assert _open_files() <= files
    assert {name: count for name, count in (after - before).items() if count >= MORE} == {}


def _left_after(episode: Callable[[int], list[Step]], numbers: range, others: int) -> Counter[str]:
    """How many objects of each type live after some episodes, when action servers have dropped the results."""
    for number in numbers:
        episode(number)
    wait_until(lambda: _goal_handles() <= others, RESULT_TIMEOUT + 20, "the results to expire", poll=0.5)
    return _living()


def _goal_handles() -> int:
    return _living()[_name(ServerGoalHandle)]


def _living() -> Counter[str]:
    """All objects that the collector knows, by type; references to what has died count as a type of their own."""
    gc.collect()
    living: Counter[str] = Counter()
    for thing in gc.get_objects():
        dead = isinstance(thing, weakref.ref) and thing() is None
        living["dead reference" if dead else _name(type(thing))] += 1
    return living


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
