"""The recorder: everything that happens in a namespace into a bag, on request.

Only ordinary topics are recorded, as serialized bytes, with the definitions of their types. Topics are found in the
graph while recording, so a world that lacks some still works; those that must be there are named in the request, and it
is answered when they are connected.
"""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from homie_msgs.srv import StartRecording, StopRecording
from pydantic import BaseModel, Field
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from homie_referee.message_definitions import DefinitionError
from homie_referee.recorder import BagWriter, RecordingError
from homie_ros.errors import DeadlineExceeded, InfrastructureError
from homie_ros.homie_node import HomieNode
from homie_ros.node_main import run_node
from homie_ros.parameters import read_parameters
from homie_ros.waiting import run_in_executor, wait_until
from homie_ros.worker_service import WorkerService

HISTORY = 1000
"""Messages of one topic that may arrive while this node is busy."""

DISCOVERY_SECONDS = 0.25
"""How often the graph is searched for new topics."""

QUIET_SECONDS = 0.1
"""A bag is closed once no event and no state has come for so long: what was published before the request is in it."""

DRAIN_SECONDS = 3.0
"""And after this time in any case."""

CONNECT_SECONDS = 10.0
"""Deadline of a request that names none."""

TURN_SECONDS = 10.0
"""Deadline of a turn of the executor."""

EVENTS = ["episode/*", "monitor/error", "referee/*/score"]
STATES = ["world_state", "world_description", "map", "tf_static", "observation", "top_down/*/compressed"]
STREAMS = [
    "joint_states",
    "odom",
    "tf",
    "clock",
    "plan",
    "cmd_vel",
    "diagnostics",
    "head_camera/*/camera_info",
    "head_camera/*/compressed",
    "third_person/*/compressed",
]


class RecorderSettings(BaseModel):
    """What is recorded: names relative to the namespace, or absolute; ``*`` stands for any text."""

    events: list[str] = Field(EVENTS, description="Topics whose messages happen once; older ones are left out.")
    states: list[str] = Field(STATES, description="Topics whose latest message belongs into every bag.")
    streams: list[str] = Field(STREAMS, description="Topics that flow; nothing waits for them at the end.")


@dataclass(frozen=True, slots=True)
class Tap:
    """A subscription that fills bags; ``offered`` is the quality of all publishers when it was made.

    It outlives its first bag: Fast DDS 2.14 never drops what it counts for a reader (``EDP::reader_status_``), so a
    process grows with every subscription that it ever had. Those to latched states are made anew for each bag, which
    then begins with the latest state of every publisher.
    """

    subscription: Subscription
    type_name: str
    offered: QoSProfile
    for_one_bag: bool

    @property
    def connected(self) -> bool:
        """Whether at least one publisher is matched."""
        return self.subscription.get_publisher_count() > 0


class Recording:
    """One open bag and what goes into it."""

    def __init__(self, node: RecorderNode, bag: BagWriter) -> None:
        self.bag = bag
        self.topics: set[str] = set()
        self.refused: set[str] = set()
        self.last_arrival = time.monotonic()
        self._node = node
        self._since = time.time_ns()
        self._failure_is_logged = False

    def add(self, topic: str, type_name: str) -> None:
        """Let messages of ``topic`` in.

        Raises:
            DefinitionError: the type is not installed.
        """
        self.bag.add_topic(topic, type_name)
        self.topics.add(topic)

    def take(self, topic: str, data: bytes, published: int, received: int) -> None:
        """Write a message, if it belongs here; ``published`` and ``received`` are nanoseconds of wall time."""
        if topic not in self.topics or received < self._since:
            return  # it waited here since before this bag was asked for
        if self._node.is_event(topic) and published < self._since:
            return  # the history of an earlier episode
        if not self._node.is_stream(topic):
            self.last_arrival = time.monotonic()
        self._write(topic, data)

    def wait_for_quiet(self) -> None:
        """Give messages that were published before now the time to arrive."""
        end = time.monotonic() + DRAIN_SECONDS
        self.last_arrival = time.monotonic()
        while time.monotonic() < min(end, self.last_arrival + QUIET_SECONDS):
            time.sleep(QUIET_SECONDS / 5)

    def _write(self, topic: str, data: bytes) -> None:
        try:
            self.bag.write(topic, data)
        except RecordingError as error:
            if not self._failure_is_logged:  # once; stopping the recording answers with it again
                self._failure_is_logged = True
                self._node.get_logger().error(str(error))


