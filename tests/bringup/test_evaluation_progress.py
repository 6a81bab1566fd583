"""How far an evaluation is, in words."""

import io
from collections import Counter

from rich.console import Console

from homie_bringup.evaluation import Progress
from homie_bringup.evaluation_progress import ProgressDisplay, describe
from homie_eval.runs.store import State


def progress(done: int, failed: int = 0, running: int = 0, pending: int = 0, rate: float = 0.0) -> Progress:
    counts = {State.DONE: done, State.FAILED: failed, State.RUNNING: running, State.PENDING: pending}
    return Progress(Counter(counts), workers=2, rate=rate)


def test_the_remaining_time_is_what_is_left_at_the_rate_so_far() -> None:
    assert progress(done=10, failed=2, running=2, pending=286, rate=2.0).seconds_left == 144.0
    assert progress(done=0, pending=300).seconds_left is None


def test_in_words() -> None:
    assert describe(progress(done=10, running=2, pending=288)) == "2 running"
    assert describe(progress(done=60, failed=1, running=2, pending=37, rate=0.5)) == "2 running, 1 failed, 0:01:18 left"


def test_a_pipe_gets_lines_and_always_the_last_one() -> None:
    output = io.StringIO()
    with ProgressDisplay(Console(file=output, width=200)) as display:
        display.show(progress(done=0, pending=3))
        display.show(progress(done=1, pending=2))
        display.show(progress(done=3))
    assert output.getvalue().splitlines() == ["0/3 episodes, 0 running", "3/3 episodes, 0 running"]
