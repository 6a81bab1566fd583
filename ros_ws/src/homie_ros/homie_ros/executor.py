"""An executor for the nodes of this stack: one thread, and little work for each callback.

For every single callback, rclpy's `SingleThreadedExecutor` makes a new wait set and two tasks, and as it wakes itself
after each one, it then does the same once more for nothing. With several nodes in one process, whose threads take
turns, that is most of what a service call costs. This one keeps its wait set until a node's entities change, runs
everything that is ready after one wait, and is woken by other threads only. What arrives is taken by rclpy's own
methods.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, suppress
from typing import Any

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor, TimeoutObject
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.task import Future, Task
from rclpy.timer import Timer
from rclpy.utilities import timeout_sec_to_nsec
from rclpy.waitable import NumberOfEntities, Waitable

Work = Callable[[], Coroutine[Any, Any, None]]
"""What is to be done with something that was taken."""


class LeanExecutor(SingleThreadedExecutor):
    """Serves its nodes in the thread that calls `spin_once`. The other methods may be called by any thread.

    All callbacks run one after the other, so callback groups have nothing to keep apart.
    """

    def __init__(self, *, context: Context | None = None) -> None:
        super().__init__(context=context)
        self._queue: deque[Task] = deque()
        self._thread: int | None = None
        self._changed = True
        self._wait_set: _WaitSet | None = None
        self._takes: dict[str, Callable[[Any], Work | None]] = {
            "waitable": self._take_waitable,
            "timer": self._take_ready_timer,
            "subscription": self._take_subscription,
            "guard_condition": self._take_guard_condition,
            "client": self._take_client,
            "service": self._take_service,
        }

    def add_node(self, node: Node) -> bool:
        """As in rclpy."""
        is_new = super().add_node(node)
        self.wake()
        return is_new

    def remove_node(self, node: Node) -> None:
        """As in rclpy."""
        super().remove_node(node)
        self.wake()

    def create_task(self, callback: Callable[..., Any] | Coroutine[Any, Any, Any], *args: Any, **options: Any) -> Task:
        """As in rclpy; tasks run in the order in which they are made."""
        task = Task(callback, args, options, executor=self)
        self._queue.append(task)
        if threading.get_ident() != self._thread:
            super().wake()
        return task

    def wake(self) -> None:
        """Look for entities that are new or destroyed; nodes call this when there are any."""
        self._changed = True
        super().wake()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Run the tasks, wait for something to be ready, and run all that is.

        What a callback raises is raised here; messages that were ready as well are so again in the next call.

        Raises:
            ExternalShutdownException: the context was shut down.
        """
        self._thread = threading.get_ident()
        self._run_tasks()
        for kind, entity in self._wait(timeout_sec):
            self._run(self._takes[kind](entity))
        self._run_tasks()

    def spin_once_until_future_complete(self, future: Future, timeout_sec: float | TimeoutObject | None = None) -> None:
        """As in rclpy."""
        future.add_done_callback(lambda _: self.wake())
        if not future.done():
            self.spin_once(timeout_sec.timeout if isinstance(timeout_sec, TimeoutObject) else timeout_sec)

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """As in rclpy. Nobody may spin any more."""
        if self._wait_set is not None:
            self._wait_set.release()
            self._wait_set = None
        return super().shutdown(timeout_sec)

    def _run_tasks(self) -> None:
        """Run all tasks and those that they make. One that waits for something stays in the queue."""
        waiting: list[Task] = []
        try:
            while self._queue:
                task = self._queue.popleft()
                task()
                if task.done():
                    task.result()  # raises what the task raised
                elif not task.cancelled():
                    waiting.append(task)
        finally:
            self._queue.extend(waiting)

    def _run(self, work: Work | None) -> None:
        if work is None:
            return
        coroutine = work()
        try:
            coroutine.send(None)
        except StopIteration:
            return
        self.create_task(coroutine)  # its callback is a coroutine that waits for something: it goes on as a task

    def _wait(self, timeout: float | None) -> Iterator[tuple[str, Any]]:
        self._check_context()
        if self._changed or self._wait_set is None:
            self._changed = False
            if self._wait_set is not None:
                self._wait_set.release()
            self._wait_set = _WaitSet(self.context, self.get_nodes(), (self._guard, self._sigint_gc))
        self._wait_set.wait(0 if self._queue else timeout_sec_to_nsec(timeout))
        self._check_context()
        return self._wait_set.ready()

    def _check_context(self) -> None:
        if not self.context.ok():
            raise ExternalShutdownException

    def _take_ready_timer(self, timer: Timer) -> Work | None:
        """A timer that was cancelled still ends the waiting."""
        return self._take_timer(timer) if timer.handle.is_timer_ready() else None


