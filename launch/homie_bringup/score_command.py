"""``homie score``: bags, the folders of single runs, and those of evaluations."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from homie_bringup.evaluation_command import show_results
from homie_bringup.run_folder import RunFolder
from homie_eval.bag import BagError
from homie_eval.emmoe.data.emmoe100 import Emmoe100Error
from homie_eval.emmoe.data.original_results import original_results
from homie_eval.emmoe.data.original_runs import is_original_layout
from homie_eval.emmoe.results_files import published_table
from homie_eval.emmoe.tables import attribute_table, error_table, overview, split_table
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import StoreError
from homie_eval.score import format_bag, score_bag
from homie_eval.tables import to_text
from homie_eval.trajectory_json import TrajectoryJsonError


class ScoreError(ValueError):
    """There is nothing to score. One line."""


def run_score(path: Path, console: Console, *, as_published: bool, emmoe100: Path | None) -> None:
    """Print the score of what is at ``path``. ``emmoe100`` is the data set that the original system's runs belong to.

    Raises:
        ScoreError: it is neither a bag nor the folder of a run, or not readable.
    """
    folder = EvaluationFolder(path)
    try:
        if folder.is_run:
            show_results(folder, console, as_published=as_published)
            return
        text = _original(path, emmoe100) if is_original_layout(path) else _bag(path)
    except (BagError, StoreError, TrajectoryJsonError, Emmoe100Error) as error:
        raise ScoreError(str(error)) from error
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _bag(path: Path) -> str:
    bag = RunFolder(path).bag
    return format_bag(score_bag(bag if bag.is_dir() else path))


def _original(path: Path, emmoe100: Path | None) -> str:
    if emmoe100 is None:
        raise ScoreError(f"{path} holds runs of the original system: give the data set with --emmoe-100 FOLDER")
    planner, notes = original_results(path, emmoe100)
    tables = [
        overview([planner]),
        published_table([planner]),
        split_table([planner]),
        attribute_table([planner]),
        error_table([planner], successful=True),
        error_table([planner], successful=False),
    ]
    return "\n\n".join([*map(to_text, tables), *(f"note: {note}" for note in notes)])
