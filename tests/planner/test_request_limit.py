"""The limit that parallel episodes share: places, starts per minute, pauses."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_planner.request_limit import MAX_PAUSE_SECONDS, LimitError, Permit, RequestLimit, endpoint_folder


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def started(limit: RequestLimit) -> Permit:
    permit = limit.try_start()
    assert isinstance(permit, Permit)
    return permit


def refused(limit: RequestLimit) -> float:
    seconds = limit.try_start()
    assert not isinstance(seconds, Permit)
    assert seconds > 0
    return seconds


def test_places(tmp_path: Path) -> None:
    first, second = RequestLimit(tmp_path, 2), RequestLimit(tmp_path, 2)
    with started(first), started(second):
        refused(first)
        refused(second)
    with started(second), started(second):
        refused(first)
        with started(RequestLimit(tmp_path, 3)):
            refused(RequestLimit(tmp_path, 3))


def test_starts_per_minute(tmp_path: Path) -> None:
    clock = Clock()
    limit = RequestLimit(tmp_path, 8, per_minute=2, clock=clock)
    with started(limit):
        clock.now = 1010.0
    with started(limit):
        clock.now = 1020.0
    assert refused(limit) == pytest.approx(40.0)
    clock.now = 1060.0
    with started(limit):
        assert refused(RequestLimit(tmp_path, 8, per_minute=2, clock=clock)) == pytest.approx(10.0)


@given(st.lists(st.floats(0, 30), min_size=1, max_size=40), st.integers(1, 5))
def test_no_minute_has_more_starts_than_allowed(gaps: list[float], per_minute: int) -> None:
    clock = Clock()
    times = []
    with tempfile.TemporaryDirectory() as folder:
        limit = RequestLimit(Path(folder), 1, per_minute, clock)
        for gap in gaps:
            clock.now += gap
            answer = limit.try_start()
            if isinstance(answer, Permit):
                times.append(clock.now)
                with answer:
                    pass
            else:
                clock.now += answer * 1.001
                with started(limit):
                    times.append(clock.now)
    for start in times:
        assert sum(start <= other < start + 60.0 for other in times) <= per_minute


def test_a_pause_holds_everybody_back(tmp_path: Path) -> None:
    clock = Clock()
    first, second = RequestLimit(tmp_path, 2, clock=clock), RequestLimit(tmp_path, 2, clock=clock)
    assert first.try_pause(5.0)
    assert refused(second) == pytest.approx(5.0)
    assert second.try_pause(2.0)
    assert refused(first) == pytest.approx(5.0)
    clock.now += 5.0
    with started(first):
        pass


def test_a_pause_of_another_time_is_none(tmp_path: Path) -> None:
    clock = Clock(10_000.0)
    limit = RequestLimit(tmp_path, 1, clock=clock)
    assert limit.try_pause(1e9)
    assert refused(limit) == pytest.approx(MAX_PAUSE_SECONDS)
    clock.now = 10.0  # somebody has set the clock
    with started(limit):
        pass


def test_a_process_that_stopped_with_the_file_in_its_hands_is_not_waited_for(tmp_path: Path) -> None:
    limit = RequestLimit(tmp_path, 1)
    with (tmp_path / "state.json").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused(limit)
        assert not limit.try_pause(1.0)
    with started(limit):
        pass


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"paused_until": "soon", "starts": []}', b"\xff", b"null"])
def test_a_broken_file_counts_as_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_bytes(content)
    limit = RequestLimit(tmp_path, 1, per_minute=1)
    with started(limit):
        refused(limit)
    assert json.loads((tmp_path / "state.json").read_bytes())["starts"]


def test_a_process_that_dies_gives_its_place_back(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from homie_planner.request_limit import RequestLimit
        permit = RequestLimit(Path(sys.argv[1]), 1).try_start()
        print("has it", flush=True)
        time.sleep(60)
        """
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "has it\n"
        limit = RequestLimit(tmp_path, 1)
        refused(limit)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    with started(limit):
        pass


def test_each_endpoint_has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first, second = endpoint_folder("http://a/v1"), endpoint_folder("http://b/v1")
    assert first != second
    assert first == endpoint_folder("http://a/v1")
    assert first.is_relative_to(tmp_path / "homie")


def test_without_a_runtime_folder_the_temporary_one_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert endpoint_folder("http://a/v1").parent == tmp_path / f"homie-{os.getuid()}"
    assert (tmp_path / f"homie-{os.getuid()}").stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_used_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "homie").write_text("a file")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(LimitError, match="the request limit cannot make"):
        endpoint_folder("http://a/v1")
    with pytest.raises(LimitError, match="the request limit cannot use"):
        RequestLimit(tmp_path / "gone", 1).try_start()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "state.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LimitError, match=r"state\.json"):
        RequestLimit(tmp_path, 1).try_start()
    assert not (tmp_path / "elsewhere").exists()
