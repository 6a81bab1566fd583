"""Calling services and actions from a worker thread, with a deadline, while the node's executor spins elsewhere.

Three rules hold for every function here. The deadline is wall time (steady clock), because the ROS clock may stand
still between two commands of a simulation. A server that dies is noticed within seconds, not at the deadline. The
calling thread must not be the executor's thread, which would wait for itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.client import Client
from rclpy.context import Context
from rclpy.node import Node
from rclpy.task import Future

from homie_ros.errors import CallFailed, DeadlineExceeded, GoalRejected, Interrupted, NodeStopped, PeerLost

POLL_SECONDS = 0.05
"""How often a blocked thread looks at its interruption flag and at the context."""

PEER_CHECK_SECONDS = 0.5
"""How often it looks whether the server is still in the graph; two misses in a row count as lost."""

ACCEPT_SECONDS = 10.0
"""Discovery of a running server takes up to 2.7 s on a busy machine."""

Result = TypeVar("Result")
T = TypeVar("T")


class Deadline:
    """A point in wall time, and what is waited for until then."""

    def __init__(self, seconds: float, what: str) -> None:
        self.seconds = seconds
        self.what = what
        self._end = time.monotonic() + seconds

    @property
    def remaining(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raises DeadlineExceeded when the time is over."""
        if time.monotonic() >= self._end:
            raise DeadlineExceeded(self.what, self.seconds)


@dataclass(frozen=True, slots=True)
class ActionOutcome(Generic[Result]):
    """How a goal ended: a ``status`` of action_msgs/GoalStatus and the action's result message."""

    status: int
    result: Result

    @property
    def succeeded(self) -> bool:
        """Whether the goal was reached."""
        return bool(self.status == GoalStatus.STATUS_SUCCEEDED)

    @property
    def canceled(self) -> bool:
        """Whether it ended because a client cancelled it."""
        return bool(self.status == GoalStatus.STATUS_CANCELED)

    @property
    def aborted(self) -> bool:
        """Whether the server gave it up."""
        return bool(self.status == GoalStatus.STATUS_ABORTED)


def wait_until(
    condition: Callable[[], bool],
    timeout: float,
    what: str,
    *,
    context: Context | None = None,
    cancelled: threading.Event | None = None,
    poll: float = POLL_SECONDS,
) -> None:
    """Block until ``condition()`` holds.

    Raises:
        DeadlineExceeded: ``timeout`` seconds have passed.
        Interrupted: ``cancelled`` was set.
        NodeStopped: ``context`` was shut down.
    """
    deadline = Deadline(timeout, what)
    pause = threading.Event()
    while not condition():
        _check(deadline, context, cancelled)
        pause.wait(min(poll, deadline.remaining))


def call_service(
    client: Client, request: Any, timeout: float, what: str = "", *, cancelled: threading.Event | None = None
) -> Any:
    """Send ``request`` and return the response; ``timeout`` covers the server's discovery too.

    Raises:
        DeadlineExceeded, PeerLost, Interrupted, NodeStopped: see the module.
    """
    what = what or f"service {client.srv_name}"
    deadline = Deadline(timeout, what)
    wait_until(client.service_is_ready, timeout, f"{what} to appear", context=client.context, cancelled=cancelled)
    answered = threading.Event()
    future = client.call_async(request)
    future.add_done_callback(lambda _: answered.set())
    try:
        _block(answered, deadline, client.context, client.service_is_ready, cancelled)
    except (DeadlineExceeded, PeerLost, Interrupted, NodeStopped):
        client.remove_pending_request(future)
        raise
    return future.result()


def run_in_executor(node: Node, step: Callable[[], T], timeout: float, what: str) -> T:
    """Run ``step`` in the thread that spins ``node`` and return its result; what it raises is raised here.

    For changes of a node's entities (subscriptions and the like), which only that thread may make.

    Raises:
        DeadlineExceeded, NodeStopped: see the module.
    """
    if node.executor is None:
        raise NodeStopped(what)
    done = threading.Event()
    outcome: list[T | Exception] = []

    def run() -> None:
        try:
            outcome.append(step())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised in the thread that asked
            outcome.append(error)
        done.set()

    node.executor.create_task(run)
    _block(done, Deadline(timeout, what), node.context, lambda: True, None)
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def require_success(response: Any, what: str) -> Any:
    """``response`` itself, if its ``success`` field is true.

    Raises:
        CallFailed: it is false; the cause is the response's ``message``.
    """
    if not response.success:
        raise CallFailed(what, response.message)
    return response


