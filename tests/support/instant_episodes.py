"""Episodes with instant skills in one process, one after the other, each with a bag: for benchmarks."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from homie_msgs.action import RunTask

from homie_bringup.composition import Composition
from homie_bringup.domain import run_domain
from homie_bringup.episode_client import EpisodeClientNode
from homie_bringup.graph import simulation_graph
from homie_bringup.settings import Run, check
from homie_core.episode import Outcome, Step
from homie_ros.node_host import NodeHost


@contextmanager
def instant_graph(views: str) -> Iterator[Callable[[int], list[Step]]]:
    """A composed graph with the expert planner. What it gives runs the episode of a number and returns its steps."""
    run = check(skills="oracle", video_fps=0, views=views)
    stop = threading.Event()
    with (
        tempfile.TemporaryDirectory() as folder,
        run_domain() as domain,
        Composition(simulation_graph(run), domain) as graph,
        NodeHost(domain_id=domain) as host,
    ):
        client = host.add(EpisodeClientNode, graph=graph, use_global_arguments=False)
        client.wait_ready(stop)

        def episode(number: int) -> list[Step]:
            steps: list[Step] = []
            result = client.run(_goal(run, number), Path(folder) / f"bag_{number}", steps.append, stop)
            if result.outcome is not Outcome.ENDED:
                raise RuntimeError(f"episode {number}: {result.outcome.value} {result.cause}")
            return steps

        yield episode


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
