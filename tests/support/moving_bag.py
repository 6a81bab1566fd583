"""A bag of an episode in which the robot moves: every number and every picture tells its time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homie_core.episode import Step
from homie_eval.emmoe.tasks import load_task
from homie_eval.robot_states import FINGERS, JOINTS
from homie_eval.video import HEAD_CAMERA, THIRD_PERSON
from support.bags import BagFixture, Picture
from support.trajectories import info, result, steps_of

SECOND = 1_000_000_000

STEPS = "(1) [Go to, fridge](success)\n(2) [Open, fridge](fail)\n(3) [Open, fridge](success)\n(4) [End]"
SECONDS = (1.0, 0.0, 1.5, 0.0)
"""How long each of them takes; the second is refused."""


def moving_steps(text: str = STEPS, seconds: Sequence[float] = SECONDS) -> tuple[Step, ...]:
    """Steps that follow one another without a pause."""
    made: list[Step] = []
    now = 0.0
    for step, took in zip(steps_of(text), seconds, strict=True):
        now += took
        timed = {"sim_seconds": took, "stamp": round(now * SECOND), "attempts": int(took > 0)}
        made.append(replace(step, **timed))  # type: ignore[arg-type]
    return tuple(made)


def grey(level: int, width: int = 64, height: int = 48) -> Picture:
    return np.full((height, width, 3), level, dtype=np.uint8)


def level_at(tick: int) -> int:
    """How bright the picture of this fifth of a second is."""
    return 20 + 10 * tick


def write_moving_episode(
    bag: BagFixture,
    episode_id: str = "e1",
    steps: Sequence[Step] | None = None,
    cameras: Sequence[str] = (HEAD_CAMERA, THIRD_PERSON),
    joints: Sequence[str] = (*JOINTS, *FINGERS),
    size: tuple[int, int] = (64, 48),
    task: str = "100",
    seen_until: float = math.inf,
) -> None:
    """Pictures five times a second (until ``seen_until``, seconds), joints and odometry ten times, from 0 on."""
    steps = moving_steps() if steps is None else tuple(steps)
    bag.info(info(episode_id, task_json=load_task(task).to_json()))
    end = steps[-1].stamp
    written = 0
    for tenth in range(end * 10 // SECOND + 1):
        stamp = tenth * SECOND // 10
        bag.joint_states(stamp, {name: tenth / 10 + number for number, name in enumerate(joints)})
        bag.odometry(stamp, tenth / 10, -tenth / 10, yaw=tenth / 100)
        if tenth % 2 == 0 and tenth / 10 <= seen_until:
            for camera in cameras:
                bag.frame(camera, stamp, grey(level_at(tenth // 2), *size), format="png")
        while written < len(steps) and steps[written].stamp <= stamp:
            bag.step(episode_id, steps[written])
            written += 1
    bag.result(episode_id, result(steps), end)
