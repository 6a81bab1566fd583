"""How long it takes to score bags: 300 episodes without images in at most five seconds."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from homie_eval.emmoe.tasks import load_task
from homie_eval.score import score_bag
from support.bags import BagFixture, message
from support.trajectories import info, result, steps_of
from support.worlds import kitchen

EPISODES = 300
STATES_PER_STEP = 10
OTHER_TOPICS = 25
_SECOND = 1_000_000_000


def _write(folder: Path) -> None:
    """An episode of twenty steps, with the world's state published as often as a run does."""
    run = " ".join(f"({index}) Go to, fridge({'fail' if index % 3 == 0 else 'success'})" for index in range(1, 21))
    steps = [replace(step, stamp=10 * step.index * _SECOND, prompt="x" * 1500) for step in steps_of(run)]
    world = kitchen()
    world = replace(world, objects=world.objects * 3)
    with BagFixture(folder) as bag:
        for number in range(OTHER_TOPICS):
            bag.write(f"topic_{number}", message("std_msgs/msg/String", data="x"))
        bag.world_state(world)
        bag.info(info(task_json=load_task("100").to_json()))
        for step in steps:
            for number in range(STATES_PER_STEP):
                bag.world_state(replace(world, stamp=step.stamp - _SECOND + number))
            bag.step("e1", step)
        bag.result("e1", result(tuple(steps)), steps[-1].stamp)


def bench() -> list[tuple[str, float, str]]:
    """Name, value and unit of each measured figure."""
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / f"bag_{number}" for number in range(EPISODES)]
        _write(folders[0])
        for folder in folders[1:]:
            shutil.copytree(folders[0], folder)
        begin = time.perf_counter()
        scored = sum(len(score_bag(folder).episodes) for folder in folders)
        seconds = time.perf_counter() - begin
    if scored != EPISODES:
        raise RuntimeError(f"{scored} of {EPISODES} episodes were scored")
    return [(f"scoring {EPISODES} bags without images", seconds, "s")]
