"""What a user may set for a run, checked before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from homie_core.episode import STEP_LIMIT, Setting
from homie_core.vocabulary import EMMOE
from homie_eval.emmoe.tasks import Task, TaskError, load_task
from homie_planner.backend import PlannerError
from homie_planner.config import PlannerConfig, read_config
from homie_planner.instruction import ObservationKind
from homie_planner.registry import make_planner
from homie_planner.retrieval import find_bags
from homie_sim.house import HouseError, load_house
from homie_sim.house_files import house_names
from homie_sim.native.success_rates import SuccessRates
from homie_skills.executor import read_server

Skills = Literal["m3", "oracle"]
"""Who carries out subtasks: the physical skills, or the simulator itself, without motion."""

Views = Literal["always", "needed"]
"""Whether a planner that looks at no pictures gets some all the same, for the report."""


class SettingsError(ValueError):
    """A setting is wrong. One line: the field, the value, what is allowed."""


class Settings(BaseModel):
    """One run, as ``homie demo`` and the launch files take it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str = Field("100", description="Task: its number or name in the suite, or a YAML file")
    house: str = Field("", description="House to use instead of the task's own: a name or a YAML file")
    planner: str = Field("expert", description="Planner, e.g. expert, openai:gpt-4o or a YAML file")
    planner_options: tuple[str, ...] = Field(
        (), description="Fields of the planner's configuration, NAME=VALUE, e.g. options.temperature=0"
    )
    setting: Setting = Field(Setting.BACKGROUND_INFORMATION, description="What the monitor and the skills may know")
    skills: Skills = Field("m3", description="Physical skills (m3), or instant ones by the simulator (oracle)")
    servers: tuple[str, ...] = Field(
        (), description="Your own skill servers, MODEL=server, e.g. RT-1-X=my_server for skills/my_server/execute"
    )
    success_rates: str = Field(
        "", description="Chance of each try of an instant skill, e.g. go_to=0.9,pick=0.5, or table_4; 1 if not given"
    )
    views: Views = Field("always", description="The four views for every planner, or only where needed")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the world and of the skills' search")
    trial: int = Field(1, ge=1, description="Number of this trial of the task")
    max_steps: int = Field(STEP_LIMIT, ge=1, le=1000, description="Steps after which the episode stops")
    video_fps: float = Field(5.0, ge=0.0, le=50.0, description="Video pictures per simulated second; 0 for none")

    @model_validator(mode="after")
    def _rates_have_skills(self) -> Self:
        if self.success_rates and self.skills != "oracle":
            raise ValueError("success_rates are for skills oracle; physical skills succeed or fail by themselves")
        return self

    @field_validator("planner_options", "servers", mode="before")
    @classmethod
    def _separate(cls, value: object) -> object:
        """A launch argument is one text: several values are separated by blanks."""
        return tuple(value.split()) if isinstance(value, str) else value

    @field_validator("servers")
    @classmethod
    def _are_servers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        models = [read_server(text)[0] for text in value]
        twice = sorted({model for model in models if models.count(model) > 1})
        if twice:
            raise ValueError(f"model {twice[0]} has more than one server")
        return value

    @field_validator("success_rates")
    @classmethod
    def _readable(cls, value: str) -> str:
        SuccessRates.parse(value)
        return value


class Run(BaseModel):
    """Checked settings and what they name. ``looks``: whether the planner is shown pictures, and looks at them.

    ``reply_seconds`` is the time that a planner of its own pace, a person, has for each reply.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    settings: Settings
    task: Task
    planner: PlannerConfig
    looks: bool = True
    reply_seconds: float | None = None

    @property
    def views(self) -> bool:
        """Whether observations hold pictures."""
        return self.looks or self.settings.views == "always"

    @property
    def describes(self) -> bool:
        """Whether observations hold a text about what is seen."""
        return self.planner.instruction.observation is ObservationKind.TEXT

    @property
    def servers(self) -> dict[str, str]:
        """The skill server of each model.

        Where the user has none, the skills of the run stand in: NoMaD, PixNav, octo and RT-1-X are not shipped. The
        setting without background information is then about what monitor and checks may know, not about those models.
        """
        stand_ins = dict.fromkeys(EMMOE.models, self.settings.skills)
        return {**stand_ins, **dict(map(read_server, self.settings.servers))}

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
        raise SettingsError(one_line(error)) from error
    try:
        task = load_task(settings.task)
    except TaskError as error:
        raise SettingsError(str(error)) from error
    return run_of(settings, task)


def run_of(settings: Settings, task: Task) -> Run:
    """The run of ``task`` with ``settings``, whatever task those name.

    Raises:
        SettingsError: the house or the planner does not exist, or the planner's configuration is wrong.
    """
    try:
        planner = read_config(settings.planner, settings.planner_options)
        capabilities = make_planner(planner).capabilities
        if planner.instruction.retrieve:
            find_bags(Path(planner.instruction.memory))
    except PlannerError as error:
        raise SettingsError(str(error)) from error
    run = Run(
        settings=settings,
        task=task,
        planner=planner,
        looks=capabilities.images and planner.instruction.observation is ObservationKind.IMAGES,
        reply_seconds=capabilities.reply_seconds,
    )
    known = house_names()
    if run.house in known:
        return run
    if not Path(run.house).is_file():
        raise SettingsError(f"house {run.house!r} is unknown; allowed: {', '.join(known)}, or a YAML file")
    try:
        load_house(run.house)
    except HouseError as error:
        raise SettingsError(str(error)) from error
    return run


def one_line(error: ValidationError) -> str:
    """The first fault: the field, the value, what is allowed."""
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    field = ".".join(str(part) for part in first["loc"])
    return f"{field} {first['input']!r}: {message[0].lower()}{message[1:]}" if field else message
