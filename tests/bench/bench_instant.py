"""Instant skills: what an episode and a subtask cost when nothing moves, and what 300 episodes come to."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path

from homie_msgs.action import RunTask

from homie_bringup.composition import Composition
from homie_bringup.domain import run_domain
from homie_bringup.episode_client import EpisodeClientNode
from homie_bringup.graph import simulation_graph
from homie_bringup.settings import Run, check
from homie_core.episode import Outcome, Step
from homie_core.skill import SkillTry
from homie_ros.node_host import NodeHost
from homie_sim.house import load_house
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld

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


def _goal(run: Run, number: int) -> RunTask.Goal:
    task = run.task
    return RunTask.Goal(
        episode_id=f"bench_{number}",
        benchmark="emmoe",
        task_id=task.id,
        instruction=task.instruction,
        scene=run.house,
        seed=number,
        trial=1,
        max_steps=run.settings.max_steps,
        placements_json=task.placements_json,
        task_json=task.model_dump_json(),
        configuration_json=run.settings.model_dump_json(),
    )


def _episodes(views: str) -> tuple[list[float], list[float], list[Step]]:
    """Wall and processor time of each episode in a composed graph, its bag included, and all steps."""
    run = check(skills="oracle", video_fps=0, views=views)
    seconds: list[float] = []
    busy: list[float] = []
    steps: list[Step] = []
    stop = threading.Event()
    with (
        tempfile.TemporaryDirectory() as folder,
        run_domain() as domain,
        Composition(simulation_graph(run), domain) as graph,
        NodeHost(domain_id=domain) as host,
    ):
        client = host.add(EpisodeClientNode, graph=graph, use_global_arguments=False)
        client.wait_ready(stop)
        for number in range(EPISODES):
            begin, busy_begin = time.perf_counter(), time.process_time()
            result = client.run(_goal(run, number), Path(folder) / f"bag_{number}", steps.append, stop)
            seconds.append(time.perf_counter() - begin)
            busy.append(time.process_time() - busy_begin)
            if result.outcome is not Outcome.ENDED:
                raise RuntimeError(f"episode {number}: {result.outcome.value} {result.cause}")
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
