"""Instant skills: what an episode and a subtask cost when nothing moves, and what 300 episodes come to."""

from __future__ import annotations

import statistics
import time

from homie_core.episode import Step
from homie_core.skill import SkillTry
from homie_sim.house import load_house
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld
from support.instant_episodes import instant_graph

EPISODES = 20
REPEATS = 20
BUDGET_EPISODES, WORKERS = 300, 2
CAN = "potted_meat_can_1"
PLAN = (
    ("go_to", "fridge", ""),
    ("open", "fridge", ""),
    ("go_to", CAN, ""),
    ("pick", CAN, ""),
    ("go_to", "fridge", ""),
    ("put", CAN, "fridge"),
)
Figure = tuple[str, float, str]


def _skill_seconds() -> list[float]:
    """Wall time of each native skill of the plan, without anything round it."""
    world = MujocoWorld(load_house("house_1"))
    skills = NativeSkills(world)
    seconds = []
    for seed in range(REPEATS):
        world.reset(seed)
        for step in PLAN:
            begin = time.perf_counter()
            outcome = skills.execute(SkillTry(*step))
            seconds.append(time.perf_counter() - begin)
            if not outcome.success:
                raise RuntimeError(f"{step}: {outcome.error_msg}")
    return seconds


def _episodes(views: str) -> tuple[list[float], list[float], list[Step]]:
    """Wall and processor time of each episode in a composed graph, its bag included, and all steps."""
    seconds: list[float] = []
    busy: list[float] = []
    steps: list[Step] = []
    with instant_graph(views) as episode:
        for number in range(EPISODES):
            begin, busy_begin = time.perf_counter(), time.process_time()
            steps += episode(number)
            seconds.append(time.perf_counter() - begin)
            busy.append(time.process_time() - busy_begin)
    return seconds, busy, steps


def bench() -> list[Figure]:
    """Name, value and unit of each measured figure."""
    skill = statistics.median(_skill_seconds())
    figures: list[Figure] = [("a native skill, median", 1e3 * skill, "ms")]
    for views, title in (("always", "four views a step"), ("needed", "no views")):
        seconds, busy, steps = _episodes(views)
        episode = statistics.median(seconds)
        executed = statistics.median(step.execution_wall_seconds for step in steps if step.attempts)
        figures += [
            (f"an episode of {len(PLAN) + 1} steps, {title}, median", episode, "s"),
            (f"its processor time, {title}, median", statistics.median(busy), "s"),
            (f"a subtask beyond its native skill, {title}, median", 1e3 * (executed - skill), "ms"),
            (f"{BUDGET_EPISODES} episodes, {WORKERS} workers, {title}", episode * BUDGET_EPISODES / WORKERS, "s"),
        ]
    return figures
