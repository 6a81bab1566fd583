"""The original system's run folders: ``exp/<name>/<task id>/<trial>/conversation.json``.

Each text of a conversation is one round: what was asked, in fixed lines, and the raw output. The result of a round
stands in the next one's history, so that of the last round was never stored; an End is taken as done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import SUCCESS_FEEDBACK, code_of_feedback
from homie_core.subtask import Subtask
from homie_eval.emmoe.data.info_file import NOTHING, parse_decision
from homie_eval.trajectory import Trajectory

FILE_NAME = "conversation.json"

_HEAD = ("USER:", "Task:", "Inventory:", "Historical Execution:", "Feedback:")
_SUBTASK = re.compile(r"Subtask: *(?:\[(?P<brackets>.*?)\]|(?P<plain>.*?)) *(?:\n|Model:|$)", re.DOTALL)
_ANALYSIS = re.compile(r"Analysis: *(?P<text>.*?) *Subtask:", re.DOTALL)
_MODEL = re.compile(r"Model: *(?P<model>[^\n<]*)")
_RESULT = re.compile(r"\((?P<number>\d+)\)(?P<step>.*?)\((?P<result>success|fail)\)")

UNKNOWN_RESULT = "the result of the last subtask was never stored"


class OriginalRunError(ValueError):
    """A file is no conversation of the original system. One line."""


@dataclass(frozen=True, slots=True)
class OriginalRun:
    """One trial. ``task_id`` is the number in EMMOE-100."""

    task_id: str
    trial: int
    trajectory: Trajectory


def read_original_runs(folder: Path) -> tuple[tuple[OriginalRun, ...], tuple[str, ...]]:
    """Every trial below ``folder`` (``exp/<name>``) that can be read, and one line for each that cannot."""
    runs: list[OriginalRun] = []
    problems: list[str] = []
    for path in _conversations(folder):
        try:
            runs.append(read_original_run(path, planner=folder.name))
        except OriginalRunError as error:
            problems.append(str(error))
    return tuple(runs), tuple(problems)


def is_original_layout(folder: Path) -> bool:
    """Whether there is at least one conversation where the original puts it."""
    return next(_conversations(folder), None) is not None


def read_original_run(path: Path, planner: str) -> OriginalRun:
    """One ``conversation.json``; task and trial are the names of its folders.

    Raises:
        OriginalRunError: it cannot be read, or holds no round.
    """
    rounds = _rounds(path)
    task_id, trial = path.parent.parent.name, int(path.parent.name)
    steps = _steps(rounds)
    ended = steps[-1].subtask.is_end
    info = EpisodeInfo(
        episode_id=f"{planner}_{task_id}_trial{trial}",
        benchmark="emmoe",
        task_id=task_id,
        instruction=rounds[0].task,
        scene="",
        seed=0,
        trial=trial,
        planner=planner,
        setting="",
    )
    result = EpisodeResult(Outcome.ENDED if ended else Outcome.STEP_LIMIT, len(steps))
    problems = () if ended else (UNKNOWN_RESULT,)
    return OriginalRun(task_id, trial, Trajectory(info, steps, result, None, problems))


@dataclass(frozen=True, slots=True)
class _Round:
    """One text of a conversation."""

    task: str
    inventory: str
    history: str
    feedback: str
    prompt: str
    output: str


def _conversations(folder: Path) -> Iterator[Path]:
    paths = folder.glob(f"*/*/{FILE_NAME}")
    found = [path for path in paths if path.parent.name.isdecimal() and path.parent.parent.name.isdecimal()]
    yield from sorted(found, key=lambda path: (int(path.parent.parent.name), int(path.parent.name)))


def _rounds(path: Path) -> list[_Round]:
    try:
        texts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise OriginalRunError(f"{path}: {error}") from error
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise OriginalRunError(f"{path}: must be a list of texts")
    if not texts:
        raise OriginalRunError(f"{path} holds no round: its first output could not be read")
    return [_round(text, f"{path}, round {number}") for number, text in enumerate(texts, start=1)]


def _round(text: str, place: str) -> _Round:
    lines = text.split("\n")
    for number, start in enumerate(_HEAD):
        if number >= len(lines) or not lines[number].startswith(start):
            raise OriginalRunError(f"{place}: line {number + 1} does not begin with {start!r}")
    values = [line.partition(":")[2].strip() for line in lines[: len(_HEAD)]]
    prompt, _, output = text.partition("ASSISTANT:")
    return _Round(values[1], values[2], values[3], values[4], prompt, output.strip())


def _steps(rounds: Sequence[_Round]) -> tuple[Step, ...]:
    return tuple(_step(rounds, index) for index in range(len(rounds)))


def _step(rounds: Sequence[_Round], index: int) -> Step:
    now = rounds[index]
    following = rounds[index + 1] if index + 1 < len(rounds) else None
    subtask = _subtask(now.output)
    if following is None:
        success, feedback = subtask.is_end, SUCCESS_FEEDBACK if subtask.is_end else UNKNOWN_RESULT
    else:
        success, feedback = _succeeded(following, index + 1), following.feedback
    analysis = _ANALYSIS.search(now.output)
    return Step(
        index=index + 1,
        subtask=subtask,
        success=success,
        error_code=None if success else code_of_feedback(feedback),
        feedback=feedback,
        analysis=" ".join(analysis["text"].split()) if analysis else "",
        prompt=now.prompt,
        raw_output=now.output,
        inventory_before=_held(now),
        inventory_after=_held(following or now),
    )


def _succeeded(following: _Round, number: int) -> bool:
    """What the next round's history says of round ``number``; where it says nothing, its feedback does."""
    for match in _RESULT.finditer(following.history):
        if int(match["number"]) == number:
            return match["result"] == "success"
    return following.feedback == SUCCESS_FEEDBACK


def _subtask(output: str) -> Subtask:
    """The last block, as the original's greedy expression takes it."""
    matches = list(_SUBTASK.finditer(output))
    if not matches:
        return Subtask(" ".join(output.split())[:60] or NOTHING)
    match = matches[-1]
    model = _MODEL.search(output, match.start())
    inside = match["brackets"] if match["brackets"] is not None else match["plain"]
    return parse_decision(f"[{' '.join(inside.split())}]", model["model"] if model else "")


def _held(round_: _Round) -> tuple[str, ...]:
    return () if round_.inventory == NOTHING else (round_.inventory,)
