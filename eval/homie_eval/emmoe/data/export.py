"""Exports: a run, a bag or a data set, written in the formats that training reads.

=========  =============================================================================================
format     what is written
=========  =============================================================================================
emmoe100   EMMOE-100's folders (`homie_eval.emmoe.data.emmoe100`)
sft        ``sft.json``, one record a successful subtask, and the pictures that it names
dpo        ``dpo.json``: prompt, chosen, rejected
videos     each subtask as the cameras saw it (`homie_eval.emmoe.data.subtask_videos`)
lerobot    a data set of LeRobot, an episode each subtask (`homie_eval.emmoe.data.lerobot`)
=========  =============================================================================================

An export that is interrupted leaves nothing at its destination: it is written beside it and moved there when whole.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from homie_eval.emmoe.data.dpo import dpo_pairs
from homie_eval.emmoe.data.emmoe100 import WrittenSample, write_emmoe100
from homie_eval.emmoe.data.info_file import Demonstration
from homie_eval.emmoe.data.sft import Turn, sft_records, turns
from homie_eval.emmoe.data.sources import SourceEpisode, named_images

Rewrite = Callable[[str], str]
"""Gives a text with the same meaning in other words (paper, appendix F.1)."""


class ExportError(ValueError):
    """The destination cannot be written. One line."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and how much of it. ``left_out`` has a line for each episode that could not be, or in part."""

    path: Path
    episodes: int
    records: int
    left_out: tuple[str, ...] = ()


def export_emmoe100(episodes: Sequence[SourceEpisode], folder: Path) -> Exported:
    """EMMOE-100's folders, an episode each; ``records`` counts subtasks.

    Raises:
        ExportError: ``folder`` exists.
        SourceError: pictures cannot be read.
    """
    with new_folder(folder) as made:
        samples = [WrittenSample(each.trajectory, each.task, each.pictures) for each in episodes]
        write_emmoe100(samples, made)
    return Exported(folder, len(episodes), sum(len(each.trajectory.steps) for each in episodes))


def export_sft(
    episodes: Sequence[SourceEpisode], folder: Path, rewrite: Rewrite | None = None, variants: int = 0
) -> Exported:
    """SFT records with their pictures, and ``variants`` more of each, with task and analysis in other words.

    Raises:
        ExportError: ``folder`` exists.
        SourceError: pictures cannot be read.
    """
    with new_folder(folder) as made:
        records: list[dict[str, object]] = []
        for number, each in enumerate(episodes, start=1):
            stem = f"images/{number}"
            pictures = each.pictures
            names = list(named_images(pictures, stem))
            if pictures:
                (made / stem).mkdir(parents=True)
            for step_names, views in zip(names, pictures, strict=True):
                for name, picture in zip(step_names, views.values(), strict=True):
                    Image.fromarray(picture).save(made / name)
            records += sft_records(_turns(each, number, names))
            for variant in _variants(each, rewrite, variants):
                records += sft_records(_turns(variant, number, names))
        write_json(records, made / "sft.json")
    return Exported(folder / "sft.json", len(episodes), len(records))


def export_dpo(
    episodes: Sequence[SourceEpisode], folder: Path, rewrite: Rewrite | None = None, variants: int = 0
) -> Exported:
    """DPO pairs, of the episodes as they are and of ``variants`` in other words.

    Raises:
        ExportError: ``folder`` exists.
    """
    with new_folder(folder) as made:
        pairs = [
            pair.record()
            for number, each in enumerate(episodes, start=1)
            for version in (each, *_variants(each, rewrite, variants))
            for pair in dpo_pairs(_turns(version, number, ()))
        ]
        write_json(pairs, made / "dpo.json")
    return Exported(folder / "dpo.json", len(episodes), len(pairs))


def _turns(each: SourceEpisode, number: int, images: Sequence[Sequence[str]]) -> tuple[Turn, ...]:
    demonstration = Demonstration(each.trajectory.info.instruction, each.trajectory.steps)
    return turns(demonstration, str(number), images)


def _variants(each: SourceEpisode, rewrite: Rewrite | None, count: int) -> Iterator[SourceEpisode]:
    """The episode with its task and its analyses in other words, ``count`` times."""
    if rewrite is None:
        return
    for _ in range(count):
        info = replace(each.trajectory.info, instruction=rewrite(each.trajectory.info.instruction))
        steps = tuple(
            replace(step, analysis=rewrite(step.analysis) if step.analysis else "") for step in each.trajectory.steps
        )
        yield replace(each, trajectory=replace(each.trajectory, info=info, steps=steps))


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder beside ``folder`` that becomes it when the block is done, and vanishes when it fails.

    Raises:
        ExportError: ``folder`` exists, or cannot be made.
    """
    if folder.exists():
        raise ExportError(f"{folder} exists already")
    made = folder.with_name(f".{folder.name}.part")
    try:
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
    except OSError as error:
        raise ExportError(f"cannot make {made}: {error.strerror}") from error
    try:
        yield made
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def write_json(records: object, path: Path) -> None:
    """Write ``records`` for people and programs."""
    path.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
