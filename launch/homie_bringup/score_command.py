"""``homie score``: bags, the folders of single runs, and those of evaluations."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from homie_bringup.evaluation_command import show_results
from homie_bringup.run_folder import RunFolder
from homie_eval.bag import BagError
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import StoreError
from homie_eval.score import format_bag, score_bag
from homie_eval.trajectory_json import TrajectoryJsonError


class ScoreError(ValueError):
    """There is nothing to score. One line."""


def run_score(path: Path, console: Console, *, as_published: bool) -> None:
    """Print the score of what is at ``path``.

    Raises:
        ScoreError: it is neither a bag nor the folder of a run, or not readable.
    """
    folder = EvaluationFolder(path)
    try:
        if folder.is_run:
            show_results(folder, console, as_published=as_published)
            return
        bag = RunFolder(path).bag
        text = format_bag(score_bag(bag if bag.is_dir() else path))
    except (BagError, StoreError, TrajectoryJsonError) as error:
        raise ScoreError(str(error)) from error
    console.print(text, markup=False, highlight=False, soft_wrap=True)
