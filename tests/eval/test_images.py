"""Pictures out of messages."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from homie_eval.images import ImageError, from_compressed, from_image, to_jpeg
from support.bags import picture

RGB = picture(3, 7, 5)


def image(encoding: str, array: np.ndarray, padding: int = 0, **fields: object) -> SimpleNamespace:
    """A message with rows that are ``padding`` bytes longer than they need be."""
    height, width = array.shape[:2]
    rows = np.pad(array.reshape(height, -1), ((0, 0), (0, padding)), constant_values=77)
    values = {"height": height, "width": width, "step": rows.shape[1], "encoding": encoding, "data": rows.reshape(-1)}
    return SimpleNamespace(**{**values, **fields})


@pytest.mark.parametrize("padding", [0, 1, 5])
def test_every_encoding_and_padded_rows(padding: int) -> None:
    alpha = np.full((*RGB.shape[:2], 1), 9, dtype=np.uint8)
    bgr = RGB[..., ::-1]
    for encoding, array in (
        ("rgb8", RGB),
        ("bgr8", bgr),
        ("rgba8", np.concatenate([RGB, alpha], axis=-1)),
        ("bgra8", np.concatenate([bgr, alpha], axis=-1)),
    ):
        assert np.array_equal(from_image(image(encoding, array, padding)), RGB)
    grey = from_image(image("mono8", RGB[..., 0], padding))
    assert np.array_equal(grey, np.stack([RGB[..., 0]] * 3, axis=-1))


@pytest.mark.parametrize(
    "message",
    [
        image("16UC1", RGB),
        image("rgb8", RGB, height=6),
        image("rgb8", RGB, step=20),
        image("rgb8", RGB, width=0),
        image("rgb8", RGB, data=b""),
    ],
)
def test_what_does_not_fit_is_refused(message: SimpleNamespace) -> None:
    with pytest.raises(ImageError):
        from_image(message)


@pytest.mark.parametrize("format", ["JPEG", "PNG"])
def test_compressed(format: str) -> None:
    buffer = io.BytesIO()
    Image.fromarray(picture(1)).save(buffer, format)
    found = from_compressed(SimpleNamespace(data=np.frombuffer(buffer.getvalue(), dtype=np.uint8)))
    assert found.shape == (256, 256, 3) and found.dtype == np.uint8
    assert from_compressed(SimpleNamespace(data=to_jpeg(found))).shape == found.shape


@pytest.mark.parametrize("data", [b"", b"no picture", b"\xff\xd8\xff\xe0" + bytes(40), b"GIF89a" + bytes(40)])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(ImageError):
        from_compressed(SimpleNamespace(data=data))
