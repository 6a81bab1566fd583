"""One process per node: started, watched, and gone afterwards."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from homie_bringup.graph import NodeSpec
from homie_bringup.processes import Processes
from support.system_support import alive

SPECS = (
    NodeSpec("recorder", "homie_referee", "recorder_node", "RecorderNode"),
    NodeSpec("monitor", "homie_monitor", "monitor_node", "MonitorNode", {"setting": "background_information"}),
)


def _domain() -> int:
    return int(os.environ["ROS_DOMAIN_ID"])


def test_no_process_is_left(tmp_path: Path) -> None:
    with Processes(SPECS, _domain(), tmp_path) as graph:
        pids = graph.pids()
        time.sleep(1.0)
        assert graph.failure() == ""
        assert all(map(alive, pids.values()))
    assert not any(map(alive, pids.values()))


def test_a_killed_node_is_named(tmp_path: Path) -> None:
    with Processes(SPECS, _domain(), tmp_path) as graph:
        time.sleep(1.0)
        os.kill(graph.pids()["monitor"], signal.SIGKILL)
        deadline = time.monotonic() + 5
        while not graph.failure() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "node monitor stopped with exit code -9" in graph.failure()


def test_a_wrong_parameter_is_the_cause(tmp_path: Path) -> None:
    specs = (NodeSpec("monitor", "homie_monitor", "monitor_node", "MonitorNode", {"setting": "nonsense"}),)
    with Processes(specs, _domain(), tmp_path) as graph:
        deadline = time.monotonic() + 20
        while not graph.failure() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "exit code 2" in graph.failure()
        assert "nonsense" in graph.failure()


PARENT = """
import sys, time
from pathlib import Path
from homie_bringup.graph import NodeSpec
from homie_bringup.processes import Processes
spec = NodeSpec("recorder", "homie_referee", "recorder_node", "RecorderNode")
with Processes([spec], int(sys.argv[2]), Path(sys.argv[1])) as graph:
    print(graph.pids()["recorder"], flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="parent-death signals are Linux's")
def test_nodes_die_with_a_killed_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), str(_domain())], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    node = int(parent.stdout.readline())
    time.sleep(1.0)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 15
    while alive(node) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(node)
