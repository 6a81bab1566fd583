"""A service whose requests are handled in worker threads, so that a handler may wait while the node keeps spinning."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node


@dataclass(frozen=True, slots=True)
class _Pending:
    """Stands for the response between the service's callback and the worker that makes the real one."""

    request: Any


class WorkerService:
    """Answers each request with what ``handler(request)`` returns, computed in a thread; one request at a time.

    An exception in the handler is logged with its traceback and answered by ``failure_response(error)``; for services
    with the fields ``success`` and ``message`` that function need not be given.

    rclpy sends what a service callback returns in the same executor turn. Here the callback returns a placeholder, and
    the service's ``send_response``, which is given the request's header, starts the worker instead of sending.
    """

    def __init__(
        self,
        node: Node,
        service_type: Any,
        name: str,
        handler: Callable[[Any], Any],
        *,
        failure_response: Callable[[Exception], Any] | None = None,
    ) -> None:
        if failure_response is None and not {"success", "message"} <= set(
            service_type.Response.get_fields_and_field_types()
        ):
            raise TypeError(f"service {name} has no fields success and message: failure_response must be given")
        self._node = node
        self._type = service_type
        self._name = name
        self._handler = handler
        self._failure_response = failure_response or self._default_failure
        self._one_at_a_time = threading.Lock()
        self._service = node.create_service(service_type, name, lambda request, _: _Pending(request))
        self._send_now = self._service.send_response
        self._service.send_response = self._send_later  # type: ignore[method-assign, assignment]

    def _send_later(self, pending: _Pending, header: Any) -> None:
        threading.Thread(
            target=self._answer, args=(pending.request, header), name=f"service {self._name}", daemon=True
        ).start()

    def _answer(self, request: Any, header: Any) -> None:
        with self._one_at_a_time:
            try:
                response = self._handler(request)
            except Exception as error:  # noqa: BLE001 - whatever the handler raises is the answer, never the node's end
                self._node.get_logger().error(f"{self._name}: {error}\n{traceback.format_exc()}")
                response = self._failure_response(error)
        try:
            self._send_now(response, header)
        except InvalidHandle:  # the node has been destroyed meanwhile, and its client knows
            return

    def _default_failure(self, error: Exception) -> Any:
        return self._type.Response(success=False, message=str(error))
