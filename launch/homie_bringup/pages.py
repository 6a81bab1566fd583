"""What a person looks at after a run: the videos and the report, made from its bag."""

from __future__ import annotations

from pathlib import Path

from homie_eval.report import write_report
from homie_eval.video import write_videos


def write_pages(bag_path: Path, folder: Path) -> tuple[Path, ...]:
    """Write videos and report into ``folder``; the report comes first in what is returned.

    Raises:
        BagError: there is no bag at ``bag_path``, or it holds no episode that can be scored.
        VideoError: a video cannot be written.
    """
    videos = write_videos(bag_path, folder)
    return (write_report(bag_path, folder), *(video.path for video in videos))
