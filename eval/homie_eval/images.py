"""Pictures out of messages: raw ones as arrays, compressed ones as they are."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

Picture = NDArray[np.uint8]
"""(height, width, 3), RGB."""

_CHANNELS = {
    "rgb8": (3, (0, 1, 2)),
    "bgr8": (3, (2, 1, 0)),
    "rgba8": (4, (0, 1, 2)),
    "bgra8": (4, (2, 1, 0)),
    "mono8": (1, (0, 0, 0)),
}
"""Encodings: bytes of a pixel, and which of them are red, green and blue."""


class ImageError(ValueError):
    """A message holds no readable picture, in one line."""


def from_image(message: Any) -> Picture:
    """A ``sensor_msgs/Image`` as an RGB array. Rows may be padded (``step``).

    Raises:
        ImageError: the encoding is not a colour or grey one with 8 bits, or the size does not fit the data.
    """
    if message.encoding not in _CHANNELS:
        raise ImageError(f"image encoding {message.encoding!r} is none of {', '.join(_CHANNELS)}")
    channels, order = _CHANNELS[message.encoding]
    height, width, step = int(message.height), int(message.width), int(message.step)
    data = np.frombuffer(message.data, dtype=np.uint8)
    if width < 1 or height < 1 or step < width * channels or data.size < step * height:
        raise ImageError(f"an image of {width}x{height} with rows of {step} bytes does not fit its {data.size} bytes")
    rows = data[: step * height].reshape(height, step)[:, : width * channels]
    return np.ascontiguousarray(rows.reshape(height, width, channels)[..., order])


def from_compressed(message: Any) -> Picture:
    """A ``sensor_msgs/CompressedImage`` (JPEG, PNG) as an RGB array.

    Raises:
        ImageError: it cannot be decoded.
    """
    try:
        with Image.open(io.BytesIO(bytes(message.data)), formats=("JPEG", "PNG")) as image:
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise ImageError(f"a compressed image cannot be decoded: {error}") from error


def to_jpeg(picture: Picture, quality: int = 88) -> bytes:
    """The picture as a JPEG file."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()
