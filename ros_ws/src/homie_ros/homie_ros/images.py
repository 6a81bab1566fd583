"""NumPy arrays to and from sensor_msgs images, and observations."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import cv2
import numpy as np
from homie_msgs.msg import Observation
from numpy.typing import NDArray
from sensor_msgs.msg import CompressedImage, Image

from homie_ros.conversions import header

ENCODINGS: dict[str, tuple[type[np.generic], int]] = {
    "rgb8": (np.uint8, 3),
    "bgr8": (np.uint8, 3),
    "mono8": (np.uint8, 1),
    "16UC1": (np.uint16, 1),
    "32FC1": (np.float32, 1),
}
"""Supported encodings of sensor_msgs/Image: element type and channels."""

JPEG_QUALITY = 90


class ImageError(ValueError):
    """An array or a message is not an image of a supported form."""


def image_to_msg(array: NDArray[np.generic], encoding: str, stamp: int = 0, frame_id: str = "") -> Image:
    """``array`` is (height, width, 3) or (height, width), of the encoding's element type.

    Raises:
        ImageError: the encoding is not supported, or the array does not fit it.
    """
    dtype, channels = _encoding(encoding)
    shape = array.shape[2:] or (1,)
    if array.ndim not in (2, 3) or shape != (channels,) or array.dtype != dtype:
        raise ImageError(
            f"an array of shape {array.shape} and type {array.dtype} is not {encoding}; "
            f"it takes (height, width, {channels}) of {np.dtype(dtype)}"
        )
    return Image(
        header=header(stamp, frame_id),
        height=array.shape[0],
        width=array.shape[1],
        encoding=encoding,
        is_bigendian=int(sys.byteorder == "big"),
        step=array.shape[1] * channels * array.dtype.itemsize,
        data=array.tobytes(),  # bytes are copied as a block; an array would be copied element by element
    )


def image_from_msg(message: Image) -> NDArray[np.generic]:
    """A copy of the pixels: (height, width, 3) for colour, (height, width) for one channel. Rows may be padded.

    Raises:
        ImageError: the encoding is not supported, or the data are shorter than the message says.
    """
    dtype, channels = _encoding(message.encoding)
    element = np.dtype(dtype).newbyteorder(">" if message.is_bigendian else "<")
    row = message.width * channels * element.itemsize
    if message.step < row or len(message.data) < message.step * message.height:
        raise ImageError(
            f"{message.width} x {message.height} {message.encoding} with step {message.step} "
            f"and {len(message.data)} bytes of data; it takes a step of at least {row}"
        )
    rows = np.frombuffer(message.data, np.uint8, message.step * message.height).reshape(message.height, message.step)
    pixels = np.ascontiguousarray(rows[:, :row]).view(element).astype(dtype)
    shape = (message.height, message.width, channels) if channels > 1 else (message.height, message.width)
    return pixels.reshape(shape)


def rgb_from_msg(message: Image) -> NDArray[np.uint8]:
    """The picture as (height, width, 3) uint8 in the order red, green, blue.

    Raises:
        ImageError: the message is no 8-bit picture.
    """
    pixels = image_from_msg(message)
    match message.encoding:
        case "rgb8":
            return pixels.astype(np.uint8, copy=False)
        case "bgr8":
            return pixels[:, :, ::-1].astype(np.uint8)
        case "mono8":
            return np.repeat(pixels[:, :, None], 3, axis=2).astype(np.uint8)
        case other:
            raise ImageError(f"encoding {other!r} is no picture; allowed: rgb8, bgr8, mono8")


def jpeg_to_msg(
    rgb: NDArray[np.uint8], stamp: int = 0, frame_id: str = "", quality: int = JPEG_QUALITY
) -> CompressedImage:
    """``rgb`` is (height, width, 3) uint8; ``quality`` 0 to 100.

    Raises:
        ImageError: the array is no such picture.
    """
    if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8:
        raise ImageError(f"an array of shape {rgb.shape} and type {rgb.dtype} is no rgb picture of 8 bits")
    done, data = cv2.imencode(".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ImageError(f"a picture of shape {rgb.shape} could not be compressed")
    return CompressedImage(header=header(stamp, frame_id), format="rgb8; jpeg compressed bgr8", data=data.tobytes())


def jpeg_from_msg(message: CompressedImage) -> NDArray[np.uint8]:
    """(height, width, 3) uint8, red first.

    Raises:
        ImageError: the data are no picture.
    """
    bgr = cv2.imdecode(np.frombuffer(message.data, np.uint8), cv2.IMREAD_COLOR)
    if bgr is None:
        raise ImageError(f"{len(message.data)} bytes in format {message.format!r} are no picture")
    return cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB).astype(np.uint8, copy=False)


def observation_to_msg(
    views: Mapping[str, NDArray[np.uint8]], stamp: int, frame_id: str = "base_link", text: str = ""
) -> Observation:
    """``views``: name to (height, width, 3) uint8, in the order in which they are sent."""
    return Observation(
        header=header(stamp, frame_id),
        views=[image_to_msg(view, "rgb8", stamp, frame_id) for view in views.values()],
        view_names=list(views),
        text=text,
    )


def views_from_msg(message: Observation) -> dict[str, NDArray[np.uint8]]:
    """The pictures by name, in their order.

    Raises:
        ImageError: names and pictures differ in number, or one is no picture.
    """
    if len(message.views) != len(message.view_names):
        raise ImageError(f"{len(message.views)} views and {len(message.view_names)} names in an observation")
    return {name: rgb_from_msg(view) for name, view in zip(message.view_names, message.views, strict=True)}


def _encoding(name: str) -> tuple[type[np.generic], int]:
    if name not in ENCODINGS:
        raise ImageError(f"encoding {name!r} is not supported; allowed: {', '.join(ENCODINGS)}")
    return ENCODINGS[name]
