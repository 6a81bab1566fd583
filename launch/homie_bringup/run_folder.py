"""The folder that a run leaves behind.

runs/<time>_<task id>_seed<seed>/
    run.json                 settings, outcome, score, versions of this layout ("format_version": 1)
    bag/                     rosbag2, MCAP: everything that was said on the topics
    report.html              for people
    head.mp4  third_person.mp4
    log/<node>.log           one process per node only: what each node wrote
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

FORMAT_VERSION = 1


class RunFolderError(OSError):
    """The folder cannot be made."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths inside one run's folder."""

    path: Path

    @property
    def bag(self) -> Path:
        return self.path / "bag"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def log(self) -> Path:
        return self.path / "log"

    def write_summary(self, summary: dict[str, object]) -> None:
        """Write run.json."""
        text = json.dumps({"format_version": FORMAT_VERSION, **summary}, indent=2)
        (self.path / "run.json").write_text(text + "\n", encoding="utf-8")


def new_run_folder(parent: Path, task_id: str, seed: int, now: datetime) -> RunFolder:
    """Make a new folder below ``parent``; a name that is taken gets a number.

    Raises:
        RunFolderError: ``parent`` cannot be written.
    """
    name = f"{now:%Y%m%d-%H%M%S}_{task_id}_seed{seed}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for suffix in ("", *(f"_{number}" for number in range(2, 1000))):
            path = parent / (name + suffix)
            try:
                path.mkdir()
            except FileExistsError:
                continue
            return RunFolder(path.resolve())
    except OSError as error:
        raise RunFolderError(f"cannot make a run folder in {str(parent)!r}: {error.strerror}") from error
    raise RunFolderError(f"{str(parent)!r} already holds a thousand runs named {name}")
