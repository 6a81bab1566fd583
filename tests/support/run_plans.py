"""Plans of small runs for tests."""

from __future__ import annotations

from homie_eval.emmoe.tasks import load_task
from homie_eval.runs.plan import Planner, RunPlan, Shard

TASKS = tuple(load_task(number) for number in ("33", "84", "100"))


def plan(shard: Shard | None = None, planners: tuple[str, ...] = ("a", "b"), trials: int = 2, seed: int = 5) -> RunPlan:
    """A run of three tasks."""
    return RunPlan(
        benchmark="emmoe",
        planners=tuple(Planner(label=label, settings={"planner": "expert"}) for label in planners),
        tasks=TASKS,
        trials=trials,
        seed=seed,
        shard=shard or Shard(),
    )
