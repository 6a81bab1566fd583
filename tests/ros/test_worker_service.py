"""A service handler may wait while its node keeps spinning."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from homie_msgs.srv import ResetEpisode
from rcl_interfaces.srv import GetParameters
from std_srvs.srv import Trigger

from homie_ros.homie_node import HomieNode
from homie_ros.waiting import call_service
from homie_ros.worker_service import WorkerService
from support.graph import fresh_host

CALLERS = 10
"""As many requests at once as a service's default quality of service keeps; more may be lost on their way."""


class Nested(HomieNode):
    """Answers `outer` by asking its own service `inner`: impossible without a worker."""

    def __init__(self, **options: Any) -> None:
        super().__init__("nested", **options)
        self.inner = self.create_client(Trigger, "inner")
        WorkerService(self, Trigger, "inner", lambda _: Trigger.Response(success=True, message="inner"))
        WorkerService(self, Trigger, "outer", lambda request: call_service(self.inner, request, 5))
        WorkerService(self, Trigger, "broken", self._broken)

    def _broken(self, _: Trigger.Request) -> Trigger.Response:
        raise ValueError("out of order")


class Caller(HomieNode):
    def __init__(self, **options: Any) -> None:
        super().__init__("caller", **options)


def test_a_handler_may_call_its_own_node() -> None:
    with fresh_host() as host:
        host.add(Nested)
        outer = host.add(Caller).create_client(Trigger, "outer")
        assert call_service(outer, Trigger.Request(), 10).message == "inner"


def test_an_exception_is_the_answer() -> None:
    with fresh_host() as host:
        host.add(Nested)
        broken = host.add(Caller).create_client(Trigger, "broken")
        response = call_service(broken, Trigger.Request(), 10)
        host.check()
    assert (response.success, response.message) == (False, "out of order")


def test_many_callers_get_their_own_answers() -> None:
    class Square(HomieNode):
        def __init__(self, **options: Any) -> None:
            super().__init__("square", **options)
            WorkerService(self, ResetEpisode, "square", self._square)

        def _square(self, request: ResetEpisode.Request) -> ResetEpisode.Response:
            return ResetEpisode.Response(success=True, message=str(request.seed**2))

    answers: dict[int, str] = {}

    def ask(client: Any, number: int) -> None:
        answers[number] = call_service(client, ResetEpisode.Request(seed=number), 20).message

    with fresh_host() as host:
        host.add(Square)
        client = host.add(Caller).create_client(ResetEpisode, "square")
        threads = [threading.Thread(target=ask, args=(client, number)) for number in range(CALLERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert answers == {number: str(number**2) for number in range(CALLERS)}


def test_a_type_that_can_not_say_failure_needs_a_failure_response() -> None:
    with fresh_host() as host:
        node = host.add(Caller)
        with pytest.raises(TypeError, match="failure_response must be given"):
            WorkerService(node, GetParameters, "strange", lambda _: GetParameters.Response())
