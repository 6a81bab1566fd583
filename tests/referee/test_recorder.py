"""Bags are complete, readable by other tools, and say when they are not."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Writer
from std_msgs.msg import String

from homie_core.episode import Step
from homie_core.subtask import Subtask
from homie_referee.message_definitions import DefinitionError
from homie_referee.recorder import BagWriter, RecordingError
from homie_ros.conversions import step_to_msg

STRING = "std_msgs/msg/String"


def text(number: int) -> bytes:
    return serialize_message(String(data=f"message {number}"))


def test_everything_comes_back_in_order(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/a", STRING)
        bag.add_topic("/b", "homie_msgs/msg/StepRecord")
        for number in range(200):
            bag.write("/a", text(number))
            bag.write("/b", serialize_message(step_to_msg(Step(number, Subtask("Pick", "apple"), True), "episode")))
    assert bag.counts == {"/a": 200, "/b": 200}
    with AnyReader([tmp_path / "bag"]) as reader:
        read: list[tuple[str, int, Any]] = [
            (found.topic, stamp, reader.deserialize(raw, found.msgtype)) for found, stamp, raw in reader.messages()
        ]
    assert [message.data for topic, _, message in read if topic == "/a"] == [f"message {n}" for n in range(200)]
    assert [message.index for topic, _, message in read if topic == "/b"] == list(range(200))
    stamps = [stamp for _, stamp, _ in read]
    assert all(before < after for before, after in pairwise(stamps))


def test_another_reader_that_knows_no_types(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/b", "homie_msgs/msg/StepRecord")
        bag.write("/b", serialize_message(step_to_msg(Step(3, Subtask("Pick", "apple"), True), "episode")))
    with (tmp_path / "bag" / "bag.mcap").open("rb") as file:
        ((_, _, _, message),) = make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages()
    assert (message.index, message.subtask.target) == (3, "apple")


def test_an_empty_bag_can_be_read(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/a", STRING)
    with AnyReader([tmp_path / "bag"]) as reader:
        assert list(reader.messages()) == []


def test_the_folder_must_be_new(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="exists already"):
        BagWriter(tmp_path)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RecordingError, match="the bag can not be made"):
        BagWriter(file / "bag")


def test_topics_must_be_new_and_types_known(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/a", STRING)
        with pytest.raises(RecordingError, match="topic /a is recorded already"):
            bag.add_topic("/a", STRING)
        with pytest.raises(DefinitionError, match="no_msgs/msg/None"):
            bag.add_topic("/c", "no_msgs/msg/None")


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = threading.Event()

    def write(*_: object) -> None:
        written.set()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Writer, "write", write)
    bag = BagWriter(tmp_path / "bag")
    bag.add_topic("/a", STRING)
    bag.write("/a", text(0))
    assert written.wait(5)
    with pytest.raises(RecordingError, match="No space left on device"):
        bag.close()
    with pytest.raises(RecordingError, match="No space left on device"):
        bag.write("/a", text(1))
