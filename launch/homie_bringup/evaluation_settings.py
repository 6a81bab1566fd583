"""What ``homie eval`` takes, checked before anything starts, and the plan that is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from homie_bringup.settings import Run, Settings, SettingsError, Skills, Views, one_line, run_of
from homie_bringup.task_goal import BENCHMARK
from homie_core.episode import STEP_LIMIT, Setting
from homie_eval.emmoe.tasks import Split, Task, TaskError, load_task, shipped_tasks
from homie_eval.runs.plan import Episode, Planner, RunPlan, Shard
from homie_planner.backend import PlannerError
from homie_planner.config import read_config

SUITES = (BENCHMARK,)
SPLITS: tuple[str, ...] = get_args(Split)

_RANGE = re.compile(r"(?P<first>\d+)-(?P<last>\d+)")
_SHARD = re.compile(r"(?P<number>\d+)/(?P<count>\d+)")
_RUN_FIELDS = ("setting", "skills", "success_rates", "views", "max_steps", "video_fps", "servers")
"""Settings of a single run that hold for every episode of an evaluation."""


class EvaluationSettings(BaseModel):
    """One evaluation, as the command line gives it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(BENCHMARK, description="Benchmark")
    planners: tuple[str, ...] = Field(("expert",), min_length=1, description="Planners, each as [LABEL=]PLANNER")
    planner_options: tuple[str, ...] = Field((), description="Fields of every planner's configuration, NAME=VALUE")
    tasks: str = Field("all", description="Tasks: all, train, test, or numbers and ranges such as 1-10,84")
    trials: int = Field(3, ge=1, le=1000, description="Trials of each task, each with its own seed")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the whole run")
    shard: str = Field("1/1", description="Part of the run that this machine does, e.g. 2/5")
    setting: Setting = Field(Setting.BACKGROUND_INFORMATION, description="What the monitor and the skills may know")
    skills: Skills = Field("m3", description="Physical skills (m3), or instant ones by the simulator (oracle)")
    success_rates: str = Field("", description="Chance of each try of an instant skill, or table_4")
    views: Views = Field("needed", description="The four views for every planner, or only where needed")
    servers: tuple[str, ...] = Field((), description="Skill servers of one's own, MODEL=NAME")
    max_steps: int = Field(STEP_LIMIT, ge=1, le=1000, description="Steps after which an episode stops")
    video_fps: float = Field(0.0, ge=0.0, le=50.0, description="Video pictures per simulated second; 0 for none")

    @field_validator("suite")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in SUITES:
            raise ValueError(f"allowed: {', '.join(SUITES)}")
        return value


def make_plan(versions: dict[str, str], **values: object) -> RunPlan:
    """The plan of an evaluation; every setting, task and planner in it has been checked.

    Raises:
        SettingsError: a value is not allowed.
    """
    try:
        settings = EvaluationSettings.model_validate(values)
        plan = RunPlan(
            benchmark=settings.suite,
            planners=tuple(_planner(text, settings.planner_options) for text in settings.planners),
            tasks=_tasks(settings.tasks),
            trials=settings.trials,
            seed=settings.seed,
            settings=settings.model_dump(mode="json", include=set(_RUN_FIELDS)),
            shard=_shard(settings.shard),
            versions=versions,
        )
    except ValidationError as error:
        raise SettingsError(one_line(error)) from error
    for planner in plan.planners:
        for task in plan.tasks:
            run_for(plan, Episode(planner=planner.label, task=task.id, trial=1, seed=settings.seed))
    return plan


def run_for(plan: RunPlan, episode: Episode) -> Run:
    """The settings of one episode of a plan.

    Raises:
        SettingsError: what they name does not exist on this machine.
    """
    task = plan.task_of[episode.task]
    values = {
        **plan.settings,
        **plan.planner_of[episode.planner].settings,
        "task": task.id,
        "seed": episode.seed,
        "trial": episode.trial,
    }
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(one_line(error)) from error
    return run_of(settings, task)


def _planner(text: str, options: Sequence[str]) -> Planner:
    """``LABEL=PLANNER``; without a label, one is made from the planner's name or its file's.

    What a file says goes into the plan: a run that is gone on with does not change with the file.
    """
    label, equals, planner = text.partition("=")
    if not equals:
        planner = text
        label = Path(text).stem if text.endswith((".yaml", ".yml")) else text
        label = re.sub(r"[^A-Za-z0-9._+-]+", "_", label).strip("_")
    try:
        config = read_config(planner, options)
    except PlannerError as error:
        raise SettingsError(str(error)) from error
    fields = config.model_dump(mode="json", exclude={"planner"}, exclude_defaults=True)
    written: list[JsonValue] = [f"{name}={json.dumps(value)}" for name, value in fields.items()]
    try:
        return Planner(label=label, settings={"planner": config.planner, "planner_options": written})
    except ValidationError as error:
        raise SettingsError(
            f"planner {text!r}: the label {label!r} must be up to 64 letters, digits and . _ + -, the first no sign"
        ) from error


def _tasks(text: str) -> tuple[Task, ...]:
    ids = list(shipped_tasks())
    numbers = {int(id.split("_", 1)[0]): id for id in ids}
    chosen: list[str] = []
    for part in text.replace(" ", "").split(","):
        bounds = _RANGE.fullmatch(part)
        if part == "all":
            chosen += ids
        elif part in SPLITS:
            chosen += [id for id in ids if load_task(id).split == part]
        elif bounds is not None:
            inside = [id for number, id in numbers.items() if int(bounds["first"]) <= number <= int(bounds["last"])]
            if not inside:
                raise SettingsError(f"tasks {part!r}: there is no task with such a number")
            chosen += inside
        else:
            chosen.append(part)
    try:
        return tuple({task.id: task for task in map(load_task, chosen)}.values())
    except TaskError as error:
        raise SettingsError(str(error)) from error


def _shard(text: str) -> Shard:
    match = _SHARD.fullmatch(text)
    if match is None:
        raise SettingsError(f"shard {text!r} is not written NUMBER/COUNT, e.g. 2/5")
    return Shard(number=int(match["number"]), count=int(match["count"]))