class RecorderNode(HomieNode):
    """Services ``start_recording`` and ``stop_recording``; one bag at a time."""

    def __init__(self, **options: Any) -> None:
        super().__init__("recorder", **options)
        self._settings = read_parameters(self, RecorderSettings)
        self._recording: Recording | None = None
        self._taps: dict[str, Tap] = {}
        WorkerService(self, StartRecording, "start_recording", self._start)
        WorkerService(self, StopRecording, "stop_recording", self._stop)
        self.create_timer(DISCOVERY_SECONDS, self._discover, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def is_event(self, topic: str) -> bool:
        """Whether the messages of a topic happen once."""
        return self._matches(topic, self._settings.events)

    def is_stream(self, topic: str) -> bool:
        """Whether the messages of a topic flow."""
        return self._matches(topic, self._settings.streams)

    def close(self) -> None:
        """Close the bag that is open, so that an interrupted run can be read."""
        if self._recording is not None:
            self._recording.wait_for_quiet()
            self._finish(self._recording)
        super().close()

    def _start(self, request: StartRecording.Request) -> StartRecording.Response:
        if self._recording is not None:
            return StartRecording.Response(message=f"a recording is running: {self._recording.bag.folder}")
        try:
            recording = Recording(self, BagWriter(Path(request.uri)))
        except RecordingError as error:
            return StartRecording.Response(message=str(error))
        self._recording = recording
        try:
            self._connect(recording, request.required_topics, request.timeout_seconds or CONNECT_SECONDS)
        except (InfrastructureError, RecordingError) as error:
            self._finish(recording)
            return StartRecording.Response(message=str(error))
        return StartRecording.Response(success=True, message=f"recording to {request.uri}")

    def _connect(self, recording: Recording, topics: list[str], timeout: float) -> None:
        """Subscribe to what is there, and wait for ``topics``."""
        wanted = [self.resolve_topic_name(topic) for topic in topics]
        unknown = [topic for topic in wanted if not self._is_recorded(topic)]
        if unknown:
            raise RecordingError(f"not among the recorded topics: {', '.join(unknown)}")

        def begin() -> None:
            # Whoever comes back to a topic that all had left may say something before it is found to be back.
            for topic in [topic for topic, tap in self._taps.items() if not tap.connected]:
                if topic not in recording.topics:
                    self._drop(topic)
            self._discover()

        def missing() -> list[str]:
            return [topic for topic in wanted if topic not in recording.topics or not self._taps[topic].connected]

        run_in_executor(self, begin, TURN_SECONDS, "the search for topics")

        try:
            wait_until(lambda: not missing(), timeout, "publishers", context=self.context)
        except DeadlineExceeded as late:
            raise RecordingError(f"no publisher within {timeout:.1f} s for: {', '.join(missing())}") from late

    def _stop(self, _: StopRecording.Request) -> StopRecording.Response:
        recording = self._recording
        if recording is None:
            return StopRecording.Response(message="no recording is running")
        recording.wait_for_quiet()
        failure = self._finish(recording)
        counts = recording.bag.counts
        return StopRecording.Response(
            success=not failure, message=failure, topics=list(counts), message_counts=list(counts.values())
        )

    def _finish(self, recording: Recording) -> str:
        """Close the bag; the failure, or an empty text."""

        def end() -> None:
            self._recording = None
            for topic in [topic for topic, tap in self._taps.items() if tap.for_one_bag]:
                self._drop(topic)

        try:
            run_in_executor(self, end, TURN_SECONDS, "the recording to end")
            recording.bag.close()
        except (InfrastructureError, RecordingError) as error:
            self.get_logger().error(str(error))
            return str(error)
        return ""

    def _discover(self) -> None:
        """In the executor's thread: record what is there, is wanted, and is not recorded yet."""
        recording = self._recording
        if recording is None:
            return
        for topic, types in self.get_topic_names_and_types():
            if topic in recording.topics or topic in recording.refused or not self._is_recorded(topic):
                continue
            publishers = self.get_publishers_info_by_topic(topic)
            if publishers:
                self._record(recording, topic, types, publishers)

    def _record(self, recording: Recording, topic: str, types: list[str], publishers: list[TopicEndpointInfo]) -> None:
        if len(types) > 1:
            recording.refused.add(topic)
            self.get_logger().error(f"{topic} is not recorded: it has several types: {', '.join(types)}")
            return
        try:
            self._subscribe(topic, types[0], _offered(publishers))
            recording.add(topic, types[0])
        except (DefinitionError, RecordingError) as error:
            recording.refused.add(topic)
            self.get_logger().error(f"{topic} is not recorded: {error}")

    def _subscribe(self, topic: str, type_name: str, offered: QoSProfile) -> None:
        """Listen to ``topic`` from now on, unless an earlier bag has left it so."""
        tap = self._taps.get(topic)
        if tap is not None and (tap.type_name, tap.offered) == (type_name, offered):
            return
        if tap is not None:
            self._drop(topic)

        def take(data: bytes, info: dict[str, int]) -> None:
            if self._recording is not None:
                self._recording.take(topic, data, info["source_timestamp"], info["received_timestamp"])

        subscription = self.create_subscription(
            _message_type(type_name),
            topic,
            take,  # type: ignore[arg-type]  # rclpy's annotation leaves out the form with the message's info
            offered,
            # Nothing can be incompatible with what is offered, and each turn would pay for watching.
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
            raw=True,
        )
        latched = offered.durability is DurabilityPolicy.TRANSIENT_LOCAL
        self._taps[topic] = Tap(subscription, type_name, offered, for_one_bag=latched and not self.is_event(topic))

    def _drop(self, topic: str) -> None:
        self.destroy_subscription(self._taps.pop(topic).subscription)

    def _is_recorded(self, topic: str) -> bool:
        settings = self._settings
        return self._matches(topic, [*settings.events, *settings.states, *settings.streams])

    def _matches(self, topic: str, patterns: list[str]) -> bool:
        """Whether a full topic name is one of ``patterns``, which are relative to this node's namespace."""
        prefix = self.get_namespace().rstrip("/")
        return any(
            fnmatchcase(topic, pattern if pattern.startswith("/") else f"{prefix}/{pattern}") for pattern in patterns
        )


def _offered(publishers: list[TopicEndpointInfo]) -> QoSProfile:
    """The best quality that matches all ``publishers``."""
    latched = all(info.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL for info in publishers)
    reliable = all(info.qos_profile.reliability is ReliabilityPolicy.RELIABLE for info in publishers)
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=HISTORY,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
    )


def _message_type(type_name: str) -> Any:
    """The class of e.g. ``std_msgs/msg/String``.

    Raises:
        DefinitionError: it is not installed.
    """
    package, _, name = type_name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError) as error:
        raise DefinitionError(f"type {type_name} is not installed: {error}") from error


def main() -> None:
    """Run the recorder as a process."""
    sys.exit(run_node(RecorderNode))