class _WaitSet:
    """What some nodes wait for, until their entities change. None of them is destroyed before `release`."""

    def __init__(self, context: Context, nodes: list[Node], guards: tuple[GuardCondition, ...]) -> None:
        """``guards`` only end the waiting."""
        entities: dict[str, list[Any]] = {
            "timer": [timer for node in nodes for timer in node.timers],
            "subscription": [subscription for node in nodes for subscription in node.subscriptions],
            "guard_condition": [guard for node in nodes for guard in node.guards],
            "client": [client for node in nodes for client in node.clients],
            "service": [service for node in nodes for service in node.services],
        }
        self._entities: dict[str, dict[int, Any]] = {kind: {} for kind in entities}
        self._waitables: list[Waitable] = []
        handles: list[tuple[str, Any]] = [("guard_condition", guard.handle) for guard in guards]
        with ExitStack() as held:
            for _, handle in handles:
                held.enter_context(handle)
            for kind, members in entities.items():
                for entity in members:
                    with suppress(InvalidHandle):  # it was destroyed this moment
                        held.enter_context(entity.handle)
                        handles.append((kind, entity.handle))
                        self._entities[kind][entity.handle.pointer] = entity
            for waitable in [waitable for node in nodes for waitable in node.waitables]:
                with suppress(InvalidHandle):
                    held.enter_context(waitable)
                    self._waitables.append(waitable)
            self._set = _make(context, [kind for kind, _ in handles], self._waitables)
            self._held = held.pop_all()
        self._adders = [(getattr(self._set, f"add_{kind}"), handle) for kind, handle in handles]

    def wait(self, nanoseconds: int) -> None:
        """Block until something is ready; -1: without a limit."""
        self._set.clear_entities()  # the last wait took out what was not ready
        for add, handle in self._adders:
            add(handle)
        for waitable in self._waitables:
            waitable.add_to_wait_set(self._set)
        self._set.wait(nanoseconds)

    def ready(self) -> Iterator[tuple[str, Any]]:
        """What the last wait found, in rclpy's order: its kind and the entity."""
        for waitable in self._waitables:
            if waitable.is_ready(self._set):
                yield "waitable", waitable
        for kind, entities in self._entities.items():
            if entities:
                for pointer in self._set.get_ready_entities(kind):
                    if pointer in entities:
                        yield kind, entities[pointer]

    def release(self) -> None:
        """Let go of the entities."""
        self._set.destroy_when_not_in_use()
        self._held.close()


def _make(context: Context, kinds: list[str], waitables: list[Waitable]) -> Any:
    """An empty wait set with room for entities of ``kinds`` and for ``waitables``."""
    kind_order = ("subscription", "guard_condition", "timer", "client", "service")
    total = NumberOfEntities(*(kinds.count(kind) for kind in kind_order))
    for waitable in waitables:
        total += waitable.get_num_entities()
    return _rclpy.WaitSet(
        total.num_subscriptions,
        total.num_guard_conditions,
        total.num_timers,
        total.num_clients,
        total.num_services,
        total.num_events,
        context.handle,
    )
