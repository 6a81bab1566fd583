"""What a user sees while an episode runs."""

import io
from dataclasses import replace

from rich.console import Console

from homie_bringup.table import StepTable, plain_line
from homie_core.episode import Step
from homie_core.errors import ErrorCode
from homie_core.subtask import Subtask

SUCCESS = Step(
    1, Subtask("Go to", "green_can", model="M3"), True, attempts=1, sim_seconds=12.34, execution_wall_seconds=1.0
)
FAILURE = Step(
    2,
    Subtask("Put", "green_can", "[bold]fridge[/]"),
    False,
    ErrorCode.CONTAINER_CLOSED,
    "Unable to put, the fridge is closed, you should open it first",
    inventory_after=("green_can",),
)


def test_plain_lines_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    with StepTable(Console(file=out, force_terminal=False, width=80), "task") as table:
        table.add(SUCCESS)
        table.add(FAILURE)
    lines = out.getvalue().splitlines()
    assert lines == ["task", plain_line(SUCCESS), plain_line(FAILURE)]
    assert "(1) [Go to, green_can] (M3) success" in lines[1]
    assert "fail L3 | feedback: Unable to put, the fridge is closed" in lines[2]


def test_a_live_table_in_a_terminal_shows_model_text_as_it_is() -> None:
    out = io.StringIO()
    with StepTable(Console(file=out, force_terminal=True, width=160, color_system=None), "task") as table:
        table.add(SUCCESS)
        table.add(FAILURE)
    text = out.getvalue()
    assert "[bold]fridge[/]" in text
    assert "L3" in text
    assert "green_can" in text


def test_a_note_is_shown_short_and_text_as_it_is() -> None:
    noted = replace(FAILURE, note="[red]cut off[/] " + "word " * 60)
    out = io.StringIO()
    with StepTable(Console(file=out, force_terminal=True, width=160, color_system="standard"), "task") as table:
        table.add(SUCCESS)
        table.add(noted)
    text = out.getvalue()
    assert "\x1b[2m[red]cut off[/] word" in text
    assert "note: [red]cut off[/] word" in plain_line(noted) and len(plain_line(noted)) < 320
    assert "note" not in plain_line(FAILURE)


def test_a_notice_stands_above_the_live_table() -> None:
    out = io.StringIO()
    with StepTable(Console(file=out, force_terminal=True, width=100, color_system=None), "task") as table:
        table.say("plan at http://127.0.0.1:1/" + "x" * 120)
        table.add(SUCCESS)
    text = out.getvalue()
    assert "plan at http://127.0.0.1:1/" + "x" * 120 + "\n" in text.replace("\r", "")
    assert text.rindex("plan at") < text.rindex("green_can")
