"""Exports of runs and data sets, and that what is exported scores as before."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from homie_eval.emmoe.data.emmoe100 import VIEWS
from homie_eval.emmoe.data.export import ExportError, export_dpo, export_emmoe100, export_sft
from homie_eval.emmoe.data.sources import SourceError, read_source
from homie_eval.runs.plan import Episode
from support.demonstrations import CLEAN_SOFA
from support.finished_run import finished_run
from support.run_plans import plan

STEPS = "(1) [Pick, apple](fail)\n(2) [Pick, apple](success)\n(3) [Put, apple, sofa](success)\n(4) [End]"


def steps_for(episode: Episode) -> str | None:
    return None if episode.trial == 2 else STEPS


def run_folder(folder: Path) -> Path:
    folder.mkdir()
    finished_run(folder / "run.sqlite", plan(), steps_for).close()
    return folder


def data_set(folder: Path) -> Path:
    path = folder / "data" / "train" / "21"
    path.mkdir(parents=True)
    (path / "info.txt").write_text(CLEAN_SOFA)
    (path / "keypath.json").write_text('[["[Pick, cracker_box]", "[Put, cracker_box, kitchen_counter]", "[End]"]]')
    for number in range(1, 7):
        for shade, view in enumerate(VIEWS):
            picture = np.full((8, 8, 3), 10 * number + shade, np.uint8)
            Image.fromarray(picture).save(path / f"subtask{number}_{view}.png")
    return folder


def test_a_run_exported_and_read_again_scores_the_same(tmp_path: Path) -> None:
    before = read_source(run_folder(tmp_path / "run"))
    assert before.problems == ("6 episodes did not come to an end and are left out",)
    done = export_emmoe100(before.episodes, tmp_path / "out")
    assert (done.episodes, done.records) == (6, 24)
    after = read_source(tmp_path / "out")
    for one, other in zip(before.episodes, after.episodes, strict=True):
        assert one.score.values.keys() == other.score.values.keys()
        for name, value in one.score.values.items():
            assert value.number == other.score.values[name].number or not value.defined
        assert one.score.errors == other.score.errors
    assert {each.score.success for each in after.episodes} == {True, False}


def test_pictures_survive_both_ways(tmp_path: Path) -> None:
    source = read_source(data_set(tmp_path / "set"))
    export_emmoe100(source.episodes, tmp_path / "again")
    (before,), (after,) = source.episodes, read_source(tmp_path / "again").episodes
    assert len(after.pictures) == 6
    for one, other in zip(before.pictures, after.pictures, strict=True):
        assert list(one) == list(other) == list(VIEWS)
        for view in VIEWS:
            np.testing.assert_array_equal(one[view], other[view])


def test_sft_records_name_pictures_that_are_there(tmp_path: Path) -> None:
    done = export_sft(read_source(data_set(tmp_path / "set")).episodes, tmp_path / "sft")
    records = json.loads(done.path.read_text())
    assert done.records == len(records) == 5
    for record in records:
        assert len(record["image"]) == 4
        for name in record["image"]:
            assert (done.path.parent / name).is_file()
    third = Image.open(done.path.parent / records[1]["image"][2])
    assert np.asarray(third)[0, 0, 0] == 10 * 3 + 2  # subtask 3, the view back


def test_counts_with_rewritten_texts_follow_the_paper(tmp_path: Path) -> None:
    # (successful - End) x 3 + re-plans, four times over: paper, 4.1 and appendix F.
    episodes = read_source(data_set(tmp_path / "set")).episodes
    calls: list[str] = []

    def rewrite(text: str) -> str:
        calls.append(text)
        return f"{text}, said differently {len(calls)}"

    sft = export_sft(episodes, tmp_path / "sft", rewrite, variants=3)
    dpo = export_dpo(episodes, tmp_path / "dpo", rewrite, variants=3)
    assert sft.records == 5 * 4
    assert dpo.records == ((5 - 1) * 3 + 1) * 4
    records = json.loads(sft.path.read_text())
    assert len({record["conversations"][0]["value"].partition("\n")[0] for record in records}) == 4
    answers = {record["conversations"][1]["value"].partition("\n")[2] for record in records}
    assert len(answers) == 5  # other words, the same subtasks


def test_what_cannot_be_exported_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is no run, no bag and no data set"):
        read_source(tmp_path)
    (tmp_path / "run").mkdir()
    finished_run(tmp_path / "run" / "run.sqlite", plan(), lambda _: None).close()
    with pytest.raises(SourceError, match="holds no finished episode"):
        read_source(tmp_path / "run")


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    episodes = read_source(folder).episodes
    (folder / "data" / "train" / "21" / "subtask4_back.png").write_bytes(b"no picture")
    with pytest.raises(SourceError, match=r"subtask4_back\.png"):
        export_sft(episodes, tmp_path / "sft")
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    (tmp_path / "sft").mkdir()
    with pytest.raises(ExportError, match="sft exists already"):
        export_dpo(episodes, tmp_path / "sft")
