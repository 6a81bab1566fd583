"""``homie report``: the pages of a bag, or of a whole run and every episode of it."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

from homie_bringup.evaluation_command import write_run_pages
from homie_bringup.pages import write_pages
from homie_bringup.run_folder import RunFolder
from homie_bringup.settings import SettingsError
from homie_eval.bag import BagError
from homie_eval.emmoe.results import load_results
from homie_eval.episode_pages import Pages
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.store import RunStore, StoreError
from homie_eval.trajectory_json import TrajectoryJsonError
from homie_eval.video import VideoError


def run_report(path: Path, out: Path | None, pages: Pages, console: Console) -> None:
    """Make the report of what is at ``path``: a bag, the folder of a single run, or that of an evaluation.

    Raises:
        SettingsError: it is none of them, it cannot be read, or ``out`` is no folder or given for an evaluation.
    """
    folder = EvaluationFolder(path)
    try:
        if not folder.is_run:
            if out is not None and not out.is_dir():
                raise SettingsError(f"--out {out}: there is no such folder")
            bag = RunFolder(path).bag if RunFolder(path).bag.is_dir() else path
            for page in write_pages(bag, out or bag.resolve().parent):
                console.print(str(page), markup=False, highlight=False, soft_wrap=True)
            return
        if out is not None:
            raise SettingsError("--out is for a bag: the report of a run stays in its folder, beside what it links to")
        with RunStore(folder.store) as store:
            results = load_results(store)
    except (BagError, VideoError, StoreError, TrajectoryJsonError) as error:
        raise SettingsError(str(error)) from error
    write_run_pages(results, folder, pages, os.cpu_count() or 1, console, again=True)
