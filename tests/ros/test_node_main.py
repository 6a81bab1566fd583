"""The process of a node: exit codes, signals, one clear line."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from homie_ros.domains import DomainReservation

PROGRAM = """
import sys
from pydantic import BaseModel
from homie_ros.homie_node import HomieNode
from homie_ros.node_main import run_node
from homie_ros.parameters import read_parameters

class Settings(BaseModel):
    size: int = 1

class Small(HomieNode):
    def __init__(self, **options):
        super().__init__("small", **options)
        self.settings = read_parameters(self, Settings)
        print("ready", self.get_namespace(), self.settings.size, flush=True)
        if self.settings.size == 13:
            self.create_timer(0.05, self._explode)

    def _explode(self):
        raise RuntimeError("thirteen is too much")

    def close(self):
        print("last words", flush=True)

sys.exit(run_node(Small))
"""


def start(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    program = tmp_path / "small_node.py"
    program.write_text(PROGRAM)
    return subprocess.Popen(
        [sys.executable, str(program), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    with start(tmp_path, *arguments) as process:
        out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def test_signals_end_it_cleanly(tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        with DomainReservation(), start(tmp_path, "--ros-args", "-r", "__ns:=/robot_1", "-p", "size:=4") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready /robot_1 4\n"
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "last words\n", "")


def test_a_bad_parameter_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    code, _, err = run(tmp_path, "--ros-args", "-p", "size:=huge")
    assert code == 2
    assert err.startswith("parameter size of node small is 'huge'")
    assert err.count("\n") == 1


def test_a_failure_shows_its_cause_and_exit_code_1(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "--ros-args", "-p", "size:=13")
    assert code == 1
    assert "Traceback" in err
    assert err.rstrip().endswith("node small failed: RuntimeError: thirteen is too much")
    assert out.endswith("last words\n")
