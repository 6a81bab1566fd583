"""Who gets which episode on other machines, and what becomes of it when a worker is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homie_bringup import remote_workers
from homie_bringup.episode_runner import Attempt
from homie_bringup.evaluation import EvaluationError
from homie_bringup.evaluation_worker import FAILURES_IN_A_ROW
from homie_bringup.remote_workers import PLACE_SECONDS, RemoteWorkers
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import Record, RunStore, State
from support.run_plans import plan
from support.scripted_cluster import CANCELLED, VERSIONS, ScriptedCluster, ScriptedWorker

TRIES = 3
BROKEN = Attempt(None, "", "infrastructure failure: the bridge died", cancelled=False, seconds=1.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with new_store(tmp_path) as store:
        yield store


def new_store(folder: Path) -> RunStore:
    return RunStore.create(
        EvaluationFolder(folder).store, plan(planners=("a",)).model_copy(update={"versions": VERSIONS})
    )


def workers_of(store: RunStore, cluster: ScriptedCluster, place_seconds: float = PLACE_SECONDS) -> RemoteWorkers:
    return RemoteWorkers(EvaluationFolder(store.path.parent), cluster, TRIES, place_seconds=place_seconds)


def first(store: RunStore) -> Record:
    return next(store.records())


def placed(store: RunStore, cluster: ScriptedCluster, count: int = 1) -> tuple[RemoteWorkers, list[ScriptedWorker]]:
    """Workers that are at their first episodes."""
    pool = workers_of(store, cluster)
    pool.fill_up(count)
    for worker in cluster.workers:
        worker.place()
    pool.take_note(store)
    return pool, cluster.workers


def test_each_placed_worker_gets_one_episode_at_a_time_and_its_bag_is_brought(store: RunStore) -> None:
    pool, (one, two) = placed(store, ScriptedCluster(), 2)
    assert [one.episode, two.episode] == list(store.plan.episodes[:2])
    one.deliver()
    pool.take_note(store)
    record = first(store)
    assert (record.state, record.tries, record.seconds, record.live_scores_json) == (State.DONE, 0, 1.5, '{"SR": 0.0}')
    assert record.trajectory is not None
    bag = EvaluationFolder(store.path.parent).bag(record.episode)
    assert (bag / "bag.mcap").read_bytes() == b"messages"
    assert one.episode == store.plan.episodes[2]
    assert two.episode == store.plan.episodes[1]


def test_a_worker_that_finds_its_place_later_joins(store: RunStore) -> None:
    cluster = ScriptedCluster()
    pool = workers_of(store, cluster)
    pool.fill_up(2)
    one, two = cluster.workers
    one.place()
    pool.take_note(store)
    assert two.episode is None
    two.place("b")
    pool.take_note(store)
    assert two.episode == store.plan.episodes[1]


def test_a_lost_workers_episode_counts_a_try_and_is_run_by_another(store: RunStore) -> None:
    pool, (one, two) = placed(store, ScriptedCluster(), 2)
    one.lose("its node was lost: a")
    pool.take_note(store)
    record = first(store)
    assert (record.state, record.tries, record.cause) == (State.PENDING, 1, "its node was lost: a")
    two.deliver()
    pool.take_note(store)
    assert two.episode == record.episode
    assert len(pool) == 1


def test_an_episode_that_is_lost_each_time_has_failed_with_the_cause(store: RunStore) -> None:
    cluster = ScriptedCluster()
    pool = workers_of(store, cluster)
    for _ in range(TRIES):
        pool.fill_up(1)
        cluster.workers[-1].place()
        pool.take_note(store)
        cluster.workers[-1].lose("its worker was lost")
        pool.take_note(store)
    record = first(store)
    assert (record.state, record.tries, record.cause) == (State.FAILED, TRIES, "its worker was lost")


def test_a_bag_that_stays_is_named(store: RunStore) -> None:
    pool, (worker,) = placed(store, ScriptedCluster())
    worker.deliver(place="a:/data/run/bag")
    pool.take_note(store)
    folder = EvaluationFolder(store.path.parent)
    assert folder.bag_place(store.plan.episodes[0]).read_text() == "a:/data/run/bag\n"
    assert not folder.bag(store.plan.episodes[0]).exists()


def test_a_node_with_other_versions_is_refused(store: RunStore) -> None:
    cluster = ScriptedCluster(on_start=lambda worker: worker.place("b", {"numpy": "2.4.5"}))
    pool = workers_of(store, cluster)
    pool.fill_up(1)
    with pytest.raises(EvaluationError, match=r"b has numpy 2\.4\.5, the run was begun with 2\.4\.6: all nodes must"):
        pool.take_note(store)
    assert store.counts()[State.PENDING] == len(store.plan.episodes)


def test_workers_that_fall_together_are_one_crash_and_one_after_the_other_end_the_run(store: RunStore) -> None:
    cluster = ScriptedCluster(
        on_start=lambda worker: worker.lose("ModuleNotFoundError: No module named 'homie_bringup'")
    )
    pool = workers_of(store, cluster)
    pool.fill_up(5)
    pool.take_note(store)
    pool.fill_up(5)
    pool.take_note(store)
    pool.fill_up(5)
    with pytest.raises(EvaluationError, match="workers die as soon as they start: ModuleNotFoundError"):
        pool.take_note(store)
    assert len(cluster.workers) == 15


def test_a_run_without_a_place_for_any_worker_ends_and_says_what_there_is(store: RunStore) -> None:
    pool = workers_of(store, ScriptedCluster(), place_seconds=0.0)
    pool.fill_up(1)
    with pytest.raises(EvaluationError, match="no worker found a place in 0 s: the cluster has 0 CPUs"):
        pool.take_note(store)


def test_one_failure_after_the_other_on_a_node_ends_the_run(store: RunStore) -> None:
    pool, (worker,) = placed(store, ScriptedCluster())
    for _ in range(FAILURES_IN_A_ROW - 1):
        worker.deliver(BROKEN)
        pool.take_note(store)
    worker.deliver(BROKEN)
    with pytest.raises(EvaluationError, match=r"one episode after the other failed on a; the last: .*the bridge died"):
        pool.take_note(store)


def test_a_worker_that_grew_is_replaced(store: RunStore) -> None:
    pool, (worker,) = placed(store, ScriptedCluster())
    worker.deliver(megabytes=2001.0)
    pool.take_note(store)
    assert worker.ended
    assert len(pool) == 0
    assert first(store).state is State.DONE


def test_an_episode_that_takes_too_long_is_ended_with_its_worker(store: RunStore) -> None:
    pool, (worker,) = placed(store, ScriptedCluster())
    pool.kill({worker.name}, 3900.0)
    pool.take_note(store)
    assert worker.killed
    record = first(store)
    assert (record.state, record.tries, record.cause) == (State.PENDING, 1, "it took more than 3900 s")


def test_stopping_gives_back_what_is_cancelled_and_what_does_not_answer(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_workers, "STOP_SECONDS", 0.2)
    pool, (obeys, finishes, hangs) = placed(store, ScriptedCluster(), 3)
    obeys.on_cancel = lambda worker: worker.deliver(CANCELLED)
    finishes.on_cancel = lambda worker: worker.deliver()
    pool.stop(store)
    assert all(worker.cancelled and worker.ended for worker in (obeys, finishes, hangs))
    assert [(record.state, record.tries) for record in store.records()][:3] == [
        (State.PENDING, 0),
        (State.DONE, 0),
        (State.PENDING, 0),
    ]
    assert len(pool) == 0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_is_lost_every_episode_ends_and_every_loss_is_counted(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    dice = random.Random(seed)
    losses = 0

    def begin(worker: ScriptedWorker) -> None:
        nonlocal losses
        if dice.random() < 0.3:
            losses += 1
            worker.lose()
        else:
            worker.deliver()

    def start(worker: ScriptedWorker) -> None:
        worker.on_begin = begin
        worker.place()

    with new_store(tmp_path_factory.mktemp("run")) as store:
        pool = workers_of(store, ScriptedCluster(start))
        while (counts := store.counts())[State.PENDING] or counts[State.RUNNING]:
            pool.fill_up(2)
            pool.take_note(store)
        assert counts[State.DONE] + counts[State.FAILED] == len(store.plan.episodes)
        records = list(store.records())
    assert sum(record.tries for record in records) == losses
    assert all((record.tries >= TRIES) == (record.state is State.FAILED) for record in records)
