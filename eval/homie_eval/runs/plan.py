"""What a run consists of: planners x tasks x trials, each with its seed, and the same for every worker and machine.

The plan is written once, when a run begins, and never changes. It holds all that makes the run: the tasks themselves,
every setting, the versions. A resumed run reads it and takes nothing from the command line.
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from homie_eval.emmoe.tasks import Task

FORMAT_VERSION = 1

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


class Planner(BaseModel):
    """One planner of a run. ``label`` names it in tables and folders; ``settings`` make it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Annotated[str, Field(pattern=f"^{_LABEL.pattern}$")]
    settings: dict[str, JsonValue]


class Shard(BaseModel):
    """Part ``number`` (from 1) of ``count`` parts into which a run's episodes are divided."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int = Field(1, ge=1)
    count: int = Field(1, ge=1)

    @model_validator(mode="after")
    def _within(self) -> Self:
        if self.number > self.count:
            raise ValueError(f"shard {self.number}/{self.count}: the number must be from 1 to {self.count}")
        return self


class Episode(BaseModel):
    """One episode of a run. Its ``id`` is unique in the run and the same in every shard."""

    model_config = ConfigDict(frozen=True)

    planner: str
    task: str
    trial: int
    seed: int

    @property
    def id(self) -> str:
        return f"{self.planner}/{self.task}/trial{self.trial}"


class RunPlan(BaseModel):
    """See the head of this file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format_version: int = FORMAT_VERSION
    benchmark: str
    planners: Annotated[tuple[Planner, ...], Field(min_length=1)]
    tasks: Annotated[tuple[Task, ...], Field(min_length=1)]
    trials: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    settings: dict[str, JsonValue] = {}
    shard: Shard = Shard()
    versions: dict[str, str] = {}

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what, names in (
            ("planner", [planner.label for planner in self.planners]),
            ("task", [task.id for task in self.tasks]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what} {twice[0]!r} is given twice")
        return self

    @cached_property
    def every_episode(self) -> tuple[Episode, ...]:
        """All episodes of all shards. Trials are outermost, so that a run that is stopped has seen every task."""
        return tuple(
            Episode(planner=planner.label, task=task.id, trial=trial, seed=episode_seed(self.seed, task.id, trial))
            for trial in range(1, self.trials + 1)
            for planner in self.planners
            for task in self.tasks
        )

    @cached_property
    def episodes(self) -> tuple[Episode, ...]:
        """The episodes of this shard, in the order in which they are run."""
        return self.every_episode[self.shard.number - 1 :: self.shard.count]

    @cached_property
    def task_of(self) -> dict[str, Task]:
        """Each task by its id."""
        return {task.id: task for task in self.tasks}

    @cached_property
    def planner_of(self) -> dict[str, Planner]:
        """Each planner by its label."""
        return {planner.label: planner for planner in self.planners}

    @property
    def fingerprint(self) -> str:
        """The same text for all shards of one run, and another one for any other run."""
        whole = self.model_copy(update={"shard": Shard()})
        return hashlib.sha256(whole.model_dump_json().encode()).hexdigest()


def episode_seed(seed: int, task: str, trial: int) -> int:
    """The seed of one episode, below 2**63: from the run's seed, the task and the trial, the same for all planners.

    So planners meet the same worlds, and can be compared in pairs.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(trial, *task.encode()))
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
