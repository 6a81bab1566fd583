"""How far an evaluation is, for the terminal: a bar where there is one, a line now and then where there is none."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from homie_bringup import evaluation
from homie_eval.runs.store import State

LINE_SECONDS = 30.0


class ProgressDisplay:
    """Shows a run's progress until it is left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
        )
        self._task = self._bar.add_task("episodes", total=None, note="")
        self._said = 0.0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *details: object) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def show(self, progress: evaluation.Progress) -> None:
        """Show this."""
        note = describe(progress)
        if self._console.is_terminal:
            self._bar.update(self._task, total=progress.total, completed=progress.ended, note=note)
            return
        now = time.monotonic()
        if now - self._said >= LINE_SECONDS or progress.ended == progress.total:
            self._said = now
            self._console.print(f"{progress.ended}/{progress.total} episodes, {note}", highlight=False)


def describe(progress: evaluation.Progress) -> str:
    """What beside the number of episodes is worth saying, e.g. ``2 running, 1 failed, 0:03:10 left``."""
    parts = [f"{progress.counts[State.RUNNING]} running"]
    if progress.counts[State.FAILED]:
        parts.append(f"{progress.counts[State.FAILED]} failed")
    if progress.seconds_left is not None:
        parts.append(f"{timedelta(seconds=round(progress.seconds_left))} left")
    return ", ".join(parts)
