"""Nodes live and end cleanly, many times in one process; failures are not lost."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from std_msgs.msg import String

from homie_ros.domains import DomainReservation
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeFailed, NodeHost
from homie_ros.qos import events
from homie_ros.waiting import run_in_executor, wait_until
from support.graph import fresh_host


class Radio(HomieNode):
    def __init__(self, **options: Any) -> None:
        super().__init__("radio", **options)
        self.heard: list[str] = []
        self.closed = False
        self.publisher = self.create_publisher(String, "news", events())
        self.create_subscription(String, "news", self._hear, events())

    def say(self, text: str) -> None:
        self.publisher.publish(String(data=text))

    def _hear(self, message: String) -> None:
        if message.data == "poison":
            raise ValueError("tasted bad")
        self.heard.append(message.data)

    def close(self) -> None:
        self.closed = True
        super().close()


def heard_once(node: Radio) -> bool:
    return node.heard == ["once"]


def test_two_domains_in_one_process_do_not_hear_each_other() -> None:
    with fresh_host() as left, fresh_host() as right:
        one, two = left.add(Radio), right.add(Radio)
        for number in range(20):
            one.say(f"left {number}")
            two.say(f"right {number}")
        wait_until(lambda: len(one.heard) == 20 and len(two.heard) == 20, 10, "the news")
    assert one.heard == [f"left {number}" for number in range(20)]
    assert two.heard == [f"right {number}" for number in range(20)]


def test_namespaces_keep_nodes_of_one_domain_apart() -> None:
    with fresh_host() as host:
        one, two = host.add(Radio, namespace="robot_1"), host.add(Radio, namespace="robot_2")
        one.say("hello")
        wait_until(lambda: one.heard == ["hello"], 10, "the news")
        assert two.heard == []


def test_ending_many_times() -> None:
    before = threading.active_count()
    for _ in range(5):
        with fresh_host() as host:
            node = host.add(Radio)
            node.say("once")
            wait_until(partial(heard_once, node), 10, "the news")
        assert node.closed
    assert threading.active_count() <= before


def test_an_exception_in_a_callback_is_the_node_s_failure() -> None:
    with fresh_host() as host:
        node = host.add(Radio)
        node.say("poison")
        with pytest.raises(NodeFailed, match="node radio failed: ValueError: tasted bad") as caught:
            host.wait(10)
    assert "_hear" in caught.value.details


def test_a_thread_can_fail_its_node() -> None:
    with fresh_host() as host:
        node = host.add(Radio)
        threading.Thread(target=node.fail, args=(RuntimeError("physics exploded"),)).start()
        with pytest.raises(NodeFailed, match="physics exploded"):
            host.wait(10)


def test_a_node_that_fails_leaves_the_graph_and_the_others_stay() -> None:
    with fresh_host() as host:
        bad, good = host.add(Radio), host.add(Radio, namespace="other")
        bad.say("poison")
        wait_until(lambda: bad.closed and good.count_publishers("/news") == 0, 10, "the node to leave")
        good.say("still here")
        wait_until(lambda: good.heard == ["still here"], 10, "the other node")
        assert host.failure is not None


def test_stop_ends_the_wait() -> None:
    with fresh_host() as host:
        host.add(Radio)
        threading.Timer(0.2, host.stop).start()
        host.wait(10)


def test_every_node_is_closed_even_if_one_fails_to() -> None:
    class Stubborn(Radio):
        def close(self) -> None:
            raise OSError("disk full")

    with DomainReservation() as domain:
        host = NodeHost(domain_id=domain.id)
        good = host.add(Radio)
        host.add(Stubborn)
        with pytest.raises(ExceptionGroup, match="did not end cleanly") as caught:
            host.close()
    assert good.closed
    assert "disk full" in str(caught.value.exceptions[0])


def test_nothing_is_kept_of_what_a_node_destroys() -> None:
    with fresh_host() as host:
        node = host.add(Radio)

        def subscribe_and_leave() -> None:
            node.destroy_subscription(node.create_subscription(String, "other", node.heard.append, events()))
            node.destroy_timer(node.create_timer(10.0, node.heard.clear))

        before = len(node.default_callback_group.entities)
        run_in_executor(node, subscribe_and_leave, 10, "the node's turn")
        assert len(node.default_callback_group.entities) == before
