"""Bags: whole, several episodes, any namespace, cut off anywhere, and things that are no bag."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.world_state import WorldState
from homie_eval.bag import Bag, BagContents, BagError, Record, Topic, read_bag
from homie_eval.emmoe.tasks import load_task
from homie_eval.score import score_bag
from support.bags import VIEWS, BagFixture, message, picture
from support.trajectories import info, steps_of
from support.worlds import kitchen

RUN = """(1) Go to, fridge(success) (2) Open, fridge(fail) (3) Open, fridge(success) (4) Go to, green_can(success)
(5) Pick, green_can(success) (6) Go to, fridge(success) (7) Put, green_can, fridge(success) (8) End(success)"""
SECOND = 1_000_000_000
TASK = load_task("100")


def stamped(run: str = RUN) -> tuple[Step, ...]:
    return tuple(
        replace(step, stamp=step.index * 10 * SECOND, analysis="I think\nso", attempts=1, tokens_in=5)
        for step in steps_of(run)
    )


def write_episode(
    bag: BagFixture, id: str = "e1", outcome: Outcome | None = Outcome.ENDED, pictures: bool = False
) -> tuple[Step, ...]:
    """A whole episode, or one that stops without a result."""
    steps = stamped()
    bag.world_state(kitchen())
    bag.info(info(id, task_json=TASK.to_json(), versions={"homie": "0.1.0"}))
    for step in steps:
        if pictures:
            bag.observation(step.stamp, {name: picture(step.index) for name in VIEWS})
        bag.world_state(kitchen(can_in="fridge" if step.index > 6 else "brown_table", stamp=step.stamp))
        bag.step(id, step)
    if outcome is not None:
        bag.result(id, EpisodeResult(outcome, len(steps), wall_seconds=1.5, sim_seconds=80.0), steps[-1].stamp)
    return steps


def same(first: WorldState | None, second: WorldState) -> bool:
    """Equal, where not-a-number equals itself."""
    return repr(first) == repr(second)


@pytest.mark.parametrize("storage", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize("namespace", ["", "/robot_1", "/a/b"])
def test_an_episode_comes_back_as_it_was(tmp_path: Path, storage: StoragePlugin, namespace: str) -> None:
    with BagFixture(tmp_path / "bag", namespace, storage) as bag:
        steps = write_episode(bag)
    contents = read_bag(tmp_path / "bag")
    (trajectory,) = contents.trajectories
    assert contents.problems == trajectory.problems == ()
    assert trajectory.info == info(task_json=TASK.to_json(), versions={"homie": "0.1.0"})
    assert trajectory.steps == steps
    assert trajectory.result == EpisodeResult(Outcome.ENDED, 8, wall_seconds=1.5, sim_seconds=80.0)
    assert same(trajectory.final_state, kitchen(can_in="fridge", stamp=80 * SECOND))


def test_a_file_without_its_folder(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        steps = write_episode(bag)
    assert read_bag(tmp_path / "bag" / "bag.mcap").trajectories[0].steps == steps


def test_what_was_handled_and_the_notes_come_back(tmp_path: Path) -> None:
    (step,) = steps_of("(1) [Put, can, fridge](success)")
    told = replace(step, target_id="tomato_soup_can_1", destination_id="fridge", note="'can' is ambiguous")
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info())
        bag.step("e1", told)
    assert read_bag(tmp_path / "bag").trajectories[0].steps == (told,)


def test_a_bag_of_before_steps_told_what_was_handled(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag", left_out=("target_id", "destination_id", "note")) as bag:
        steps = write_episode(bag)
    contents = read_bag(tmp_path / "bag")
    assert contents.problems == ()
    assert contents.trajectories[0].steps == steps
    (episode,) = score_bag(tmp_path / "bag").episodes
    assert episode.score.success


def test_a_bag_without_metadata_is_read_from_its_files(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        steps = write_episode(bag)
    (tmp_path / "bag" / "metadata.yaml").unlink()
    assert read_bag(tmp_path / "bag").trajectories[0].steps == steps


def test_several_episodes_and_robots(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_episode(bag, "e1")
        write_episode(bag, "e2", Outcome.INFRASTRUCTURE_FAILURE)
        bag.step("lost", stamped()[0])
    scores = score_bag(tmp_path / "bag")
    assert [episode.score.episode_id for episode in scores.episodes] == ["e1", "e2"]
    assert scores.summary.judged == 1
    assert scores.problems == ("episode 'lost' has no episode/info: its 1 steps are left out",)


def test_the_live_referees_numbers_are_compared(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "unscored") as bag:
        write_episode(bag)
    (unscored,) = score_bag(tmp_path / "unscored").episodes
    assert unscored.agrees is None
    with BagFixture(tmp_path / "bag") as bag:
        write_episode(bag)
        bag.score(replace(unscored.score, replans=0), final=False)
        bag.score(unscored.score)
    (episode,) = score_bag(tmp_path / "bag").episodes
    assert episode.agrees is True
    assert episode.live is not None
    assert replace(episode, live={**episode.live, "TP": 0.5}).agrees is False


def test_an_episode_without_its_end(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_episode(bag, outcome=None)
    (episode,) = score_bag(tmp_path / "bag").episodes
    assert episode.score.outcome is None and not episode.score.judged
    assert episode.score.success
    assert episode.score.problems == ("the recording stops before the end of the episode",)


def read_or_refuse(path: Path) -> BagContents | str:
    """The bag, or the line that says why it cannot be read."""
    try:
        return read_bag(path)
    except BagError as error:
        return str(error)


@pytest.mark.parametrize("compress", [True, False])
def test_a_file_that_is_cut_off_anywhere_gives_what_is_left(tmp_path: Path, compress: bool) -> None:
    with BagFixture(tmp_path / "whole", compress=compress) as bag:
        steps = write_episode(bag, pictures=True)
    content = (tmp_path / "whole" / "whole.mcap").read_bytes()
    found = []
    for share in range(1, 20):
        folder = tmp_path / f"cut_{share}"
        folder.mkdir()
        (folder / "cut.mcap").write_bytes(content[: len(content) * share // 20])
        contents = read_or_refuse(folder)
        if isinstance(contents, str):
            assert "\n" not in contents
            found.append(0)
            continue
        (trajectory,) = contents.trajectories
        assert trajectory.steps == steps[: len(trajectory.steps)]
        assert contents.problems == ("cut.mcap was not finished; what is readable of it is read",)
        found.append(len(trajectory.steps))
    assert found == sorted(found)
    assert found[-1] >= 7


@pytest.mark.parametrize("damage", [b"\xff" * 8, b"\x00" * 8, b"\x7f" * 4])
def test_bytes_that_are_damaged_in_the_middle_raise_nothing_unexpected(tmp_path: Path, damage: bytes) -> None:
    with BagFixture(tmp_path / "whole", compress=False) as bag:
        write_episode(bag)
    content = (tmp_path / "whole" / "whole.mcap").read_bytes()
    for position in range(0, len(content), len(content) // 60):
        damaged = bytearray(content)
        damaged[position : position + len(damage)] = damage
        path = tmp_path / "damaged.mcap"
        path.write_bytes(damaged)
        contents = read_or_refuse(path)
        assert not isinstance(contents, str) or "\n" not in contents


def test_an_unknown_word_of_the_protocol_is_left_out_and_said(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_episode(bag, outcome=None)
        bag.write("episode/result", message("homie_msgs/msg/EpisodeResult", episode_id="e1", outcome="exploded"))
        bag.write("episode/step", message("homie_msgs/msg/StepRecord", episode_id="e1", index=9, error_code="Z9"))
    problems = read_bag(tmp_path / "bag").problems
    assert "outcome is 'exploded'; allowed: ended, step_limit" in problems[0]
    assert "error_code is 'Z9'; allowed: L1, L2" in problems[1]


def test_an_episode_whose_task_is_gone_is_listed(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info(task_id="7_gone"))
        bag.info(info("e2", task_id="100_green_can_to_fridge"))
        bag.info(info("e3", task_json="{"))
    scores = score_bag(tmp_path / "bag")
    assert [episode.score.episode_id for episode in scores.episodes] == ["e2"]
    assert scores.problems[0].startswith("episode e1 is not scored: unknown task '7_gone'")
    assert scores.problems[1].startswith("episode e3 is not scored: task is not JSON")


def test_topics_are_found_by_their_last_parts_only(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_episode(bag)
        bag.write("not_episode/info", message("std_msgs/msg/String", data="x"))
        bag.write("my_world_state", message("std_msgs/msg/String", data="x"))
    assert read_bag(tmp_path / "bag").problems == ()
    with Bag(tmp_path / "bag") as opened:
        assert {topic.name for topic in opened.topics} >= {"/episode/info", "/not_episode/info"}


IDL = """module demo_msgs { module msg { struct Note { string text; int32 number; }; }; };"""


def test_a_definition_in_idl() -> None:
    topic = Topic("/note", "demo_msgs/msg/Note", "ros2idl", f"{'=' * 80}\nIDL: demo_msgs/msg/Note\n{IDL}")
    data = bytes([0, 1, 0, 0, 3, 0, 0, 0]) + b"hi\x00\x00" + bytes([7, 0, 0, 0])
    note = Record(topic, 0, data).decode()
    assert (note.text, note.number) == ("hi", 7)
    assert Record(replace(topic, definition=IDL), 0, data).decode().number == 7


def test_bytes_that_are_no_message_are_an_error_of_one_line() -> None:
    topic = Topic("/note", "demo_msgs/msg/Note", "ros2msg", "string text")
    with pytest.raises(BagError, match="a message on /note cannot be read"):
        Record(topic, 0, bytes([0, 1, 0, 0, 255, 255, 0, 0])).decode()
    with pytest.raises(BagError, match="a message on /note is cut off"):
        Record(topic, 0, b"\x00\x01").header_stamp()


def test_a_compressed_bag_that_only_its_metadata_tells_of(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.MESSAGE, CompressionFormat.ZSTD)
    with BagFixture(tmp_path / "bag", writer=writer) as bag:
        steps = write_episode(bag)
    assert read_bag(tmp_path / "bag").trajectories[0].steps == steps


def test_things_that_are_no_bag(tmp_path: Path) -> None:
    with pytest.raises(BagError, match="there is no bag"):
        read_bag(tmp_path / "nothing")
    with pytest.raises(BagError, match=r"is not a bag: there is no \.mcap or \.db3 file in it"):
        read_bag(tmp_path)
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    with pytest.raises(BagError, match="is not a bag"):
        read_bag(text)
    for content in (b"", b"hello, this is not a bag at all, though it is long enough for one"):
        fake = tmp_path / "fake.mcap"
        fake.write_bytes(content)
        with pytest.raises(BagError, match="is not an MCAP file"):
            read_bag(fake)
    database = tmp_path / "fake.db3"
    database.write_bytes(b"no database")
    with pytest.raises(BagError, match="cannot be read"):
        read_bag(database)


def test_a_bag_of_something_else(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.write("chatter", message("std_msgs/msg/String", data="x"))
    with pytest.raises(BagError, match="holds no episode: no message on a topic episode/info"):
        read_bag(tmp_path / "bag")


def test_a_folder_whose_files_come_in_parts(tmp_path: Path) -> None:
    for name, ids in (("first", ["e1"]), ("second", ["e2"])):
        with BagFixture(tmp_path / name) as bag:
            for id in ids:
                write_episode(bag, id)
    parts = tmp_path / "parts"
    parts.mkdir()
    shutil.copy(tmp_path / "first" / "first.mcap", parts / "bag_0.mcap")
    shutil.copy(tmp_path / "second" / "second.mcap", parts / "bag_1.mcap")
    assert [trajectory.info.episode_id for trajectory in read_bag(parts).trajectories] == ["e1", "e2"]
