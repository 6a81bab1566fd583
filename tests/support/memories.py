"""Folders of runs for tests, as past episodes leave them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from homie_core.episode import Outcome
from homie_eval.emmoe.tasks import Task
from support.bags import BagFixture
from support.trajectories import info, result, steps_of
from support.worlds import kitchen

MUG_RUN = """(1) [Go to, mug](success)
(2) [Pick, mug](success)
(3) [Go to, sofa](success)
(4) [Put, mug, sofa](success)
(5) [End]"""


def write_run(
    folder: Path, episode_id: str, steps: str, task: str = "bring the mug", outcome: Outcome | None = Outcome.ENDED
) -> Path:
    """A run folder whose only episode has these steps, thinks ``thought <step>``, and has ``MUG_RUN`` as key path.

    Without an ``outcome`` its recording stops before the end.
    """
    folder.mkdir(parents=True)
    done = tuple(replace(step, analysis=f"thought {step.index}") for step in steps_of(steps))
    with BagFixture(folder / "bag") as bag:
        bag.world_state(kitchen())
        bag.info(info(episode_id, instruction=task, task_json=mug_task(task).to_json()))
        for step in done:
            bag.step(episode_id, step)
        if outcome is not None:
            bag.result(episode_id, result(done, outcome))
    return folder


def mug_task(instruction: str) -> Task:
    """A task with ``MUG_RUN`` as its only key path."""
    path = [step.subtask.brackets() for step in steps_of(MUG_RUN)]
    return Task(
        id="900_mug",
        instruction=instruction,
        scene="house_1",
        key_paths=[path],
        attributes=("short_horizon",),
        expert_length=len(path),
    )
