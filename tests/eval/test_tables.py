"""Tables and how they are written."""

import csv
import io

import pytest

from homie_eval.statistics import Interval
from homie_eval.tables import Cell, Table, mark_best, to_csv, to_latex, to_text

TABLE = Table(
    "overview",
    "Performance",
    ("SR", "TP"),
    mark_best(
        [
            ("expert", (Cell(0.3030, Interval(0.2537, 0.3575)), Cell(0.5139))),
            ("bad_one", (Cell(0.01, Interval(0.0, 0.029)), Cell(None))),
        ]
    ),
    "Percent.",
)


def test_text_lines_up() -> None:
    assert to_text(TABLE).splitlines() == [
        "Performance",
        "                         SR     TP",
        "expert   30.30 [25.4, 35.8]  51.39",
        "bad_one     1.00 [0.0, 2.9]      -",
        "Percent.",
    ]


def test_csv_keeps_every_digit() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert rows[0] == {
        "table": "overview", "row": "expert", "column": "SR", "value": "0.303", "low": "0.2537", "high": "0.3575"
    }  # fmt: skip
    assert rows[3] == {"table": "overview", "row": "bad_one", "column": "TP", "value": "", "low": "", "high": ""}
    third = Table("t", "t", ("x",), (("r", (Cell(1 / 3),)),))
    (row,) = csv.DictReader(io.StringIO(to_csv(third)))
    assert float(row["value"]) == 1 / 3


def test_latex_marks_the_best_and_escapes() -> None:
    text = to_latex(TABLE)
    assert r"expert & \textbf{30.30} {\scriptsize [25.4, 35.8]} & \textbf{51.39} \\" in text
    assert r"bad\_one & 1.00 {\scriptsize [0.0, 2.9]} & - \\" in text
    assert text.count(r"\begin{tabular}{lrr}") == 1
    odd = Table("t", "50 % & more_", ("#",), (("a~b\\", (Cell(None),)),))
    assert r"50 \% \& more\_" in to_latex(odd)
    assert r"a\textasciitilde{}b\textbackslash{}" in to_latex(odd)


def test_the_only_row_is_not_the_best() -> None:
    ((_, cells),) = mark_best([("alone", (Cell(0.5),))])
    assert not cells[0].best


def test_equals_are_both_best() -> None:
    rows = mark_best([("a", (Cell(0.5),)), ("b", (Cell(0.5),)), ("c", (Cell(0.1),))])
    assert [cells[0].best for _, cells in rows] == [True, True, False]


def test_a_row_has_a_cell_for_every_column() -> None:
    with pytest.raises(ValueError, match="row 'r' has 1 cells, wanted 2"):
        Table("t", "t", ("a", "b"), (("r", (Cell(1.0),)),))
