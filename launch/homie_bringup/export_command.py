"""``homie export``: runs, bags and data sets in the formats that training reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from rich.console import Console

from homie_bringup.settings import SettingsError
from homie_eval.emmoe.data.export import ExportError, Rewrite, export_dpo, export_emmoe100, export_sft
from homie_eval.emmoe.data.lerobot import export_lerobot
from homie_eval.emmoe.data.sources import Source, SourceEpisode, SourceError, read_source
from homie_eval.emmoe.data.subtask_videos import export_subtask_videos
from homie_eval.runs.store import StoreError
from homie_eval.trajectory_json import TrajectoryJsonError
from homie_planner.backend import Deadline, PlannerError, PlanRequest
from homie_planner.config import read_config
from homie_planner.registry import make_planner

REWRITING = (
    "Rewrite the following text with the same meaning but in a different description "
    "while do not change object's name: "
)
"""The paper's words (appendix F.1)."""

WITHOUT_TEXT = {"emmoe100": export_emmoe100, "videos": export_subtask_videos, "lerobot": export_lerobot}
"""The formats in which nothing is said in other words."""

_REWRITE_SECONDS = 120.0


def run_export(
    form: str,
    source: Path,
    target: Path,
    console: Console,
    *,
    successful: bool,
    rewriter: str,
    rewriter_options: Sequence[str],
    variants: int,
) -> None:
    """Export what is at ``source`` to the new folder ``target``.

    Raises:
        SettingsError: the source cannot be read, the target exists, or the rewriter cannot be used.
    """
    try:
        found = read_source(source)
        episodes = _chosen(found, successful)
        with _rewriter(rewriter, rewriter_options) as rewrite:
            if form in WITHOUT_TEXT:
                done = WITHOUT_TEXT[form](episodes, target)
            else:
                export = export_sft if form == "sft" else export_dpo
                done = export(episodes, target, rewrite, variants)
    except (SourceError, ExportError, StoreError, TrajectoryJsonError, PlannerError) as error:
        raise SettingsError(str(error)) from error
    for problem in (*found.problems, *done.left_out):
        console.print(f"note: {problem}", markup=False, highlight=False, soft_wrap=True)
    text = f"{done.episodes} episodes, {done.records} records: {done.path}"
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _chosen(found: Source, successful: bool) -> tuple[SourceEpisode, ...]:
    if not successful:
        return found.episodes
    chosen = tuple(each for each in found.episodes if each.score.success)
    if not chosen:
        raise SourceError("no episode of the source was successful")
    return chosen


@contextmanager
def _rewriter(planner: str, options: Sequence[str]) -> Iterator[Rewrite | None]:
    """Any planner backend that writes free text, asked for other words; None without a name."""
    if not planner:
        yield None
        return
    backend = make_planner(read_config(planner, ["instruction.observation=text", *options]))
    if not backend.capabilities.repairs:
        raise SettingsError(f"rewriter {planner!r} is no model that writes text")
    calls = count(1)

    def rewrite(text: str) -> str:
        request = PlanRequest(task="", system=REWRITING, prompt=text, seed=next(calls), free_text=True)
        reply = backend.plan(request, Deadline.after(_REWRITE_SECONDS))
        return " ".join(reply.text.split()) or text

    try:
        backend.reset()
        yield rewrite
    finally:
        backend.close()
