"""How long the metric functions take: 100,000 steps in at most one second."""

from __future__ import annotations

import time

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.subtask import Subtask
from homie_eval.emmoe.metrics import aggregate, score_episode
from homie_eval.emmoe.tasks import load_task
from homie_eval.trajectory import Trajectory
from support.worlds import kitchen

STEPS = 100_000
STEPS_PER_EPISODE = 20
_SUBTASKS = (
    (Subtask("Go to", "green_can", model="M3"), "potted_meat_can_1", ""),
    (Subtask("Pick", "green_can", model="M3"), "potted_meat_can_1", ""),
    (Subtask("Go to", "kitchen drawer", model="M3"), "kitchen_counter/drawer_1", ""),
    (Subtask("Put", "green_can", "fridge", model="M3"), "potted_meat_can_1", "fridge"),
    (Subtask("Open", "the fridge", model="M3"), "fridge", ""),
)


def _trajectories() -> list[Trajectory]:
    steps = []
    for index in range(1, STEPS_PER_EPISODE + 1):
        success = index % 3 != 0
        code = None if success else ErrorCode.TOO_DIFFICULT
        subtask, target_id, destination_id = _SUBTASKS[index % len(_SUBTASKS)]
        steps.append(Step(index, subtask, success, code, target_id=target_id, destination_id=destination_id))
    result = EpisodeResult(Outcome.STEP_LIMIT, STEPS_PER_EPISODE)
    count = STEPS // STEPS_PER_EPISODE
    infos = (EpisodeInfo(f"e{n}", "emmoe", "100", "", "house_1", 0, 0, "bench", "") for n in range(count))
    return [Trajectory(info, tuple(steps), result, kitchen()) for info in infos]


def bench() -> list[tuple[str, float, str]]:
    """Name, value and unit of each measured figure."""
    task, trajectories = load_task("100"), _trajectories()
    begin = time.perf_counter()
    summary = aggregate(score_episode(trajectory, task) for trajectory in trajectories)
    seconds = time.perf_counter() - begin
    if summary.judged != len(trajectories):
        raise RuntimeError(f"{summary.judged} of {len(trajectories)} trajectories were pooled")
    return [(f"metrics of {STEPS} steps ({len(task.paths)} key paths)", seconds, "s")]
