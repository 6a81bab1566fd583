"""Reading a rosbag2 bag: its messages, and the trajectories in it. No ROS needed.

A bag is a folder with ``metadata.yaml``, or one storage file. When it was never closed (the recorder died, the disk was
full), what is readable is read and the rest is a problem that the caller can show, not an error.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self

from rosbags.interfaces import Connection, MessageDefinitionFormat
from rosbags.interfaces.typing import Typesdict
from rosbags.rosbag2 import Reader, ReaderError
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, TypesysError, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from homie_core.from_messages import (
    NANOSECONDS,
    MessageError,
    episode_info_from_msg,
    episode_result_from_msg,
    metrics_from_msg,
    stamp_from_msg,
    step_from_msg,
    world_state_from_msg,
)
from homie_core.world_state import WorldState
from homie_eval import mcap_salvage
from homie_eval.trajectory import Trajectory, TrajectoryBuilder

EPISODE_INFO = "episode/info"
EPISODE_STEP = "episode/step"
EPISODE_RESULT = "episode/result"
WORLD_STATE = "world_state"
SCORE = "referee/emmoe/score"

_DAMAGE = (
    ReaderError,
    FileNotFoundError,
    AssertionError,
    struct.error,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    OverflowError,
    MemoryError,
)
"""What the reader library raises for a file that is not whole; the last two for a length that is none."""

_COMPRESSED = re.compile(r"^\s*compression_mode:\s*[\"']?(file|message)", re.IGNORECASE | re.MULTILINE)


class BagError(ValueError):
    """Not a bag, or one without what is asked for. One line."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic of a bag. ``encoding`` is that of ``definition``: ros2msg or ros2idl."""

    name: str
    type_name: str
    encoding: str
    definition: str

    def ends_with(self, suffix: str) -> bool:
        """Whether this is ``suffix`` in some namespace."""
        return self.name.strip("/") == suffix or self.name.endswith("/" + suffix)

    def namespace(self, suffix: str) -> str:
        """What stands before ``suffix``: "" or e.g. "/robot_1"."""
        return self.name.removesuffix(suffix).rstrip("/")


@dataclass(frozen=True, slots=True)
class Record:
    """One message, decoded when asked for. ``time`` is when it was recorded, nanoseconds."""

    topic: Topic
    time: int
    data: bytes

    def decode(self) -> Any:
        """The message as an object with its fields.

        Raises:
            BagError: its bytes do not fit its definition.
        """
        try:
            store = _typestore(self.topic.type_name, self.topic.encoding, self.topic.definition)
            return store.deserialize_cdr(self.data, self.topic.type_name)
        except (SerdeError, TypesysError, KeyError, struct.error, IndexError, ValueError) as error:
            raise BagError(f"a message on {self.topic.name} cannot be read: {error}") from error

    def header_stamp(self) -> int:
        """Nanoseconds of the header's stamp, for messages that begin with a header, without decoding the rest.

        Raises:
            BagError: the message is too short.
        """
        little = len(self.data) > 1 and self.data[1] == 1
        try:
            seconds, nanoseconds = struct.unpack_from("<iI" if little else ">iI", self.data, 4)
        except struct.error as error:
            raise BagError(f"a message on {self.topic.name} is cut off") from error
        return int(seconds) * NANOSECONDS + int(nanoseconds)


