"""Videos of subtasks, for imitation learning: each subtask of a physical run as the cameras saw it.

<number>_<episode>/subtasks.json                          every step: what it was, how it went, when, its frames
<number>_<episode>/<index>_<action>_<target>/video_head.mp4, video_third.mp4

A video begins when the subtask does and ends when it was judged, timed by simulation time. Steps that took none
(refused beforehand, skills without motion, End) have no video, nor have those in which the camera was interrupted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from homie_core.from_messages import NANOSECONDS
from homie_eval.bag import Bag, BagError
from homie_eval.emmoe.data.export import Exported, ExportError, new_folder, write_json
from homie_eval.emmoe.data.sources import SourceEpisode
from homie_eval.episode_stream import episode_stamps
from homie_eval.subtask_span import SubtaskSpan, executed_spans, span_pictures
from homie_eval.video import DEFAULT_RATE, HEAD_CAMERA, THIRD_PERSON, VideoError, write_pictures

CAMERAS = {"video_head.mp4": HEAD_CAMERA, "video_third.mp4": THIRD_PERSON}

_UNSAFE = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH = 60


def export_subtask_videos(episodes: Sequence[SourceEpisode], folder: Path, rate: int = DEFAULT_RATE) -> Exported:
    """A folder for each episode with a video for each executed subtask and camera; ``records`` counts videos.

    Raises:
        ExportError: ``folder`` exists, a file cannot be written, or no episode has anything to show.
    """
    left_out: list[str] = []
    videos = 0
    with new_folder(folder) as made:
        for number, each in enumerate(episodes, start=1):
            try:
                frames = _write_episode(each, made / f"{number}_{safe_name(each.name)}", rate)
            except BagError as error:
                frames = str(error)
            except (VideoError, OSError) as error:
                raise ExportError(f"{each.name}: {error}") from error
            if isinstance(frames, str):
                left_out.append(f"{each.name} is left out: {frames}")
            else:
                videos += frames
        if len(left_out) == len(episodes):
            raise ExportError(nothing_left(left_out))
    return Exported(folder, len(episodes) - len(left_out), videos, tuple(left_out))


def safe_name(text: str) -> str:
    """``text``, which may be a model's, as a part of a path: of the characters a-z, 0-9 and _ alone."""
    return _UNSAFE.sub("_", text.lower()).strip("_")[:_NAME_LENGTH].rstrip("_")


def nothing_left(left_out: Sequence[str]) -> str:
    """Why an export would be empty, in one line."""
    return f"there is nothing to export: {left_out[0]}" + (
        f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
    )


def reason_without_motion(each: SourceEpisode) -> str:
    """Why the episode has no subtask that can be shown, or empty if it has one."""
    if each.bag is None:
        return "it has no bag"
    if not executed_spans(each.trajectory.steps):
        return "none of its subtasks took simulation time"
    return ""


def _write_episode(each: SourceEpisode, folder: Path, rate: int) -> int | str:
    """How many videos were written, or why there is none."""
    reason = reason_without_motion(each)
    if reason or each.bag is None:
        return reason
    episode_id = each.trajectory.info.episode_id
    spans = executed_spans(each.trajectory.steps)
    folders = {span.step.index: _subtask_folder(span) for span in spans}
    frames: dict[int, dict[str, int]] = {index: {} for index in folders}
    with Bag(each.bag) as bag:
        for name, topic in CAMERAS.items():
            stamps = episode_stamps(bag, topic, episode_id)
            shown_whole = [span for span in spans if span.covered_by(stamps)]
            pictures = span_pictures(bag, topic, episode_id, shown_whole, rate)
            for span, shown in groupby(pictures, key=itemgetter(0)):
                path = folder / folders[span.step.index] / name
                path.parent.mkdir(parents=True, exist_ok=True)
                video = write_pictures(map(itemgetter(1), shown), path, rate)
                if video is not None:
                    frames[span.step.index][f"{folders[span.step.index]}/{name}"] = video.frames
    count = sum(map(len, frames.values()))
    if not count:
        return "its bag holds no whole subtask in readable pictures"
    write_json(_index(each, spans, frames, rate), folder / "subtasks.json")
    return count


def _subtask_folder(span: SubtaskSpan) -> str:
    subtask = span.step.subtask
    parts = (str(span.step.index), safe_name(subtask.action), safe_name(subtask.target))
    return "_".join(part for part in parts if part)


def _index(
    each: SourceEpisode, spans: Sequence[SubtaskSpan], frames: Mapping[int, Mapping[str, int]], rate: int
) -> dict[str, object]:
    """What ``subtasks.json`` says. Times are seconds of simulation time."""
    info = each.trajectory.info
    span_of = {span.step.index: span for span in spans}
    subtasks = []
    for step in each.trajectory.steps:
        span = span_of.get(step.index)
        subtasks.append(
            {
                "index": step.index,
                "subtask": step.subtask.brackets(),
                "model": step.subtask.model,
                "success": step.success,
                "error_code": step.error_code.value if step.error_code else None,
                "feedback": step.feedback,
                "attempts": step.attempts,
                "start": None if span is None else span.start / NANOSECONDS,
                "end": None if span is None else span.end / NANOSECONDS,
                "frames": dict(frames.get(step.index, {})),
            }
        )
    return {
        "episode_id": info.episode_id,
        "task_id": info.task_id,
        "instruction": info.instruction,
        "scene": info.scene,
        "seed": info.seed,
        "trial": info.trial,
        "planner": info.planner,
        "success": each.score.success,
        "frames_per_second": rate,
        "subtasks": subtasks,
    }
