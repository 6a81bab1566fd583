"""The executor serves every kind of entity, loses nothing, and notices what changes while it waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import rclpy
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from homie_ros.domains import DomainReservation
from homie_ros.executor import LeanExecutor
from homie_ros.homie_node import HomieNode
from homie_ros.qos import events

SECONDS = 10.0


@contextmanager
def spun_by_hand() -> Iterator[tuple[HomieNode, LeanExecutor]]:
    """A node that nothing spins yet, and its executor."""
    context = Context()
    with DomainReservation() as domain:
        rclpy.init(context=context, domain_id=domain.id)
        node = HomieNode("subject", context=context, start_parameter_services=False)
        executor = LeanExecutor(context=context)
        executor.add_node(node)
        try:
            yield node, executor
        finally:
            executor.shutdown()
            node.destroy_node()
            context.try_shutdown()


def spin_until(executor: LeanExecutor, heard: list[Any], count: int) -> None:
    end = time.monotonic() + SECONDS
    while len(heard) < count:
        assert time.monotonic() < end, f"heard {heard}"
        executor.spin_once(0.1)


def hear(told: list[str], message: String) -> None:
    told.append(message.data)


def test_each_kind_of_entity_is_served() -> None:
    with spun_by_hand() as (node, executor):
        told: list[str] = []

        def serve(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            told.append("service")
            return response

        node.create_subscription(String, "news", partial(hear, told), events())
        node.create_service(Trigger, "ask", serve)
        client = node.create_client(Trigger, "ask")
        guard = node.create_guard_condition(lambda: told.append("guard"))
        timer = node.create_timer(0.01, lambda: told.append("timer"), clock=Clock(clock_type=ClockType.STEADY_TIME))
        spin_until(executor, told, 1)
        timer.cancel()
        assert set(told) == {"timer"}
        told.clear()
        guard.trigger()
        node.create_publisher(String, "news", events()).publish(String(data="topic"))
        assert client.wait_for_service(SECONDS)
        client.call_async(Trigger.Request()).add_done_callback(lambda _: told.append("client"))
        spin_until(executor, told, 4)
        assert sorted(told) == ["client", "guard", "service", "topic"]


def test_all_that_is_ready_is_done_in_one_turn() -> None:
    with spun_by_hand() as (node, executor):
        told: list[str] = []
        for name in "abc":
            node.create_subscription(String, name, partial(hear, told), events())
            node.create_publisher(String, name, events()).publish(String(data=name))
        time.sleep(0.5)
        executor.spin_once(SECONDS)
        assert sorted(told) == ["a", "b", "c"]


def test_tasks_run_in_their_order_and_so_do_those_that_they_make() -> None:
    with spun_by_hand() as (_, executor):
        told: list[str] = []

        def first() -> None:
            told.append("first")
            executor.create_task(told.append, "third")

        executor.create_task(first)
        executor.create_task(told.append, "second")
        executor.spin_once(0)
        assert told == ["first", "second", "third"]


def test_a_task_of_another_thread_ends_the_wait() -> None:
    with spun_by_hand() as (_, executor):
        told: list[str] = []
        executor.spin_once(0)
        threading.Timer(0.2, executor.create_task, (told.append, "task")).start()
        begin = time.monotonic()
        while not told:
            executor.spin_once(SECONDS)
        assert time.monotonic() - begin < SECONDS / 2


def test_what_a_callback_raises_is_raised_and_the_other_messages_stay() -> None:
    with spun_by_hand() as (node, executor):
        told: list[str] = []

        def take(message: String) -> None:
            if message.data == "poison":
                raise ValueError("tasted bad")
            told.append(message.data)

        for name, text in (("a", "poison"), ("b", "bread")):
            node.create_subscription(String, name, take, events())
            node.create_publisher(String, name, events()).publish(String(data=text))
        time.sleep(0.5)
        with pytest.raises(ValueError, match="tasted bad"):
            spin_until(executor, told, 2)
        spin_until(executor, told, 1)
        assert told == ["bread"]


def test_what_a_task_raises_is_raised_and_the_other_tasks_stay() -> None:
    with spun_by_hand() as (_, executor):
        told: list[str] = []
        executor.create_task(lambda: 1 / 0)
        executor.create_task(told.append, "next")
        with pytest.raises(ZeroDivisionError):
            executor.spin_once(0)
        executor.spin_once(0)
        assert told == ["next"]


def test_entities_may_come_and_go_while_it_waits() -> None:
    with spun_by_hand() as (node, executor):
        told: list[str] = []
        publisher = node.create_publisher(String, "news", events())
        executor.spin_once(0)
        subscription = node.create_subscription(String, "news", partial(hear, told), events())
        publisher.publish(String(data="one"))
        spin_until(executor, told, 1)
        node.destroy_subscription(subscription)
        publisher.publish(String(data="two"))
        for _ in range(5):
            executor.spin_once(0.05)
        assert told == ["one"]
        assert node.count_subscribers("news") == 0


def test_a_callback_that_waits_goes_on_later() -> None:
    with spun_by_hand() as (node, executor):
        told: list[str] = []
        awaited = Future(executor=executor)

        async def take(message: String) -> None:
            told.append(message.data)
            told.append(await awaited)

        # rclpy's annotation leaves coroutines out
        node.create_subscription(String, "news", take, events())  # type: ignore[arg-type]
        node.create_publisher(String, "news", events()).publish(String(data="question"))
        spin_until(executor, told, 1)
        executor.spin_once(0)
        assert told == ["question"]
        awaited.set_result("answer")
        spin_until(executor, told, 2)
        assert told == ["question", "answer"]


def test_several_nodes_and_one_that_leaves() -> None:
    with spun_by_hand() as (node, executor):
        told: list[str] = []
        other = HomieNode("other", context=node.context, start_parameter_services=False)
        other.create_subscription(String, "news", partial(hear, told), events())
        publisher = node.create_publisher(String, "news", events())
        executor.spin_once(0)
        executor.add_node(other)
        publisher.publish(String(data="one"))
        spin_until(executor, told, 1)
        executor.remove_node(other)
        publisher.publish(String(data="two"))
        for _ in range(5):
            executor.spin_once(0.05)
        other.destroy_node()
        assert told == ["one"]


def test_spinning_until_a_future_is_done() -> None:
    with spun_by_hand() as (node, executor):
        node.create_service(Trigger, "ask", lambda _, response: response)
        client = node.create_client(Trigger, "ask")
        assert client.wait_for_service(SECONDS)
        future = client.call_async(Trigger.Request())
        executor.spin_until_future_complete(future, SECONDS)
        assert future.done()
        executor.spin_until_future_complete(Future(executor=executor), 0.2)


def test_nothing_ready_ends_after_the_timeout() -> None:
    with spun_by_hand() as (_, executor):
        executor.spin_once(0)  # the node's own making has woken it
        begin = time.monotonic()
        executor.spin_once(0.2)
        assert 0.15 < time.monotonic() - begin < SECONDS


def test_the_end_of_the_context_ends_the_wait() -> None:
    with spun_by_hand() as (node, executor):
        executor.spin_once(0)  # what the node's own making has left
        threading.Timer(0.2, node.context.try_shutdown).start()
        with pytest.raises(ExternalShutdownException):
            executor.spin_once(SECONDS)
        with pytest.raises(ExternalShutdownException):
            executor.spin_once(0)