class Bag:
    """A bag that is open for reading; use it in a ``with`` block.

    Raises:
        BagError: there is no bag at ``path``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.problems: list[str] = []
        self._stack = ExitStack()
        self._readers: list[Reader] = []
        self._salvaged: list[Path] = []
        self._open()

    @property
    def topics(self) -> tuple[Topic, ...]:
        """Every topic with at least one readable message, or, in whole files, with a definition."""
        found = [_topic(connection) for reader in self._readers for connection in reader.connections]
        for path in self._salvaged:
            found += [_salvaged_topic(message.channel) for message in mcap_salvage.messages(path)]
        return tuple(dict.fromkeys(found))

    def records(self, *suffixes: str) -> Iterator[Record]:
        """The messages on these topics, in whatever namespace, in the order of recording."""
        for reader in self._readers:
            wanted = [each for each in reader.connections if _wanted(each.topic, suffixes)]
            if wanted:
                yield from self._read(reader, wanted)
        for path in self._salvaged:
            for message in mcap_salvage.messages(path):
                if _wanted(message.channel.topic, suffixes):
                    yield Record(_salvaged_topic(message.channel), message.time, message.data)

    def _read(self, reader: Reader, connections: list[Connection]) -> Iterator[Record]:
        topics = {connection.id: _topic(connection) for connection in connections}
        try:
            for connection, time, data in reader.messages(connections):
                yield Record(topics[connection.id], time, bytes(data))
        except _DAMAGE as error:
            self.problems.append(f"{self.path} is damaged, the rest of it is left out: {error}")

    def _open(self) -> None:
        if not self.path.exists():
            raise BagError(f"there is no bag {self.path}")
        files = _storage_files(self.path)
        if not files:
            raise BagError(f"{self.path} is not a bag: there is no .mcap or .db3 file in it")
        if _needs_metadata(self.path):
            files = [self.path]
        for file in files:
            try:
                self._readers.append(self._stack.enter_context(Reader(file)))
            except _DAMAGE as error:
                self._salvage(file, error)

    def _salvage(self, file: Path, error: BaseException) -> None:
        if file.suffix != ".mcap":
            raise BagError(f"{file} cannot be read: {_one_line(error)}") from error
        try:
            next(mcap_salvage.messages(file), None)
        except (mcap_salvage.SalvageError, OSError) as salvage_error:
            raise BagError(_one_line(salvage_error)) from error
        self._salvaged.append(file)
        self.problems.append(f"{file.name} was not finished; what is readable of it is read")

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


@dataclass(slots=True)
class BagContents:
    """The episodes of a bag. ``problems`` are one line each: what could not be read."""

    path: Path
    trajectories: tuple[Trajectory, ...]
    live_scores: dict[str, dict[str, float]] = field(default_factory=dict)
    """By episode: the final numbers that the live referee published, if it did."""
    problems: tuple[str, ...] = ()


def read_bag(path: str | Path) -> BagContents:
    """Every episode in a bag, in whatever namespace its topics are.

    Raises:
        BagError: there is no bag, or it holds no episode.
    """
    with Bag(path) as bag:
        builders: dict[str, TrajectoryBuilder] = {}
        live_scores: dict[str, dict[str, float]] = {}
        problems: list[str] = []
        for record in bag.records(EPISODE_INFO, EPISODE_STEP, EPISODE_RESULT, WORLD_STATE, SCORE):
            suffix = next(suffix for suffix in _HANDLERS if record.topic.ends_with(suffix))
            builder = builders.setdefault(record.topic.namespace(suffix), TrajectoryBuilder())
            try:
                _HANDLERS[suffix](record, builder, live_scores)
            except (BagError, MessageError) as error:
                problems.append(f"a message on {record.topic.name} is left out: {_one_line(error)}")
        trajectories = tuple(trajectory for builder in builders.values() for trajectory in builder.trajectories())
        problems += [problem for builder in builders.values() for problem in builder.problems()]
        if not trajectories:
            detail = f" ({'; '.join([*bag.problems, *problems])})" if bag.problems or problems else ""
            raise BagError(f"{path} holds no episode: no message on a topic {EPISODE_INFO}{detail}")
        return BagContents(Path(path), trajectories, live_scores, (*bag.problems, *problems))


def _on_info(record: Record, builder: TrajectoryBuilder, _: dict[str, dict[str, float]]) -> None:
    message = record.decode()
    builder.on_info(episode_info_from_msg(message), stamp_from_msg(message))


def _on_step(record: Record, builder: TrajectoryBuilder, _: dict[str, dict[str, float]]) -> None:
    message = record.decode()
    builder.on_step(message.episode_id, step_from_msg(message))


def _on_result(record: Record, builder: TrajectoryBuilder, _: dict[str, dict[str, float]]) -> None:
    message = record.decode()
    builder.on_result(message.episode_id, episode_result_from_msg(message), stamp_from_msg(message))


def _on_world_state(record: Record, builder: TrajectoryBuilder, _: dict[str, dict[str, float]]) -> None:
    builder.on_world_state(record.header_stamp(), partial(_world_state, record))


def _world_state(record: Record) -> WorldState:
    try:
        return world_state_from_msg(record.decode())
    except BagError as error:
        raise MessageError(str(error)) from error


def _on_score(record: Record, _: TrajectoryBuilder, live_scores: dict[str, dict[str, float]]) -> None:
    message = record.decode()
    if message.final:
        live_scores[message.episode_id] = metrics_from_msg(message)


_HANDLERS: dict[str, Callable[[Record, TrajectoryBuilder, dict[str, dict[str, float]]], None]] = {
    EPISODE_INFO: _on_info,
    EPISODE_STEP: _on_step,
    EPISODE_RESULT: _on_result,
    WORLD_STATE: _on_world_state,
    SCORE: _on_score,
}


def _storage_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix in (".mcap", ".db3") else []
    return sorted(file for suffix in ("*.mcap", "*.db3") for file in path.glob(suffix))


def _needs_metadata(path: Path) -> bool:
    """Whether the storage files are compressed in a way that only ``metadata.yaml`` tells.

    Parsing that file takes longer than reading a bag without images, so it is left alone otherwise.
    """
    try:
        text = (path / "metadata.yaml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return _COMPRESSED.search(text) is not None


def _wanted(topic: str, suffixes: Sequence[str]) -> bool:
    return any(topic.strip("/") == suffix or topic.endswith("/" + suffix) for suffix in suffixes)


def _topic(connection: Connection) -> Topic:
    encoding = "ros2idl" if connection.msgdef.format is MessageDefinitionFormat.IDL else "ros2msg"
    return Topic(connection.topic, connection.msgtype, encoding, connection.msgdef.data)


def _salvaged_topic(channel: mcap_salvage.Channel) -> Topic:
    return Topic(channel.topic, channel.type_name, channel.encoding, channel.definition)


@lru_cache(maxsize=256)
def _typestore(type_name: str, encoding: str, definition: str) -> Typestore:
    """Reads messages of one type. Cached: reading a definition takes longer than reading many messages."""
    store = get_typestore(Stores.EMPTY)
    types: Typesdict = {}
    if encoding == "ros2msg":
        types.update(get_types_from_msg(definition, type_name))
    else:
        separator = "=" * 80 + "\n"
        for part in definition.split(separator):
            text = part.split("\n", 1)[1] if part.startswith("IDL: ") else part
            if text.strip():
                types.update(get_types_from_idl(text))
    store.register(types)
    return store


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
