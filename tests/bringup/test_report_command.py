"""``homie report``: of a bag as before, of a single run's folder, and of a whole run with its episodes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from homie_bringup.report_command import run_report
from homie_bringup.settings import SettingsError
from homie_eval.episode_pages import Pages
from homie_eval.runs.store import RunStore
from support.bags import BagFixture
from support.finished_run import finished_run
from support.run_plans import plan
from support.trajectories import info, steps_of


def said(path: Path, out: Path | None = None, pages: Pages = Pages.ALL) -> list[str]:
    output = io.StringIO()
    run_report(path, out, pages, Console(file=output, width=40))
    return output.getvalue().splitlines()


def bag(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with BagFixture(path) as written:
        written.info(info())
        written.step("e1", steps_of("(1) [End]")[0])
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    finished_run(folder / "run.sqlite", plan(trials=1), lambda episode: "(1) [End]").close()
    return folder


def test_of_a_bag(tmp_path: Path) -> None:
    path = bag(tmp_path / "one" / "bag")
    assert said(path) == [str(tmp_path / "one" / "report.html")]
    other = tmp_path / "other"
    other.mkdir()
    assert said(path, other) == [str(other / "report.html")]


def test_of_the_folder_of_a_single_run(tmp_path: Path) -> None:
    path = bag(tmp_path / "one" / "bag")
    assert said(path.parent) == [str(tmp_path / "one" / "report.html")]


def test_of_a_run_and_its_episodes(run: Path) -> None:
    *notes, last = said(run)
    assert last == f"report   {run / 'report.html'}"
    assert len(notes) == 6 and all("made without the recording" in note for note in notes)
    assert len(list(run.glob("episodes/*/*/*/report.html"))) == 6
    assert said(run, pages=Pages.NONE) == [last]


def test_of_an_unfinished_run(tmp_path: Path) -> None:
    folder = tmp_path / "begun"
    folder.mkdir()
    RunStore.create(folder / "run.sqlite", plan()).close()
    assert said(folder) == [f"report   {folder / 'report.html'}"]
    assert "unfinished: 12 of 12 episodes are missing" in (folder / "report.html").read_text(encoding="utf-8")


def test_what_cannot_be(run: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--out is for a bag"):
        said(run, tmp_path)
    with pytest.raises(SettingsError, match="nowhere: there is no such folder"):
        said(bag(tmp_path / "bag"), tmp_path / "nowhere")
    with pytest.raises(SettingsError, match="nothing"):
        said(tmp_path / "nothing")
    (run / "run.sqlite").write_bytes(b"no database, but something else, and quite long enough for a header" * 20)
    with pytest.raises(SettingsError, match="is not the file of a run"):
        said(run)
