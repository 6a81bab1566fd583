"""Tables of numbers with their intervals, and how they are written: for a terminal, as CSV, as LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from homie_eval.statistics import Interval

PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One number. ``number`` is None where it is not defined; ``best`` marks the highest of its column.

    ``scale`` is what it is shown multiplied by: 100 for a share that is shown in percent.
    """

    number: float | None
    interval: Interval | None = None
    best: bool = False
    scale: float = PERCENT
    digits: int = 2

    @property
    def text(self) -> str:
        """The number as the paper prints it."""
        return "-" if self.number is None else f"{self.scale * self.number:.{self.digits}f}"

    @property
    def interval_text(self) -> str:
        """The interval with one digit less, e.g. ``[25.5, 36.6]``; empty if there is none."""
        if self.number is None or self.interval is None:
            return ""
        digits = max(0, self.digits - 1)
        low, high = self.scale * self.interval.low, self.scale * self.interval.high
        return f"[{low:.{digits}f}, {high:.{digits}f}]"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns. ``name`` is a plain word for files, ``note`` says what the numbers are."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for label, cells in self.rows:
            if len(cells) != len(self.columns):
                raise ValueError(f"table {self.name}: row {label!r} has {len(cells)} cells, wanted {len(self.columns)}")


def mark_best(rows: Sequence[tuple[str, Sequence[Cell]]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    """The rows with the highest number of each column marked, where there are several rows."""
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    highest = [max((cell.number for cell in column if cell.number is not None), default=None) for column in columns]
    several = len(rows) > 1

    def marked(cell: Cell, best: float | None) -> Cell:
        is_best = several and cell.number is not None and cell.number == best
        return Cell(cell.number, cell.interval, is_best, cell.scale, cell.digits)

    return tuple((label, tuple(map(marked, cells, highest))) for label, cells in rows)


def to_text(table: Table) -> str:
    """For a terminal: each number with its interval behind it."""
    lines = [["", *table.columns], *([label, *map(_with_interval, cells)] for label, cells in table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = [
        "  ".join([label.ljust(widths[0]), *(text.rjust(width) for text, width in zip(texts, widths[1:], strict=True))])
        for label, *texts in lines
    ]
    return "\n".join(filter(None, [table.title, *written, table.note]))


def _with_interval(cell: Cell) -> str:
    return " ".join(filter(None, (cell.text, cell.interval_text)))


def to_csv(table: Table) -> str:
    """One line a number, so that any program can read it without knowing the table: full digits, not in percent."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(["table", "row", "column", "value", "low", "high"])
    for label, cells in table.rows:
        for column, cell in zip(table.columns, cells, strict=True):
            bounds = ("", "") if cell.interval is None else (repr(cell.interval.low), repr(cell.interval.high))
            value = "" if cell.number is None else repr(float(cell.number))
            writer.writerow([table.name, label, column, value, *bounds])
    return output.getvalue()


def to_latex(table: Table) -> str:
    """For a paper that uses booktabs: the highest of a column in bold, intervals small behind the numbers."""
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_escaped(table.title)}. {_escaped(table.note)}}}",
        rf"  \label{{tab:{table.name}}}",
        rf"  \begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"    \toprule",
        "    " + " & ".join(["", *map(_escaped, table.columns)]) + r" \\",
        r"    \midrule",
        *("    " + " & ".join([_escaped(label), *map(_latex, cells)]) + r" \\" for label, cells in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex(cell: Cell) -> str:
    number = rf"\textbf{{{cell.text}}}" if cell.best else cell.text
    return rf"{number} {{\scriptsize {cell.interval_text}}}" if cell.interval_text else number


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
