"""Pictures as data URLs."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from homie_planner.picture_url import PictureFormat, data_url
from support.bags import picture


@pytest.mark.parametrize(("format", "kind", "error"), [("png", "PNG", 0.0), ("jpeg", "JPEG", 2.0)])
def test_the_type_is_that_of_the_data(format: PictureFormat, kind: str, error: float) -> None:
    view = picture(1, width=80, height=60)
    head, _, data = data_url(view, format).partition(";base64,")
    assert head == f"data:image/{format}"
    with Image.open(BytesIO(base64.b64decode(data, validate=True))) as image:
        assert image.format == kind
        found = np.asarray(image)
    assert found.shape == (60, 80, 3)
    assert np.abs(found.astype(int) - view).mean() <= error


def test_red_is_red() -> None:
    red = np.zeros((32, 32, 3), np.uint8)
    red[..., 0] = 255
    data = base64.b64decode(data_url(red, "png").partition(",")[2])
    with Image.open(BytesIO(data)) as image:
        assert image.getpixel((5, 5)) == (255, 0, 0)
