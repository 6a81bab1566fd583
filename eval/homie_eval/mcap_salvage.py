"""Reads what can be read of an MCAP file that was never finished, or whose end is missing.

A finished file has an index at its end, and ordinary readers start there. Here the records are taken from the front,
one after the other, until the file stops making sense (https://mcap.dev/spec).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backports import zstd
from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

MAGIC = b"\x89MCAP0\r\n"
MAX_RECORD = 1 << 31
"""A record is never longer; a length beyond it is damage."""

_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = 0x02, 0x03, 0x04, 0x05, 0x06


class SalvageError(ValueError):
    """The file is no MCAP file."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One topic of the file. ``encoding`` is that of ``definition``: ros2msg or ros2idl."""

    topic: str
    type_name: str
    encoding: str
    definition: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message, still serialized. ``time`` in nanoseconds."""

    channel: Channel
    time: int
    data: bytes


def messages(path: Path) -> Iterator[Message]:
    """Every readable message, in the order of the file. Damage ends the sequence silently.

    Raises:
        SalvageError: the file does not begin like an MCAP file.
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise SalvageError(f"{path} is not an MCAP file")
        schemas: dict[int, tuple[str, str, str]] = {}
        channels: dict[int, Channel] = {}
        for opcode, content in _flat(_file_records(stream)):
            try:
                if opcode == _SCHEMA:
                    _read_schema(content, schemas)
                elif opcode == _CHANNEL:
                    _read_channel(content, schemas, channels)
                elif opcode == _MESSAGE:
                    channel_id, _, log_time, _ = struct.unpack_from("<HIQQ", content)
                    yield Message(channels[channel_id], log_time, content[22:])
            except (struct.error, KeyError, UnicodeDecodeError):
                return


def _file_records(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Records as they stand in the file; the last one may be cut off."""
    while True:
        head = stream.read(9)
        if len(head) < 9:
            return
        opcode, length = struct.unpack("<BQ", head)
        if opcode == _FOOTER or length > MAX_RECORD:
            return
        content = stream.read(length)
        if len(content) == length or opcode == _CHUNK:
            yield opcode, content


def _flat(records: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The records, with those inside a chunk in its place."""
    for opcode, content in records:
        if opcode == _CHUNK:
            yield from _chunk_records(content)
        else:
            yield opcode, content


def _chunk_records(chunk: bytes) -> Iterator[tuple[int, bytes]]:
    """The complete records of a chunk, which may itself be cut off."""
    try:
        (name_length,) = struct.unpack_from("<I", chunk, 28)
        compression = chunk[32 : 32 + name_length].decode()
        data = _decompress(chunk[40 + name_length :], compression)
    except (struct.error, UnicodeDecodeError):
        return
    position = 0
    while position + 9 <= len(data):
        opcode, length = struct.unpack_from("<BQ", data, position)
        position += 9
        if position + length > len(data):
            return
        yield opcode, data[position : position + length]
        position += length


def _decompress(data: bytes, compression: str) -> bytes:
    """As much as can be decompressed; nothing of a damaged or unknown compression."""
    if not compression:
        return data
    decompressor = {"zstd": zstd.ZstdDecompressor, "lz4": LZ4FrameDecompressor}.get(compression)
    if decompressor is None:
        return b""
    try:
        return bytes(decompressor().decompress(data))
    except (zstd.ZstdError, RuntimeError):
        return b""


def _read_schema(content: bytes, schemas: dict[int, tuple[str, str, str]]) -> None:
    (schema_id,) = struct.unpack_from("<H", content)
    name, position = _text(content, 2)
    encoding, position = _text(content, position)
    definition, _ = _text(content, position)
    schemas[schema_id] = (name, encoding, definition)


def _read_channel(content: bytes, schemas: dict[int, tuple[str, str, str]], channels: dict[int, Channel]) -> None:
    channel_id, schema_id = struct.unpack_from("<HH", content)
    topic, _ = _text(content, 4)
    if schema_id in schemas:
        channels[channel_id] = Channel(topic, *schemas[schema_id])


def _text(content: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", content, position)
    end = position + 4 + length
    if end > len(content):
        raise struct.error("text is cut off")
    return content[position + 4 : end].decode(), end
