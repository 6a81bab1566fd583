"""Four views from the bridge to a client's arrays, against the time that drawing them takes."""

from __future__ import annotations

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from homie_msgs.srv import GetObservation, ResetEpisode

from homie_ros import qos
from homie_ros.homie_node import HomieNode
from homie_ros.images import views_from_msg
from homie_ros.waiting import call_service, require_success, wait_until
from homie_sim.mujoco_bridge_node import MujocoBridgeNode
from support.graph import fresh_host

REPEATS = 60
SECONDS = 30.0


class _Client(HomieNode):
    """Looks and resets, and hears how long the bridge has drawn."""

    def __init__(self, **options: Any) -> None:
        super().__init__("client", **options)
        self.drawn: list[float] = []
        self._observe = self.create_client(GetObservation, "get_observation")
        self._reset = self.create_client(ResetEpisode, "reset_episode")
        self.create_subscription(DiagnosticArray, "diagnostics", self._hear, qos.stream())

    def _hear(self, message: DiagnosticArray) -> None:
        values = {each.key: float(each.value) for each in message.status[0].values}
        self.drawn.append(values["render_wall_seconds"])

    def look(self) -> None:
        response = call_service(self._observe, GetObservation.Request(), SECONDS)
        views_from_msg(require_success(response, "get_observation").observation)

    def reset(self) -> float:
        """Seconds that the bridge had spent drawing when it was reset; it then draws the house from above once."""
        before = len(self.drawn)
        require_success(call_service(self._reset, ResetEpisode.Request(), SECONDS), "reset_episode")
        wait_until(lambda: len(self.drawn) > before, SECONDS, "the bridge's diagnostics")
        return self.drawn[-1]


def bench() -> list[tuple[str, float, str]]:
    """Name, value and unit of each measured figure."""
    with fresh_host() as host:
        host.add(MujocoBridgeNode, parameters={"video_fps": 0.0})
        client = host.add(_Client)
        client.look()
        drawn = client.reset()
        begin = time.perf_counter()
        for _ in range(REPEATS):
            client.look()
        whole = (time.perf_counter() - begin) / REPEATS
        drawing = (client.reset() - drawn) / REPEATS
    return [
        ("drawing four views, mean", 1e3 * drawing, "ms"),
        ("four views as arrays in a client, mean", 1e3 * whole, "ms"),
        ("end to end / drawing", whole / drawing, "x"),
    ]
