"""One run over several machines: nodes of a Ray cluster, all of them on this one."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import RunStore, State
from support.evaluation_runs import DEADLINE, EPISODES, begin, done, homie, is_alive, wait_for

cluster_utils = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed: make extra-ray")

STORE_BYTES = 100_000_000


@pytest.fixture
def ray_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """All files of Ray and its workers are in here. Its path is short, as sockets need it."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def cluster(ray_folder: Path) -> Iterator[Any]:
    """A cluster with one node, of one CPU, that holds what all share."""
    head = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    yield cluster
    processes = descendants(os.getpid())
    cluster.shutdown()
    wait_for(lambda: not any(map(is_alive, processes)), "the cluster's processes to end")


def descendants(pid: int) -> set[int]:
    """All processes that stem from ``pid``."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = set(map(int, task.read_text(encoding="ascii").split()))
        except (FileNotFoundError, ProcessLookupError):
            continue  # that thread or process has ended meanwhile
        found |= children.union(*map(descendants, children))
    return found


def running(folder: Path) -> set[str]:
    """The workers that are at an episode."""
    if not (folder / "run.sqlite").is_file():
        return set()
    with RunStore(folder / "run.sqlite") as store:
        return {record.worker for record in store.records([State.RUNNING])}


@pytest.mark.timeout(900)
def test_a_run_on_two_nodes_loses_one_and_ends_with_the_numbers_of_a_local_run(tmp_path: Path, cluster: Any) -> None:
    with homie(*begin(tmp_path, "local"), log=tmp_path / "local.log") as process:
        assert process.wait(DEADLINE) == 0, (tmp_path / "local.log").read_text()

    second = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    run = tmp_path / "ray"
    with homie(*begin(tmp_path, "ray", "--ray", cluster.address), log=tmp_path / "ray.log") as process:
        wait_for(lambda: len(running(run)) == 2, "an episode on each node")
        processes = descendants(os.getpid())
        cluster.remove_node(second, allow_graceful=False)
        assert done(run) < EPISODES
        cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        assert process.wait(DEADLINE) == 0, (tmp_path / "ray.log").read_text()
        processes |= descendants(os.getpid())

    assert (run / "metrics.csv").read_text() == (tmp_path / "local" / "metrics.csv").read_text()
    folder = EvaluationFolder(run)
    with RunStore(folder.store) as store:
        records = list(store.records())
    assert [record.state for record in records] == [State.DONE] * EPISODES
    assert sum(record.tries for record in records) == 1  # what the lost node was at
    files = [sorted(path.name for path in folder.bag(record.episode).iterdir()) for record in records]
    assert files == [["bag.mcap", "metadata.yaml"]] * EPISODES
    cluster.shutdown()
    wait_for(lambda: not any(map(is_alive, processes)), "every process of both nodes to end")


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("ray_folder")
def test_interrupted_it_gives_back_what_ran_and_a_local_run_goes_on(tmp_path: Path) -> None:
    bags = tmp_path / "bags"
    run = tmp_path / "run"
    with homie(*begin(tmp_path, "run", "--ray", "local", "--ray-bags", str(bags)), log=tmp_path / "log") as process:
        wait_for(lambda: done(run) >= 2, "the first episodes")
        processes = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C
        assert process.wait(DEADLINE) == 130, (tmp_path / "log").read_text()
    wait_for(lambda: not any(map(is_alive, processes)), "Ray's processes to end")
    folder = EvaluationFolder(run)
    with RunStore(folder.store) as store:
        assert not store.counts()[State.RUNNING]
        records = list(store.records())
    assert not any(record.tries for record in records)
    for record in records:
        place = folder.bag_place(record.episode)
        if record.state is State.DONE:
            host, _, path = place.read_text().strip().partition(":")
            assert host
            assert Path(path).is_relative_to(bags)
            assert (Path(path) / "metadata.yaml").is_file()
        assert not folder.bag(record.episode).exists()
    with homie("eval", "--resume", str(run), log=tmp_path / "resumed.log") as process:
        assert process.wait(DEADLINE) == 0, (tmp_path / "resumed.log").read_text()
    assert done(run) == EPISODES


@pytest.mark.timeout(300)
def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    address = "127.0.0.1:1"
    with homie(*begin(tmp_path, "run", "--ray", address), log=tmp_path / "log") as process:
        assert process.wait(DEADLINE) == 1
    (line,) = [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("stopped")]
    assert f"cannot join the Ray cluster '{address}'" in line
