"""Pictures on their way out of the simulation: compressed and published by a thread of their own, in their order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CompressedImage

from homie_ros.images import jpeg_to_msg

QUEUE_LENGTH = 32
"""Pictures that may wait; beyond that the simulation waits for them, so that none is lost."""

CLOSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Picture:
    rgb: NDArray[np.uint8]
    stamp: int
    frame_id: str
    publish: Callable[[CompressedImage], None]


class PictureSender:
    """Compressing takes as long as drawing does on a small machine; it must not hold up the physics."""

    def __init__(self) -> None:
        self._queue: queue.Queue[_Picture | None] = queue.Queue(QUEUE_LENGTH)
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._send_all, name="picture sender", daemon=True)
        self._thread.start()

    def send(
        self, rgb: NDArray[np.uint8], stamp: int, frame_id: str, publish: Callable[[CompressedImage], None]
    ) -> None:
        """Hand over a picture (height, width, 3) of simulation time ``stamp`` (nanoseconds).

        Raises:
            Exception: what an earlier picture has failed with.
        """
        if self._failure is not None:
            raise self._failure
        self._queue.put(_Picture(rgb, stamp, frame_id, publish))

    def close(self) -> None:
        """Send what waits, and end."""
        self._queue.put(None)
        self._thread.join(CLOSE_SECONDS)

    def _send_all(self) -> None:
        while (picture := self._queue.get()) is not None:
            if self._failure is None:
                self._send(picture)

    def _send(self, picture: _Picture) -> None:
        try:
            picture.publish(jpeg_to_msg(picture.rgb, picture.stamp, picture.frame_id))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised in the thread that hands over pictures
            self._failure = error
