"""The file of a run: every episode comes to exactly one end, whatever happens to the workers."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_core.episode import EpisodeResult, Outcome
from homie_eval.emmoe.tasks import load_task
from homie_eval.runs.plan import Episode
from homie_eval.runs.store import RunStore, State, StoreError
from homie_eval.trajectory import Trajectory
from support.run_plans import plan
from support.trajectories import info

ENDED = Trajectory(info(), (), EpisodeResult(Outcome.ENDED, 3))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run.sqlite", plan()) as made:
        yield made


def claimed(store: RunStore, worker: str = "w", planner: str = "") -> Episode:
    episode = store.claim(worker, 1.0, planner)
    assert episode is not None
    return episode


def test_episodes_are_claimed_in_order_and_once(store: RunStore) -> None:
    wanted = [episode.id for episode in store.plan.episodes]
    assert [claimed(store).id for _ in wanted] == wanted
    assert store.claim("w", 1.0) is None
    assert store.counts() == Counter({State.RUNNING: 12})


def test_a_worker_stays_with_its_planner_as_long_as_it_can(store: RunStore) -> None:
    planners = [claimed(store, planner="b").planner for _ in range(12)]
    assert planners == ["b"] * 6 + ["a"] * 6


def test_then_it_stays_in_its_house_as_long_as_it_can(tmp_path: Path) -> None:
    tasks = tuple(load_task(number) for number in ("33", "5", "84", "12"))  # house_1, house_3, house_1, house_3
    mixed = plan(planners=("a",), trials=1).model_copy(update={"tasks": tasks})
    with RunStore.create(tmp_path / "mixed.sqlite", mixed) as store:
        order = []
        while (episode := store.claim("w", 1.0, "a", "house_3")) is not None:
            order.append(store.plan.task_of[episode.task].number)
    assert order == [5, 12, 33, 84]


def test_what_is_done_is_kept_to_the_letter(store: RunStore) -> None:
    episode = claimed(store)
    store.finish(episode, ENDED, '{"TP": 1.0}', now=9.0, seconds=2.5)
    (record,) = store.records([State.DONE])
    assert record.episode == episode
    assert record.trajectory == ENDED
    assert (record.outcome, record.live_scores_json, record.seconds, record.since) == ("ended", '{"TP": 1.0}', 2.5, 9.0)


def test_a_failure_is_tried_again_and_then_kept_with_its_cause(store: RunStore) -> None:
    first = claimed(store)
    store.fail(first, "w", "the bridge died", 2.0, max_tries=2)
    assert claimed(store) == first
    store.fail(first, "w", "the bridge died again", 3.0, max_tries=2)
    (record,) = store.records([State.FAILED])
    assert (record.tries, record.cause, record.trajectory) == (2, "the bridge died again", None)
    assert claimed(store) != first
    assert store.retry_failed(4.0) == 1
    assert store.counts()[State.FAILED] == 0


def test_an_interrupted_try_counts_for_nothing(store: RunStore) -> None:
    episode = claimed(store)
    store.give_back(episode, "w", 2.0)
    assert claimed(store) == episode
    (record,) = store.records([State.RUNNING])
    assert record.tries == 0


def test_the_episode_of_a_dead_worker_is_pending_again(store: RunStore) -> None:
    first, second = claimed(store, "dead"), claimed(store, "alive")
    assert store.release("dead", "killed", 2.0, max_tries=3) == (first.id,)
    running = list(store.records([State.RUNNING]))
    assert [record.episode for record in running] == [second]
    assert store.release("", "the machine went down", 3.0, max_tries=3) == (second.id,)
    assert [record.tries for record in store.records()][:2] == [1, 1]


def test_a_late_worker_changes_no_result(store: RunStore) -> None:
    episode = claimed(store, "slow")
    store.release("slow", "presumed dead", 2.0, max_tries=3)
    assert claimed(store, "quick") == episode
    store.finish(episode, ENDED, "", now=3.0, seconds=1.0)
    other = Trajectory(info(), (), EpisodeResult(Outcome.STEP_LIMIT, 20))
    store.finish(episode, other, "", now=4.0, seconds=1.0)
    (record,) = store.records([State.DONE])
    assert record.trajectory == ENDED
    store.fail(episode, "slow", "late", 5.0, max_tries=3)
    store.give_back(episode, "slow", 5.0)
    (record,) = store.records([State.DONE])
    assert (record.outcome, record.cause) == ("ended", "")


def test_a_worker_that_was_presumed_dead_does_not_count_twice(store: RunStore) -> None:
    episode = claimed(store, "slow")
    store.release("slow", "presumed dead", 2.0, max_tries=3)
    store.fail(episode, "slow", "late", 3.0, max_tries=3)
    assert claimed(store, "quick") == episode
    store.give_back(episode, "slow", 4.0)
    (record,) = store.records([State.RUNNING])
    assert (record.tries, record.worker, record.cause) == (1, "quick", "presumed dead")


def test_many_workers_share_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    RunStore.create(path, plan(trials=10)).close()
    claims: list[str] = []

    def work(name: str) -> None:
        with RunStore(path) as own:
            while (episode := own.claim(name, 1.0)) is not None:
                claims.append(episode.id)
                own.finish(episode, ENDED, "", 2.0, 1.0)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(claims) == len(set(claims)) == 60


@given(st.lists(st.sampled_from(["claim", "finish", "fail", "give_back", "release"]), max_size=60))
def test_whatever_happens_no_episode_is_lost_or_doubled(events: list[str]) -> None:
    with TemporaryDirectory() as folder, RunStore.create(Path(folder) / "run.sqlite", plan(trials=1)) as store:
        running: list[Episode] = []
        for event in events:
            if event == "claim" and (episode := store.claim("w", 1.0)) is not None:
                assert episode not in running
                running.append(episode)
            elif event == "release":
                store.release("w", "gone", 1.0, max_tries=2)
                running.clear()
            elif running and event == "finish":
                store.finish(running.pop(), ENDED, "", 1.0, 1.0)
            elif running and event == "fail":
                store.fail(running.pop(), "w", "broken", 1.0, max_tries=2)
            elif running and event == "give_back":
                store.give_back(running.pop(), "w", 1.0)
            counts = store.counts()
            assert counts.total() == 6
            assert counts[State.RUNNING] == len(running)


def test_wrong_files_are_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with pytest.raises(StoreError, match="does not exist"):
        RunStore(path)
    RunStore.create(path, plan()).close()
    with pytest.raises(StoreError, match="exists already"):
        RunStore.create(path, plan())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE plan SET json = replace(json, '\"format_version\":1', '\"format_version\":99')")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="format version 99; this program knows up to 1"):
        RunStore(path)
    path.write_text("no database", encoding="utf-8")
    with pytest.raises(StoreError, match="is not the file of a run"):
        RunStore(path)
