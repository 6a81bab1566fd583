"""Running nodes: one executor thread per node, a clean end, and failures that are not lost."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException

from homie_ros.errors import InfrastructureError
from homie_ros.executor import LeanExecutor
from homie_ros.homie_node import HomieNode
from homie_ros.memory import limit_arenas

N = TypeVar("N", bound=HomieNode)

STOP_SECONDS = 10.0

LAST_TURNS = 20
"""Turns of the executor in which what is ready when it stops is still done, such as sending results."""


class NodeFailed(InfrastructureError):
    """A node's executor ended with an exception. ``details`` is the traceback."""

    def __init__(self, name: str, error: BaseException) -> None:
        super().__init__(f"node {name} failed: {type(error).__name__}: {error}")
        self.name = name
        self.details = "".join(traceback.format_exception(error))


class SpinThread:
    """Spins one node in a thread of its own.

    When a callback raises, the failure is told, and the node is closed and leaves the graph at once, while its thread
    still serves it: clients get the results of goals that end with it, and others see that it has gone.
    """

    def __init__(self, node: HomieNode, on_failure: Callable[[NodeFailed], None]) -> None:
        self.node = node
        self._on_failure = on_failure
        self._stopping = False
        self._closer: threading.Thread | None = None
        self._close_once = threading.Lock()
        self._closed = False
        self._executor = LeanExecutor(context=node.context)
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name=f"spin {node.get_name()}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let the node end what it does, stop spinning, and destroy it. A second call waits for the first one.

        Raises:
            InfrastructureError: a callback does not end.
        """
        with self._close_once:
            if self._closed:
                return
            self._closed = True
            try:
                self.node.close()
            finally:
                self._stop()
                self.node.destroy_node()

    def _stop(self) -> None:
        self._stopping = True
        self._executor.create_task(_nothing)  # work for one more turn, after which the flag is looked at
        self._thread.join(STOP_SECONDS)
        if self._thread.is_alive():
            raise InfrastructureError(f"a callback of node {self.node.get_name()} did not end in {STOP_SECONDS} s")
        self._executor.shutdown()

    def _spin(self) -> None:
        try:
            while not self._stopping:
                self._turn(None)
            for _ in range(LAST_TURNS):
                self._turn(0.0)
        except ExternalShutdownException:
            return

    def _turn(self, timeout: float | None) -> None:
        try:
            self._executor.spin_once(timeout)
        except ExternalShutdownException:
            raise
        except Exception as error:  # noqa: BLE001 - a callback raised: whatever it was, it is the node's end and is told
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        failure = NodeFailed(self.node.get_name(), error)
        if self._closer is not None:
            self.node.get_logger().error(f"while closing: {failure}")
            return
        self._on_failure(failure)
        self._closer = threading.Thread(target=self._close_failed, name=f"close {self.node.get_name()}", daemon=True)
        self._closer.start()

    def _close_failed(self) -> None:
        try:
            self.close()
        except Exception as error:  # noqa: BLE001 - the failure that came first is the one to tell
            self.node.get_logger().error(f"node {self.node.get_name()} did not end cleanly: {error}")


class NodeHost:
    """A context of its own and the nodes in it.

    Several hosts in one process, each with its own ``domain_id``, do not see each other. Use as a context manager::

        with NodeHost(domain_id=7) as host:
            host.add(MonitorNode, namespace="robot_1")
            host.add(ExecutorNode, namespace="robot_1")
            host.wait(stop, timeout=600)
    """

    def __init__(self, *, domain_id: int | None = None, args: Sequence[str] | None = ()) -> None:
        """``args`` are ROS command-line arguments; None takes those of the process."""
        limit_arenas()
        self.context = Context()
        self.failure: NodeFailed | None = None
        self._changed = threading.Event()
        self._threads: list[SpinThread] = []
        rclpy.init(args=None if args is None else list(args), context=self.context, domain_id=domain_id)

    def add(self, factory: Callable[..., N], **options: Any) -> N:
        """Make a node with ``factory(context=..., **options)`` and let it spin."""
        node = factory(context=self.context, **options)
        self._threads.append(SpinThread(node, self._on_failure))
        return node

    @property
    def nodes(self) -> list[HomieNode]:
        """The nodes in the order in which they were added."""
        return [thread.node for thread in self._threads]

    def check(self) -> None:
        """Raises NodeFailed if a node has failed."""
        if self.failure is not None:
            raise self.failure

    def wait(self, timeout: float | None = None) -> None:
        """Block until `stop` is called or a node fails, at most ``timeout`` seconds (None: without a limit).

        Raises:
            NodeFailed: a node has failed.
        """
        self._changed.wait(timeout)
        self.check()

    def stop(self) -> None:
        """Let `wait` return. May be called from a signal handler."""
        self._changed.set()

    def close(self) -> None:
        """End all nodes, the last added first, and leave the graph. Every node is closed even if another one fails."""
        errors: list[Exception] = []
        for thread in reversed(self._threads):
            try:
                thread.close()
            except Exception as error:  # noqa: BLE001 - kept, and raised when all are closed
                errors.append(error)
        self._threads.clear()
        self.context.try_shutdown()
        if errors:
            raise ExceptionGroup("nodes did not end cleanly", errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def _on_failure(self, failure: NodeFailed) -> None:
        if self.failure is None:
            self.failure = failure
        self._changed.set()


def _nothing() -> None:
    return
