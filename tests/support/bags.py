"""Bags for tests, written from homie_eval's own side: message definitions from ``msgs/``, no ROS."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rosbags.interfaces import Connection
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from homie_core.episode import EpisodeInfo, EpisodeResult, Step
from homie_core.world_state import WorldState
from homie_eval.emmoe.metrics import EpisodeScore

MESSAGES = Path(__file__).parents[2] / "msgs" / "msg"
VIEWS = ("front", "left", "back", "right")
Picture = NDArray[np.uint8]


@cache
def typestore(*left_out: str) -> Typestore:
    """Jazzy's types and homie_msgs, without the fields of these names: as they were before they had them."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for path in sorted(MESSAGES.glob("*.msg")):
        lines = path.read_text().splitlines()
        text = "\n".join(line for line in lines if line.split()[1:2] not in [[name] for name in left_out])
        types.update(get_types_from_msg(text, f"homie_msgs/msg/{path.stem}"))
    store.register(types)
    return store


def message(type_name: str, **fields: Any) -> Any:
    """A message of ``type_name``; fields that are not given keep their zero."""
    store = typestore()
    defaults = {name: _zero(kind) for name, kind in store.fielddefs[type_name][1]}
    return store.types[type_name](**{**defaults, **fields})


def _zero(kind: Any) -> Any:
    node, detail = kind
    if node.name == "BASE":
        return {"string": "", "bool": False}.get(detail[0], 0.0 if detail[0].startswith("float") else 0)
    if node.name == "NAME":
        return message(detail)
    element, length = detail
    if element[0].name == "BASE" and element[1][0] != "string":
        return np.zeros(length if node.name == "ARRAY" else 0, dtype=element[1][0])
    return []


def header(stamp: int) -> Any:
    """A header with ``stamp`` in nanoseconds."""
    seconds, nanoseconds = divmod(stamp, 1_000_000_000)
    time = message("builtin_interfaces/msg/Time", sec=seconds, nanosec=nanoseconds)
    return message("std_msgs/msg/Header", stamp=time)


