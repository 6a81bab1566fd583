"""Pictures leave in their order, and a failure reaches whoever hands them over."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from homie_core.from_messages import time_from_msg
from homie_ros.images import jpeg_from_msg
from homie_sim.video import PictureSender

GREY = np.full((12, 16, 3), 128, np.uint8)


def test_order_and_content() -> None:
    sent: list[Any] = []
    sender = PictureSender()
    for stamp in range(100):
        sender.send(GREY, stamp, "camera", sent.append)
    sender.close()
    assert [time_from_msg(message.header.stamp) for message in sent] == list(range(100))
    assert sent[0].header.frame_id == "camera"
    assert abs(jpeg_from_msg(sent[0]).astype(int) - GREY).max() < 4


def test_a_failure_is_raised_at_the_next_picture() -> None:
    def refuse(_: Any) -> None:
        raise OSError("no room")

    sender = PictureSender()
    sender.send(GREY, 0, "camera", refuse)
    time.sleep(0.2)
    with pytest.raises(OSError, match="no room"):
        sender.send(GREY, 1, "camera", refuse)
    sender.close()
