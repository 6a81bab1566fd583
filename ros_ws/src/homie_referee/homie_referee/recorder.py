"""Writing a bag (rosbag2, MCAP) from serialized messages. No ROS node here."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rosbags.interfaces import Connection
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer, WriterError

from homie_referee.message_definitions import message_definition

QUEUE_LENGTH = 5000
"""Messages that may wait for the disk. A run writes a few hundred per wall second at most."""

QUEUE_SECONDS = 5.0
"""How long a full queue is tolerated before the recording counts as failed."""

CLOSE_SECONDS = 60.0


class RecordingError(RuntimeError):
    """The bag can not be written. The message is the cause in one line."""


@dataclass(frozen=True, slots=True)
class _Message:
    topic: str
    stamp: int
    data: bytes


class BagWriter:
    """A bag that is open for writing; the file is written by a thread of its own.

    Compression is that of MCAP's chunks (zstd), which every MCAP reader knows. ``folder`` must not exist.
    A failure of the disk is kept: the next `write` and `close` raise it, and `failure` shows it.

    Raises:
        RecordingError: ``folder`` exists or can not be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failure: RecordingError | None = None
        self._writer = _open(folder)
        self._connections: dict[str, Connection] = {}
        self._counts: dict[str, int] = {}
        self._last_stamp = 0
        self._lock = threading.Lock()
        self._queue: queue.Queue[_Message | None] = queue.Queue(QUEUE_LENGTH)
        self._thread = threading.Thread(target=self._write_all, name="bag writer", daemon=True)
        self._thread.start()

    def add_topic(self, topic: str, type_name: str) -> None:
        """Declare ``topic`` (with its namespace) before its first message; ``type_name`` like ``std_msgs/msg/String``.

        Raises:
            DefinitionError: the type is not installed.
            RecordingError: the topic was declared before.
        """
        definition = message_definition(type_name)
        if topic in self._counts:
            raise RecordingError(f"topic {topic} is recorded already")
        with self._lock:
            self._connections[topic] = self._writer.add_connection(
                topic, type_name, msgdef=definition.text, rihs01=definition.type_hash
            )
        self._counts[topic] = 0

    def write(self, topic: str, data: bytes) -> None:
        """Queue one serialized message (CDR with its header) of a declared topic, stamped with the wall time.

        Stamps of one bag increase strictly, so that readers see the messages in the order in which they arrived.

        Raises:
            RecordingError: an earlier message could not be written, or the disk is too slow.
        """
        if self.failure is not None:
            raise self.failure
        self._last_stamp = max(time.time_ns(), self._last_stamp + 1)
        try:
            self._queue.put(_Message(topic, self._last_stamp, data), timeout=QUEUE_SECONDS)
        except queue.Full:
            self.failure = RecordingError(f"bag {self.folder}: the disk did not take a message for {QUEUE_SECONDS} s")
            raise self.failure from None
        self._counts[topic] += 1

    @property
    def counts(self) -> dict[str, int]:
        """Messages taken so far, by topic."""
        return dict(self._counts)

    def close(self) -> dict[str, int]:
        """Write what is queued, close the files, and return how many messages each topic has.

        Raises:
            RecordingError: not everything could be written. What was written can still be read.
        """
        if self._thread.is_alive():
            with contextlib.suppress(queue.Full):  # then the thread is stuck, and the join below says so
                self._queue.put(None, timeout=QUEUE_SECONDS)
            self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self.failure = RecordingError(f"bag {self.folder}: the disk did not finish in {CLOSE_SECONDS} s")
        if self.failure is not None:
            raise self.failure
        return self.counts

    def _write_all(self) -> None:
        """The writer thread: until the end mark, then the index and the metadata."""
        try:
            while (message := self._queue.get()) is not None:
                with self._lock:
                    self._writer.write(self._connections[message.topic], message.stamp, message.data)
            self._writer.close()
        except (OSError, WriterError) as error:
            self.failure = RecordingError(f"bag {self.folder} can not be written: {error}")
            with contextlib.suppress(OSError):  # the cause is kept already
                self._writer.abort()
            self._drain()

    def _drain(self) -> None:
        """Let no one wait for room in the queue of a bag that has failed."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._queue.get_nowait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


def _open(folder: Path) -> Writer:
    try:
        writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        writer.open()
    except (OSError, WriterError) as error:
        raise RecordingError(f"the bag can not be made: {error}") from error
    return writer
