"""Pictures survive the way through messages, whatever their rows look like."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from homie_msgs.msg import Observation
from sensor_msgs.msg import CompressedImage, Image

from homie_ros.homie_node import HomieNode
from homie_ros.images import (
    ImageError,
    image_from_msg,
    image_to_msg,
    jpeg_from_msg,
    jpeg_to_msg,
    observation_to_msg,
    rgb_from_msg,
    views_from_msg,
)
from homie_ros.qos import events
from support.graph import fresh_host

RNG = np.random.default_rng(7)
RGB = RNG.integers(0, 255, (5, 7, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("encoding", "array"),
    [
        ("rgb8", RGB),
        ("bgr8", RGB),
        ("mono8", RGB[:, :, 0].copy()),
        ("16UC1", RNG.integers(0, 65535, (4, 3), dtype=np.uint16)),
        ("32FC1", RNG.random((4, 3), dtype=np.float32)),
    ],
)
def test_round_trip(encoding: str, array: Any) -> None:
    message = image_to_msg(array, encoding, stamp=1_500_000_000, frame_id="camera")
    assert (message.header.stamp.sec, message.header.stamp.nanosec, message.header.frame_id) == (
        1,
        500_000_000,
        "camera",
    )
    back = image_from_msg(message)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_views_that_are_not_contiguous() -> None:
    flipped = RGB[::-1, ::2]
    np.testing.assert_array_equal(image_from_msg(image_to_msg(flipped, "rgb8")), flipped)


def test_padded_rows() -> None:
    message = image_to_msg(RGB, "rgb8")
    padded = np.zeros((5, 32), np.uint8)
    padded[:, :21] = RGB.reshape(5, 21)
    message.step, message.data = 32, padded.tobytes()
    np.testing.assert_array_equal(image_from_msg(message), RGB)


def test_big_endian_depth() -> None:
    depth = np.arange(6, dtype=np.float32).reshape(2, 3)
    message = image_to_msg(depth, "32FC1")
    message.is_bigendian, message.data = 1, depth.astype(">f4").tobytes()
    np.testing.assert_array_equal(image_from_msg(message), depth)


def test_rgb_of_other_encodings() -> None:
    np.testing.assert_array_equal(rgb_from_msg(image_to_msg(RGB, "bgr8")), RGB[:, :, ::-1])
    grey = rgb_from_msg(image_to_msg(RGB[:, :, 0].copy(), "mono8"))
    assert grey.shape == RGB.shape
    with pytest.raises(ImageError, match="16UC1"):
        rgb_from_msg(image_to_msg(np.zeros((2, 2), np.uint16), "16UC1"))


@pytest.mark.parametrize(
    ("array", "encoding", "message"),
    [
        (RGB, "yuv422", "encoding 'yuv422' is not supported; allowed: rgb8"),
        (RGB.astype(np.float64), "rgb8", "float64 is not rgb8"),
        (RGB[:, :, 0], "rgb8", r"shape \(5, 7\)"),
    ],
)
def test_arrays_that_do_not_fit(array: Any, encoding: str, message: str) -> None:
    with pytest.raises(ImageError, match=message):
        image_to_msg(array, encoding)


def test_a_message_that_is_too_short() -> None:
    message = image_to_msg(RGB, "rgb8")
    message.data = message.data[:-1]
    with pytest.raises(ImageError, match="104 bytes"):
        image_from_msg(message)
    with pytest.raises(ImageError, match="it takes a step of at least 21"):
        image_from_msg(Image(height=5, width=7, encoding="rgb8", step=3, data=bytes(105)))


def test_jpeg() -> None:
    smooth = np.zeros((64, 64, 3), np.uint8)
    smooth[:, :, 0] = 200
    smooth[:32, :, 2] = 90
    back = jpeg_from_msg(jpeg_to_msg(smooth))
    assert np.abs(back.astype(int) - smooth).mean() < 3
    with pytest.raises(ImageError, match="no picture"):
        jpeg_from_msg(CompressedImage(format="jpeg", data=b"nonsense"))
    with pytest.raises(ImageError, match="no rgb picture"):
        jpeg_to_msg(smooth[:, :, 0])


def test_an_observation_of_four_views_through_the_graph() -> None:
    views = {name: RNG.integers(0, 255, (256, 256, 3), dtype=np.uint8) for name in ("front", "left", "back", "right")}
    arrived: list[Observation] = []
    here = threading.Event()

    class Viewer(HomieNode):
        def __init__(self, **options: Any) -> None:
            super().__init__("viewer", **options)
            self.create_subscription(Observation, "observation", self._take, events())
            self.publisher = self.create_publisher(Observation, "observation", events())

        def _take(self, message: Observation) -> None:
            arrived.append(message)
            here.set()

    with fresh_host() as host:
        host.add(Viewer).publisher.publish(observation_to_msg(views, stamp=42))
        assert here.wait(10)
    back = views_from_msg(arrived[0])
    assert list(back) == list(views)
    for name, view in views.items():
        np.testing.assert_array_equal(back[name], view)


def test_an_observation_with_a_name_missing() -> None:
    message = observation_to_msg({"front": RGB}, stamp=0)
    message.view_names = []
    with pytest.raises(ImageError, match="1 views and 0 names"):
        views_from_msg(message)