def send_goal(
    client: ActionClient,
    goal: Any,
    timeout: float,
    what: str = "",
    *,
    feedback: Callable[[Any], None] | None = None,
    cancelled: threading.Event | None = None,
    accept_timeout: float = ACCEPT_SECONDS,
    cancel_timeout: float = ACCEPT_SECONDS,
) -> ActionOutcome[Any]:
    """Send ``goal`` and return how it ended.

    ``feedback`` gets each feedback message in the executor's thread. When ``cancelled`` is set, the goal is cancelled
    and its outcome is awaited ``cancel_timeout`` seconds longer: an outcome that arrives is returned like any other.
    At the deadline the goal is cancelled as well, without waiting for its end.

    Raises:
        GoalRejected: the server refused it.
        CallFailed: the server had forgotten the goal before it was asked for the result.
        Interrupted: ``cancelled`` was set before the server had accepted, or the server did not end a cancelled goal.
        DeadlineExceeded, PeerLost, NodeStopped: see the module.
    """
    what = what or f"action {client._action_name}"  # the client has no public name
    context = client._node.context
    wait_until(client.server_is_ready, accept_timeout, f"{what} to appear", context=context, cancelled=cancelled)
    exchange = _GoalExchange(client, goal, feedback, what)
    alive = client.server_is_ready
    exchange.start()
    try:
        accepting = Deadline(accept_timeout, f"{what} to be accepted")
        _block(exchange.ended, accepting, context, alive, cancelled, enough=lambda: exchange.accepted)
        try:
            _block(exchange.ended, Deadline(timeout, what), context, alive, cancelled)
        except Interrupted:
            exchange.cancel()
            _block_cancelled(exchange, what, cancel_timeout, context, alive)
    except (DeadlineExceeded, PeerLost, Interrupted):
        exchange.abandon()
        raise
    if not exchange.accepted:
        raise GoalRejected(what)
    return exchange.outcome()


class _GoalExchange:
    """One goal's messages to and from its server.

    Everything that touches the action client runs in the executor's thread: the client registers a request only after
    it was sent, so that from any other thread a quick answer could come first, and would be dropped.
    """

    def __init__(self, client: ActionClient, goal: Any, feedback: Callable[[Any], None] | None, what: str) -> None:
        self.ended = threading.Event()
        """Set once there is a result, or the server has refused the goal."""
        self._client = client
        self._goal = goal
        self._feedback = feedback
        self._what = what
        self._handle: ClientGoalHandle | None = None
        self._response: Future | None = None
        self._result: Future | None = None
        self._abandoned = False

    @property
    def accepted(self) -> bool:
        return self._handle is not None and bool(self._handle.accepted)

    def outcome(self) -> ActionOutcome[Any]:
        """Of an exchange that has ended.

        Raises:
            CallFailed: the server does not know the goal any more.
        """
        if self._result is None:
            raise NodeStopped(self._what)
        reply = self._result.result()
        if reply.status == GoalStatus.STATUS_UNKNOWN:
            raise CallFailed(self._what, "its server was asked for the result too late")
        return ActionOutcome(reply.status, reply.result)

    def start(self) -> None:
        self._in_executor(self._send)

    def cancel(self) -> None:
        self._in_executor(self._send_cancel)

    def abandon(self) -> None:
        """Stop waiting: cancel the goal, should it run or be accepted later, and drop what the client keeps for it."""
        self._in_executor(self._forget)

    def _in_executor(self, step: Callable[[], None]) -> None:
        executor = self._client._node.executor
        if executor is None:
            raise NodeStopped(self._what)
        executor.create_task(step)

    def _send(self) -> None:
        callback = None if self._feedback is None else self._on_feedback
        self._response = self._client.send_goal_async(self._goal, feedback_callback=callback)
        self._response.add_done_callback(self._on_response)

    def _on_feedback(self, message: Any) -> None:
        if self._feedback is not None and not self._abandoned:
            self._feedback(message.feedback)

    def _on_response(self, future: Future) -> None:
        if future.cancelled():
            return
        self._handle = future.result()
        if self._abandoned:
            self._send_cancel()
        elif self.accepted:
            self._result = self._handle.get_result_async()
            self._result.add_done_callback(self._on_result)
        else:
            self.ended.set()

    def _on_result(self, future: Future) -> None:
        if not future.cancelled():
            self.ended.set()

    def _send_cancel(self) -> None:
        if self._handle is not None and self._handle.accepted:
            self._handle.cancel_goal_async()

    def _forget(self) -> None:
        self._abandoned = True
        self._send_cancel()
        if self._result is not None:
            self._result.cancel()


def _block_cancelled(
    exchange: _GoalExchange, what: str, timeout: float, context: Context, alive: Callable[[], bool]
) -> None:
    try:
        _block(exchange.ended, Deadline(timeout, f"{what} to end after its cancellation"), context, alive, None)
    except DeadlineExceeded as late:
        raise Interrupted(what) from late


def _block(
    done: threading.Event,
    deadline: Deadline,
    context: Context,
    alive: Callable[[], bool],
    cancelled: threading.Event | None,
    *,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Wait for ``done``; the caller's thread does nothing else meanwhile.

    ``enough`` ends the wait as well, but it is only looked at now and then: nobody needs to wake this thread for it.
    """
    next_peer_check = time.monotonic() + PEER_CHECK_SECONDS
    missed = 0
    while not done.wait(min(POLL_SECONDS, deadline.remaining)):
        if enough():
            return
        _check(deadline, context, cancelled)
        if time.monotonic() < next_peer_check:
            continue
        next_peer_check = time.monotonic() + PEER_CHECK_SECONDS
        missed = 0 if alive() else missed + 1
        if missed >= 2:
            raise PeerLost(deadline.what)


def _check(deadline: Deadline, context: Context | None, cancelled: threading.Event | None) -> None:
    if context is not None and not context.ok():
        raise NodeStopped(deadline.what)
    if cancelled is not None and cancelled.is_set():
        raise Interrupted(deadline.what)
    deadline.check()
