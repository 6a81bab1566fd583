"""The live step table: a table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import textwrap
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from homie_core.episode import Step

NOTE_CHARACTERS = 100
"""What of a step's note is shown; the report has all of it."""


class StepTable:
    """Shows each step as it ends. A context manager, because a live table owns the terminal while it runs."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._steps: list[Step] = []
        self._live = Live(self._table(), console=console, auto_refresh=False) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is None:
            self._console.print(self._title, markup=False, highlight=False, soft_wrap=True)
        else:
            self._live.start()
        return self

    def __exit__(self, *details: object) -> None:
        if self._live is not None:
            self._live.stop()

    def add(self, step: Step) -> None:
        """Show one more step."""
        self._steps.append(step)
        if self._live is None:
            self._console.print(plain_line(step), markup=False, highlight=False, soft_wrap=True)
        else:
            self._live.update(self._table(), refresh=True)

    def say(self, text: str) -> None:
        """Show a line that belongs to no step; a live table stays below it."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _table(self) -> Table:
        table = Table(title=escape(self._title), title_justify="left", expand=False)
        table.add_column("step", justify="right")
        for heading in ("subtask", "result", "feedback", "inventory"):
            table.add_column(heading, overflow="fold")
        table.add_column("tries", justify="right")
        table.add_column("sim s", justify="right")
        table.add_column("wall s", justify="right")
        for step in self._steps:
            table.add_row(
                str(step.index),
                escape(step.subtask.brackets()),
                "[green]success[/]" if step.success else f"[red]{step.error_code or 'fail'}[/]",
                _feedback(step),
                escape(" ".join(step.inventory_after) or "None"),
                str(step.attempts),
                f"{step.sim_seconds:.1f}",
                f"{step.planner_wall_seconds + step.execution_wall_seconds:.1f}",
            )
        return table


def _feedback(step: Step) -> Text:
    """The feedback, and the note below it."""
    text = Text(step.feedback)
    if step.note:
        text.append(f"\n{_short(step.note)}", style="dim")
    return text


def _short(note: str) -> str:
    return textwrap.shorten(note, NOTE_CHARACTERS, placeholder="...")


def plain_line(step: Step) -> str:
    """One step on one line, for logs and pipes."""
    result = "success" if step.success else f"fail {step.error_code or ''}".rstrip()
    return (
        f"({step.index}) {step.subtask} {result} | feedback: {step.feedback} | "
        f"inventory: {' '.join(step.inventory_after) or 'None'} | tries {step.attempts} | "
        f"sim {step.sim_seconds:.1f} s | wall {step.planner_wall_seconds + step.execution_wall_seconds:.1f} s"
        f"{f' | note: {_short(step.note)}' if step.note else ''}"
    )
