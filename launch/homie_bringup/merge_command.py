"""``homie merge``: the shards of a run, done on several machines, become one run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from homie_bringup.evaluation import EvaluationError, new_evaluation_folder
from homie_bringup.evaluation_command import show_results
from homie_bringup.settings import SettingsError
from homie_eval.runs.evaluation_folder import EvaluationFolder
from homie_eval.runs.merge import MergeError, merge
from homie_eval.runs.store import RunStore, StoreError


def run_merge(target: Path, sources: Sequence[Path], console: Console, *, unfinished: bool) -> None:
    """Merge the run folders ``sources`` into the new folder ``target``; their bags are linked, or copied.

    Raises:
        SettingsError: they are not the shards of one run, or ``target`` exists.
    """
    folders = [EvaluationFolder(path) for path in sources]
    try:
        with ExitStack() as stack:
            stores = [stack.enter_context(RunStore(folder.store)) for folder in folders]
            made = new_evaluation_folder(target.parent, target.name)
            try:
                merge(stores, made.store, unfinished=unfinished).close()
            except MergeError:
                made.path.rmdir()
                raise
    except (StoreError, MergeError, EvaluationError) as error:
        raise SettingsError(str(error)) from error
    for folder in folders:
        if folder.episodes.is_dir():
            shutil.copytree(folder.episodes, made.episodes, copy_function=_link, dirs_exist_ok=True)
    show_results(made, console)


def _link(source: str, target: str) -> None:
    """Bags are never changed, so that two runs may share one; on another disk it is copied."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
