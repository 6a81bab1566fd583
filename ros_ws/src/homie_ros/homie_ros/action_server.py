"""An action server whose goals run in worker threads while the node's single executor thread keeps spinning.

Cancel requests, feedback and other callbacks are served during the work. All state changes of a goal are made in the
executor's thread, as the underlying library is not safe against concurrent ones.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from homie_ros.errors import InfrastructureError

RESULT_TIMEOUT = 2
"""Seconds for which an ended goal's result can still be asked for.

A client asks as soon as its goal is accepted, so this is for goals that end before that. Each change of a goal
publishes a list of all goals that are remembered, to every client: with many short goals, remembering them for long
costs more than carrying them out.
"""

JOIN_SECONDS = 10.0
"""How long a goal waits for the one that it replaces, and a closing server for its workers."""


class WhenBusy(Enum):
    """What happens to a goal that arrives while another one runs."""

    REJECT = "reject"
    PREEMPT = "preempt"
    """The running goal is told to stop; the new one starts when it has ended."""


class GoalState(Enum):
    """How a goal ends."""

    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True)
class GoalEnd:
    """What the work returns: the final state and the result message."""

    state: GoalState
    result: Any


class RunningGoal:
    """A goal as its worker sees it.

    ``request`` is the goal message. ``cancelled`` is set when a client cancels, when a newer goal preempts this one
    (``preempted``), or when the server closes.
    """

    def __init__(self, handle: ServerGoalHandle) -> None:
        self.request = handle.request
        self.cancelled = threading.Event()
        self.preempted = False
        self._handle = handle

    def feedback(self, message: Any) -> None:
        """Publish a feedback message."""
        self._handle.publish_feedback(message)

    def succeed(self, result: Any) -> GoalEnd:
        """The end of a goal that was reached."""
        return GoalEnd(GoalState.SUCCEEDED, result)

    def abort(self, result: Any) -> GoalEnd:
        """The end of a goal that was given up."""
        return GoalEnd(GoalState.ABORTED, result)

    def canceled(self, result: Any) -> GoalEnd:
        """The end of a goal that stopped because ``cancelled`` was set. A preempted goal counts as aborted."""
        return GoalEnd(GoalState.CANCELED, result)


Work = Callable[[RunningGoal], GoalEnd]


class WorkerActionServer(ActionServer):
    """Action server that runs ``work`` once a goal, in a thread, one goal at a time.

    ``failure_result`` makes the result message out of an exception that ``work`` raised; without it the result is
    empty. Either way the goal is aborted and the traceback is logged. ``accept`` may look at a goal message and
    return why it is rejected, or an empty string.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        work: Work,
        *,
        when_busy: WhenBusy = WhenBusy.REJECT,
        accept: Callable[[Any], str] | None = None,
        failure_result: Callable[[Exception], Any] | None = None,
        result_timeout: int = RESULT_TIMEOUT,
    ) -> None:
        self._work = work
        self._name = name
        self._when_busy = when_busy
        self._accept = accept
        self._failure_result = failure_result
        self._running: dict[bytes, RunningGoal] = {}
        self._last_worker: threading.Thread | None = None
        self._closing = False
        super().__init__(
            node,
            action_type,
            name,
            self._unused_execute_callback,
            goal_callback=self._on_goal,
            cancel_callback=self._on_cancel,
            result_timeout=result_timeout,
        )

    @property
    def busy(self) -> bool:
        """Whether a goal is running."""
        return bool(self._running)

    def notify_execute(
        self, goal_handle: ServerGoalHandle, execute_callback: Callable[[ServerGoalHandle], Any] | None
    ) -> None:
        """Called by the base class, in the executor's thread, once a goal was accepted."""
        goal = RunningGoal(goal_handle)
        for older in self._running.values():
            older.preempted = True
            older.cancelled.set()
        self._running[_key(goal_handle)] = goal
        predecessor = self._last_worker
        self._last_worker = threading.Thread(
            target=self._run, args=(goal_handle, goal, predecessor), name=f"goal {self._name}", daemon=True
        )
        self._last_worker.start()

    def destroy(self) -> None:
        """Stop the running goal, wait for its worker, and leave the graph. The node must no longer spin."""
        self._closing = True
        self.cancel_all()
        worker = self._last_worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(JOIN_SECONDS)
            if worker.is_alive():
                self._node.get_logger().error(f"{self._name}: a goal did not stop within {JOIN_SECONDS} s")
        super().destroy()

    def cancel_all(self) -> None:
        """Ask the running goal to stop, as if a client had cancelled it."""
        for goal in list(self._running.values()):
            goal.cancelled.set()

    def _on_goal(self, request: Any) -> GoalResponse:
        reason = self._reason_to_reject(request)
        if reason:
            self._node.get_logger().warning(f"{self._name}: goal rejected: {reason}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _reason_to_reject(self, request: Any) -> str:
        if self._closing:
            return "the node is shutting down"
        if self.busy and self._when_busy is WhenBusy.REJECT:
            return "another goal is running"
        return self._accept(request) if self._accept is not None else ""

    def _on_cancel(self, goal_handle: ServerGoalHandle) -> CancelResponse:
        goal = self._running.get(_key(goal_handle))
        if goal is None:
            return CancelResponse.REJECT
        goal.cancelled.set()
        return CancelResponse.ACCEPT

    def _run(self, handle: ServerGoalHandle, goal: RunningGoal, predecessor: threading.Thread | None) -> None:
        """The worker thread of one goal."""
        try:
            self._await(predecessor)
            end = self._work(goal)
        except Exception as error:  # noqa: BLE001 - whatever the work raises ends its goal, never the node
            self._node.get_logger().error(f"{self._name}: {error}\n{traceback.format_exc()}")
            make = self._failure_result
            end = GoalEnd(GoalState.ABORTED, self.action_type.Result() if make is None else make(error))
        if not self._closing:
            super().notify_execute(handle, lambda _: self._finish(handle, end))

    def _await(self, predecessor: threading.Thread | None) -> None:
        """Return when the worker of the previous goal, if there is one, has ended."""
        if predecessor is not None:
            predecessor.join(JOIN_SECONDS)
            if predecessor.is_alive():
                raise InfrastructureError(f"{self._name}: the previous goal did not stop in {JOIN_SECONDS} s")

    def _finish(self, handle: ServerGoalHandle, end: GoalEnd) -> Any:
        """In the executor's thread: enter the final state; the base class then sends the result that is returned."""
        self._running.pop(_key(handle), None)
        if end.state is GoalState.SUCCEEDED:
            handle.succeed()
        elif end.state is GoalState.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return end.result

    @staticmethod
    def _unused_execute_callback(_: ServerGoalHandle) -> None:
        """The base class wants one; `notify_execute` never lets it run."""


def _key(handle: ServerGoalHandle) -> bytes:
    return bytes(handle.goal_id.uuid)
