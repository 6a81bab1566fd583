"""Which messages of a stream belong to which episode."""

from pathlib import Path

from homie_eval.bag import Bag
from homie_eval.episode_stream import episode_records, episode_stamps, rate_of
from support.bags import BagFixture, message
from support.moving_bag import SECOND
from support.trajectories import info


def stamps(path: Path, episode_id: str) -> list[float]:
    with Bag(path) as bag:
        return [stamp / SECOND for stamp, _ in episode_records(bag, "odom", episode_id)]


def test_what_follows_a_reset_belongs_to_the_episode_that_is_announced_next(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        for number, episode in enumerate(("e1", "e2")):
            bag.odometry(0, 0.0, 0.0)
            bag.info(info(episode))
            bag.info(info(episode))
            for second in range(1, 5 + number):
                bag.odometry(second * SECOND, 0.0, 0.0)
    assert stamps(tmp_path / "bag", "e1") == [0, 1, 2, 3, 4]
    assert stamps(tmp_path / "bag", "e2") == [0, 1, 2, 3, 4, 5]
    assert stamps(tmp_path / "bag", "e3") == []


def test_a_reset_may_also_follow_the_announcement(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        for episode in ("e1", "e2"):
            bag.info(info(episode))
            for second in (0, 4, 8):
                bag.odometry(second * SECOND, 0.0, 0.0)
    assert stamps(tmp_path / "bag", "e1") == stamps(tmp_path / "bag", "e2") == [0, 4, 8]


def test_a_stamp_that_is_a_little_late_is_no_reset(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info("e1"))
        for second in (1.0, 1.2, 1.1, 1.3):
            bag.odometry(round(second * SECOND), 0.0, 0.0)
    assert stamps(tmp_path / "bag", "e1") == [1.0, 1.2, 1.1, 1.3]


def test_two_robots_at_once(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        for robot in ("a", "b"):
            value = message("homie_msgs/msg/EpisodeInfo", episode_id=f"of_{robot}")
            bag.write(f"{robot}/episode/info", value)
        for second in range(4):
            bag.write(f"{'ab'[second % 2]}/odom", odometry_at(second))
    assert stamps(tmp_path / "bag", "of_a") == [0, 2]
    assert stamps(tmp_path / "bag", "of_b") == [1, 3]


def odometry_at(second: int) -> object:
    value = message("nav_msgs/msg/Odometry")
    value.header.stamp.sec = second
    return value


def test_the_rate_is_that_of_most_messages(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info("e1"))
        for second in (0.0, 0.2, 0.4, 0.4, 0.45, 0.65, 0.85, 3.0, 3.2):
            bag.odometry(round(second * SECOND), 0.0, 0.0)
        bag.info(info("e2"))
        bag.odometry(0, 0.0, 0.0)
        bag.odometry(0, 0.0, 0.0)
    with Bag(tmp_path / "bag") as read:
        assert rate_of(episode_stamps(read, "odom", "e1")) == 5
        assert rate_of(episode_stamps(read, "odom", "e2")) is None
        assert rate_of(episode_stamps(read, "odom", "e3")) is None
