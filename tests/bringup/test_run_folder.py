"""The folder that a run leaves behind."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from homie_bringup.run_folder import FORMAT_VERSION, RunFolderError, new_run_folder

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_names_tell_time_task_and_seed(tmp_path: Path) -> None:
    folder = new_run_folder(tmp_path / "a" / "b", "100_x", 7, NOW)
    assert folder.path == tmp_path / "a" / "b" / "20260102-030405_100_x_seed7"


def test_two_runs_in_one_second_do_not_collide(tmp_path: Path) -> None:
    folders = {new_run_folder(tmp_path, "t", 0, NOW).path.name for _ in range(3)}
    assert folders == {"20260102-030405_t_seed0", "20260102-030405_t_seed0_2", "20260102-030405_t_seed0_3"}


def test_the_summary_carries_its_version(tmp_path: Path) -> None:
    folder = new_run_folder(tmp_path, "t", 0, NOW)
    folder.write_summary({"outcome": "ended"})
    assert json.loads((folder.path / "run.json").read_text()) == {"format_version": FORMAT_VERSION, "outcome": "ended"}


def test_a_parent_that_is_a_file_is_named(tmp_path: Path) -> None:
    parent = tmp_path / "file"
    parent.write_text("")
    with pytest.raises(RunFolderError, match="file"):
        new_run_folder(parent, "t", 0, NOW)
