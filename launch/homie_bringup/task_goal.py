"""The goal that starts one episode of a run."""

from __future__ import annotations

import json

from homie_msgs.action import RunTask

from homie_bringup.settings import Run

BENCHMARK = "emmoe"


def task_goal(run: Run, episode_id: str, layout: str) -> RunTask.Goal:
    """The goal for the `run_task` action. ``layout`` says how the nodes were started, for the record."""
    task, settings = run.task, run.settings
    configuration = {
        **settings.model_dump(),
        "planner": run.planner.model_dump(mode="json"),
        "servers": run.servers,
        "layout": layout,
    }
    return RunTask.Goal(
        episode_id=episode_id,
        benchmark=BENCHMARK,
        task_id=task.id,
        instruction=task.instruction,
        scene=run.house,
        seed=settings.seed,
        trial=settings.trial,
        max_steps=settings.max_steps,
        placements_json=task.placements_json,
        task_json=task.to_json(),
        configuration_json=json.dumps(configuration),
    )
