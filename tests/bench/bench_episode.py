"""Where the wall time of the demo's episode goes: physics and rendering against the whole."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from homie_eval.bag import Bag, read_bag
from support.system_support import run_demo


@dataclass(frozen=True, slots=True)
class EngineTime:
    """Seconds of wall time that the bridge has spent inside the engine, and the simulated seconds."""

    step: float
    render: float
    simulated: float


def _engine_time(bag_path: Path) -> EngineTime:
    """The last word of the bridge's diagnostics."""
    with Bag(bag_path) as bag:
        *_, last = bag.records("diagnostics")
        (status,) = last.decode().status
    values = {each.key: float(each.value) for each in status.values}
    return EngineTime(values["mj_step_wall_seconds"], values["render_wall_seconds"], values["simulation_seconds"])


def bench() -> list[tuple[str, float, str]]:
    """Name, value and unit of each measured figure."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        run = run_demo(Path(folder))
        whole = time.perf_counter() - began
        (trajectory,) = read_bag(run.folder / "bag").trajectories
        engine = _engine_time(run.folder / "bag")
    if trajectory.result is None:
        raise RuntimeError(f"the demo did not end:\n{run.output}")
    episode = trajectory.result.wall_seconds
    inside = engine.step + engine.render
    planning = sum(step.planner_wall_seconds for step in trajectory.steps)
    return [
        ("demo from start to report", whole, "s"),
        ("its episode, wall time", episode, "s"),
        ("its episode, simulated time", engine.simulated, "s"),
        ("time inside mj_step", engine.step, "s"),
        ("time inside rendering", engine.render, "s"),
        ("time inside the planner", planning, "s"),
        ("episode / (mj_step + rendering)", episode / inside, "x"),
    ]