class BagFixture:
    """A bag that is being written; messages are a millisecond apart, and without the fields that are left out."""

    def __init__(
        self,
        folder: Path,
        namespace: str = "",
        storage: StoragePlugin = StoragePlugin.MCAP,
        compress: bool = True,
        writer: Writer | None = None,
        left_out: tuple[str, ...] = (),
    ) -> None:
        self._store = typestore(*left_out)
        self._namespace = namespace
        self._writer = writer or Writer(folder, version=9, storage_plugin=storage)
        if compress and writer is None and storage is StoragePlugin.MCAP:
            self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._connections: dict[str, Connection] = {}
        self._time = 1_700_000_000_000_000_000

    def __enter__(self) -> Self:
        self._writer.open()
        return self

    def __exit__(self, *details: object) -> None:
        self._writer.close()

    def write(self, topic: str, value: Any) -> None:
        """Append one message."""
        self.write_raw(topic, value.__msgtype__, bytes(self._store.serialize_cdr(value, value.__msgtype__)))

    def write_raw(self, topic: str, type_name: str, data: bytes) -> None:
        """Append one message that is serialized already."""
        name = f"{self._namespace}/{topic}"
        if name not in self._connections:
            self._connections[name] = self._writer.add_connection(name, type_name, typestore=self._store)
        self._time += 1_000_000
        self._writer.write(self._connections[name], self._time, data)

    def info(self, info: EpisodeInfo, stamp: int = 0) -> None:
        values = {name: getattr(info, name) for name in info.__slots__ if name != "versions"}
        versions = {"version_names": list(info.versions), "version_values": list(info.versions.values())}
        self.write("episode/info", message("homie_msgs/msg/EpisodeInfo", header=header(stamp), **values, **versions))

    def step(self, episode_id: str, step: Step) -> None:
        subtask = message(
            "homie_msgs/msg/Subtask",
            action=step.subtask.action,
            target=step.subtask.target,
            destination=step.subtask.destination,
            model=step.subtask.model,
        )
        same = [name for name in step.__slots__ if name not in ("subtask", "error_code", "stamp")]
        values = {name: getattr(step, name) for name in same}
        values["inventory_before"], values["inventory_after"] = list(step.inventory_before), list(step.inventory_after)
        code = step.error_code.value if step.error_code else ""
        values["cost_usd"] = math.nan if step.cost_usd is None else step.cost_usd
        record = message("homie_msgs/msg/StepRecord", header=header(step.stamp), episode_id=episode_id, subtask=subtask)
        for name, value in (*values.items(), ("error_code", code)):
            setattr(record, name, value)
        self.write("episode/step", record)

    def result(self, episode_id: str, result: EpisodeResult, stamp: int = 0) -> None:
        values = {name: getattr(result, name) for name in result.__slots__ if name != "outcome"}
        self.write(
            "episode/result",
            message(
                "homie_msgs/msg/EpisodeResult",
                header=header(stamp),
                episode_id=episode_id,
                outcome=result.outcome.value,
                **values,
            ),
        )

    def world_state(self, state: WorldState) -> None:
        def xyz(type_name: str, values: Sequence[float]) -> Any:
            return message(f"geometry_msgs/msg/{type_name}", x=values[0], y=values[1], z=values[2])

        def pose(position: Sequence[float], rotation: Sequence[float]) -> Any:
            x, y, z, w = rotation
            quaternion = message("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)
            return message("geometry_msgs/msg/Pose", position=xyz("Point", position), orientation=quaternion)

        objects = [
            message(
                "homie_msgs/msg/ObjectState",
                id=thing.id,
                category=thing.category,
                kind=thing.kind.value,
                pose=pose(thing.position, thing.quaternion),
                box_center=xyz("Vector3", thing.box_center),
                box_size=xyz("Vector3", thing.box_size),
                parent=thing.parent,
                open_fraction=thing.open_fraction,
                states=list(thing.states),
            )
            for thing in state.objects
        ]
        x, y, yaw = state.robot_pose
        robot = pose((x, y, 0.0), (0.0, 0.0, float(np.sin(yaw / 2)), float(np.cos(yaw / 2))))
        self.write(
            "world_state",
            message(
                "homie_msgs/msg/WorldState",
                header=header(state.stamp),
                scene=state.scene,
                objects=objects,
                robot_pose=robot,
                held=state.held,
            ),
        )

    def observation(self, stamp: int, views: dict[str, Picture]) -> None:
        images = [
            message(
                "sensor_msgs/msg/Image",
                header=header(stamp),
                height=picture.shape[0],
                width=picture.shape[1],
                encoding="rgb8",
                step=picture.shape[1] * 3,
                data=picture.reshape(-1),
            )
            for picture in views.values()
        ]
        self.write(
            "observation",
            message("homie_msgs/msg/Observation", header=header(stamp), views=images, view_names=list(views)),
        )

    def frame(self, topic: str, stamp: int, picture: Picture, format: str = "jpeg") -> None:
        buffer = io.BytesIO()
        Image.fromarray(picture).save(buffer, format)
        data = np.frombuffer(buffer.getvalue(), dtype=np.uint8)
        value = message("sensor_msgs/msg/CompressedImage", header=header(stamp), format=f"rgb8; {format}", data=data)
        self.write(topic, value)

    def map(self, rows: Sequence[str], origin: tuple[float, float] = (0.0, 0.0), resolution: float = 0.5) -> None:
        """The occupancy grid drawn by ``rows``, north first; ``#`` is taken."""
        info = message("nav_msgs/msg/MapMetaData", resolution=resolution, width=len(rows[0]), height=len(rows))
        info.origin.position.x, info.origin.position.y = origin
        cells = [100 if cell == "#" else 0 for row in reversed(rows) for cell in row]
        data = np.array(cells, dtype=np.int8)
        self.write("map", message("nav_msgs/msg/OccupancyGrid", header=header(0), info=info, data=data))

    def odometry(self, stamp: int, x: float, y: float, yaw: float = 0.0) -> None:
        """Where the base is; ``stamp`` in nanoseconds."""
        value = message("nav_msgs/msg/Odometry", header=header(stamp))
        value.pose.pose = _planar_pose(x, y, yaw)
        self.write("odom", value)

    def joint_states(self, stamp: int, positions: Mapping[str, float]) -> None:
        """Positions by joint; ``stamp`` in nanoseconds."""
        value = message("sensor_msgs/msg/JointState", header=header(stamp), name=list(positions))
        value.position = np.array(list(positions.values()))
        self.write("joint_states", value)

    def plan(self, stamp: int, *corners: tuple[float, float]) -> None:
        """A planned way."""
        poses = [message("geometry_msgs/msg/PoseStamped", pose=_planar_pose(x, y, 0.0)) for x, y in corners]
        self.write("plan", message("nav_msgs/msg/Path", header=header(stamp), poses=poses))

    def score(self, score: EpisodeScore, final: bool = True) -> None:
        numbers = {name: value.number for name, value in score.values.items()}
        self.write(
            "referee/emmoe/score",
            message(
                "homie_msgs/msg/Score",
                header=header(score.stamp),
                episode_id=score.episode_id,
                benchmark="emmoe",
                steps=score.steps,
                final=final,
                metric_names=list(numbers),
                metric_values=np.array(list(numbers.values())),
                explanation=list(score.explanation()),
            ),
        )


def _planar_pose(x: float, y: float, yaw: float) -> Any:
    rotation = message("geometry_msgs/msg/Quaternion", z=float(np.sin(yaw / 2)), w=float(np.cos(yaw / 2)))
    point = message("geometry_msgs/msg/Point", x=x, y=y)
    return message("geometry_msgs/msg/Pose", position=point, orientation=rotation)


def picture(seed: int, width: int = 256, height: int = 256) -> Picture:
    """A smooth coloured picture that differs by seed."""
    y, x = np.mgrid[0:height, 0:width]
    channels = [(x * (1 + seed % 3) + 40 * seed) % 256, (y + 25 * seed) % 256, (x + y) // 2 % 256]
    return np.stack(channels, axis=-1).astype(np.uint8)


def configuration() -> str:
    """What EpisodeInfo stores of the parameters of a run."""
    sim = {"house": "house_1", "timestep": 0.002}
    return json.dumps({"planner": {"backend": "replay", "plan": "case_1"}, "sim": sim})
