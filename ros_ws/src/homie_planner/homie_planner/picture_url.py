"""Pictures inside JSON: data URLs, as the chat endpoints take them."""

from __future__ import annotations

import base64
from typing import Literal

import cv2

from homie_planner.backend import Picture

PictureFormat = Literal["png", "jpeg"]

JPEG_QUALITY = 95

_PARAMETERS: dict[PictureFormat, tuple[int, ...]] = {
    "png": (),  # OpenCV's own choice: naming a compression level as well costs twice the time for more bytes
    "jpeg": (
        cv2.IMWRITE_JPEG_QUALITY,
        JPEG_QUALITY,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,  # halved colours smear what is printed on the objects
    ),
}


def data_url(picture: Picture, format: PictureFormat) -> str:
    """``picture``, an RGB array (height, width, 3), as ``data:image/png;base64,...``.

    Raises:
        ValueError: it cannot be encoded.
    """
    done, data = cv2.imencode(f".{format}", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), _PARAMETERS[format])
    if not done:
        raise ValueError(f"a picture of shape {picture.shape} cannot be written as {format}")
    return f"data:image/{format};base64,{base64.b64encode(data.tobytes()).decode()}"
