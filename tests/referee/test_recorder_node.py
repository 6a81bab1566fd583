"""The recorder among real publishers: nothing missing, nothing of earlier episodes, a bag whatever happens."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from homie_msgs.msg import StepRecord, WorldState
from homie_msgs.srv import StartRecording, StopRecording
from rclpy.publisher import Publisher
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Writer
from sensor_msgs.msg import CompressedImage, JointState

from homie_core.episode import Step
from homie_core.subtask import Subtask
from homie_referee.recorder_node import RecorderNode
from homie_ros import qos
from homie_ros.conversions import step_to_msg
from homie_ros.homie_node import HomieNode
from homie_ros.images import jpeg_to_msg
from homie_ros.node_host import NodeHost
from homie_ros.waiting import call_service, wait_until
from support.graph import fresh_host


class World(HomieNode):
    """Publishes some topics of each kind and asks for recordings."""

    def __init__(self, **options: Any) -> None:
        super().__init__("world", **options)
        self.steps = self.create_publisher(StepRecord, "episode/step", qos.events())
        self.states = self.create_publisher(WorldState, "world_state", qos.state())
        self.joints = self.create_publisher(JointState, "joint_states", qos.stream())
        self.camera = self.create_publisher(CompressedImage, "third_person/image_raw/compressed", qos.stream())
        self.private = self.create_publisher(JointState, "somewhere/else", qos.stream())
        self.start_client = self.create_client(StartRecording, "start_recording")
        self.stop_client = self.create_client(StopRecording, "stop_recording")

    def start(self, folder: Path, *required: str, timeout: float = 10.0) -> StartRecording.Response:
        request = StartRecording.Request(uri=str(folder), required_topics=list(required), timeout_seconds=timeout)
        return call_service(self.start_client, request, 30)

    def stop(self) -> StopRecording.Response:
        return call_service(self.stop_client, StopRecording.Request(), 30)

    def step(self, episode: str, index: int) -> None:
        self.steps.publish(step_to_msg(Step(index, Subtask("Pick", "apple"), True), episode))


def read(folder: Path) -> list[tuple[str, Any]]:
    with AnyReader([folder]) as reader:
        return [(found.topic, reader.deserialize(raw, found.msgtype)) for found, _, raw in reader.messages()]


def counted(response: StopRecording.Response) -> dict[str, int]:
    assert response.success, response.message
    return dict(zip(response.topics, response.message_counts, strict=True))


def test_all_that_was_published_is_in_the_bag(tmp_path: Path) -> None:
    picture = np.random.default_rng(1).integers(0, 255, (256, 256, 3), dtype=np.uint8)
    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        assert world.start(tmp_path / "bag", "episode/step", "world_state", "joint_states").success
        for number in range(300):
            world.joints.publish(JointState(name=["a"], position=[float(number)]))
            world.camera.publish(jpeg_to_msg(picture, stamp=number))
            world.private.publish(JointState())
            if number % 15 == 0:
                world.step("one", number // 15)
                world.states.publish(WorldState(scene=f"{number}"))
            time.sleep(0.001)
        counts = counted(world.stop())
    assert counts == {
        "/episode/step": 20,
        "/world_state": 20,
        "/joint_states": 300,
        "/third_person/image_raw/compressed": 300,
    }
    messages = read(tmp_path / "bag")
    assert Counter(topic for topic, _ in messages) == counts
    assert [message.position[0] for topic, message in messages if topic == "/joint_states"] == list(range(300))


def test_a_burst_is_not_cut(tmp_path: Path) -> None:
    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        assert world.start(tmp_path / "bag", "episode/step").success
        for number in range(90):
            world.step("one", number)
        assert counted(world.stop())["/episode/step"] == 90


def test_the_second_bag_has_the_latest_state_but_no_old_events(tmp_path: Path) -> None:
    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        for episode in ("one", "two"):
            assert world.start(tmp_path / episode, "episode/step", "world_state").success
            if episode == "one":
                world.states.publish(WorldState(scene="kitchen"))
            for number in range(5):
                world.step(episode, number)
            counted(world.stop())
    second = read(tmp_path / "two")
    assert [message.episode_id for topic, message in second if topic == "/episode/step"] == ["two"] * 5
    assert [message.scene for topic, message in second if topic == "/world_state"] == ["kitchen"]


def test_nothing_from_between_two_bags_is_in_the_second(tmp_path: Path) -> None:
    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        for number in range(4):
            assert world.start(tmp_path / str(number), "episode/step", "joint_states").success
            world.joints.publish(JointState(position=[float(number)]))
            world.step("inside", number)
            counted(world.stop())
            world.joints.publish(JointState(position=[-1.0]))
            world.step("between", number)
    for number in range(4):
        messages = dict(read(tmp_path / str(number)))
        assert messages["/joint_states"].position == [float(number)]
        assert (messages["/episode/step"].episode_id, messages["/episode/step"].index) == ("inside", number)
        assert len(messages) == len(read(tmp_path / str(number)))


def test_a_publisher_that_comes_back_is_recorded_from_its_first_event(tmp_path: Path) -> None:
    class Passing(HomieNode):
        def __init__(self, **options: Any) -> None:
            super().__init__("passing", **options)
            self.scores = self.create_publisher(StepRecord, "referee/passing/score", qos.events())

    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        for number in range(2):
            assert world.start(tmp_path / str(number)).success
            with NodeHost(domain_id=host.context.get_domain_id()) as passing:
                node = passing.add(Passing)
                node.scores.publish(StepRecord(index=number))
                wait_until(partial(_is_heard, node.scores), 20, "the recorder to subscribe")
                assert counted(world.stop())["/referee/passing/score"] == 1


def _is_heard(publisher: Publisher) -> bool:
    return publisher.get_subscription_count() > 0


def test_a_topic_that_appears_later_is_recorded_from_its_first_event(tmp_path: Path) -> None:
    class Late(HomieNode):
        def __init__(self, **options: Any) -> None:
            super().__init__("late", **options)
            self.scores = self.create_publisher(StepRecord, "referee/late/score", qos.events())

    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        assert world.start(tmp_path / "bag").success
        host.add(Late).scores.publish(StepRecord(episode_id="late"))
        time.sleep(1.5)
        assert counted(world.stop())["/referee/late/score"] == 1


def test_namespaces(tmp_path: Path) -> None:
    with fresh_host() as host:
        host.add(RecorderNode, namespace="robot_1")
        world, other = host.add(World, namespace="robot_1"), host.add(World, namespace="robot_2")
        assert world.start(tmp_path / "bag", "episode/step").success
        world.step("one", 1)
        other.step("two", 1)
        assert counted(world.stop())["/robot_1/episode/step"] == 1
    assert {topic for topic, _ in read(tmp_path / "bag")} == {"/robot_1/episode/step"}


def test_what_is_missing_is_named_and_the_recorder_lives_on(tmp_path: Path) -> None:
    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        late = world.start(tmp_path / "one", "episode/step", "odom", timeout=0.7)
        assert (late.success, late.message) == (False, "no publisher within 0.7 s for: /odom")
        strange = world.start(tmp_path / "two", "somewhere/else")
        assert (strange.success, strange.message) == (False, "not among the recorded topics: /somewhere/else")
        assert world.stop().message == "no recording is running"
        taken = world.start(tmp_path)
        assert not taken.success
        assert "exists already" in taken.message
        assert world.start(tmp_path / "three", "episode/step").success
        assert "a recording is running" in world.start(tmp_path / "four").message
        counted(world.stop())


def test_ending_the_node_closes_the_bag(tmp_path: Path) -> None:
    with fresh_host() as host, NodeHost(domain_id=host.context.get_domain_id()) as recorder_host:
        recorder_host.add(RecorderNode)
        world = host.add(World)
        assert world.start(tmp_path / "bag", "episode/step").success
        world.step("one", 1)
        recorder_host.close()
        assert [message.index for _, message in read(tmp_path / "bag")] == [1]


def test_a_full_disk_is_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with fresh_host() as host:
        host.add(RecorderNode)
        world = host.add(World)
        assert world.start(tmp_path / "bag", "episode/step").success
        monkeypatch.setattr(Writer, "write", write)
        for number in range(5):
            world.step("one", number)
        response = world.stop()
        assert not response.success
        assert "No space left on device" in response.message
        monkeypatch.undo()
        assert world.start(tmp_path / "next", "episode/step").success
        counted(world.stop())
