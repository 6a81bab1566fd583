"""What a user may set for a run, checked before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from homie_core.episode import STEP_LIMIT
from homie_eval.emmoe.tasks import Task, TaskError, load_task
from homie_planner.registry import PlannerError, check_planner
from homie_sim.house_files import house_names

Setting = Literal["background_information", "no_background_information"]
"""The two settings of the paper, section 3.3."""


class SettingsError(ValueError):
    """A setting is wrong. One line: the field, the value, what is allowed."""


class Settings(BaseModel):
    """One run, as ``homie demo`` and the launch files take it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str = Field("100", description="Task: its number or name in the suite, or a YAML file")
    house: str = Field("", description="House to use instead of the task's own: a name or a YAML file")
    planner: str = Field("expert", description="Planner backend, e.g. expert or replay:plan.json")
    setting: Setting = Field("background_information", description="What the monitor and the skills may know")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the world and of the skills' search")
    trial: int = Field(1, ge=1, description="Number of this trial of the task")
    max_steps: int = Field(STEP_LIMIT, ge=1, le=1000, description="Steps after which the episode stops")
    video_fps: float = Field(5.0, ge=0.0, le=50.0, description="Video pictures per simulated second; 0 for none")


class Run(BaseModel):
    """Checked settings and what they name."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    settings: Settings
    task: Task

    @property
    def house(self) -> str:
        return self.settings.house or self.task.scene


def check(**values: object) -> Run:
    """Check every setting and load what it names.

    Raises:
        SettingsError: a value is not allowed, or names a task, house or planner that does not exist.
    """
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_one_line(error)) from error
    try:
        task = load_task(settings.task)
        check_planner(settings.planner)
    except (TaskError, PlannerError) as error:
        raise SettingsError(str(error)) from error
    run = Run(settings=settings, task=task)
    known = house_names()
    if run.house not in known and not Path(run.house).is_file():
        raise SettingsError(f"house {run.house!r} is unknown; allowed: {', '.join(known)}, or a YAML file")
    return run


def _one_line(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field} {first['input']!r}: {first['msg'].lower()}"
