"""The folder of an evaluation, and its lock."""

import os
from pathlib import Path

import pytest

from homie_eval.runs.evaluation_folder import EvaluationFolder, RunIsLocked
from support.run_plans import plan


def test_paths_are_made_of_plain_names(tmp_path: Path) -> None:
    folder = EvaluationFolder(tmp_path / "night")
    episode = plan().episodes[0]
    assert folder.bag(episode) == tmp_path / "night/episodes/a/33_apple_to_sofa/trial1/bag"
    assert folder.episode_id(episode) == "night_a_33_apple_to_sofa_trial1"
    assert not folder.is_run


def test_one_process_holds_the_lock_and_lets_go_of_it(tmp_path: Path) -> None:
    folder = EvaluationFolder(tmp_path)
    with folder.locked():
        with pytest.raises(RunIsLocked, match=f"is being worked on by process {os.getpid()}"), folder.locked():
            pass
        # Whoever was refused took nothing away.
        with pytest.raises(RunIsLocked), folder.locked():
            pass
    with folder.locked():
        pass
