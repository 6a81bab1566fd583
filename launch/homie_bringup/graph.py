"""The graph of nodes, written once: the composed run, one process per node, and the launch files are made from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from homie_bringup.settings import Run

ParameterValue = bool | int | float | str | list[str]


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """One node: where its program is, and its parameters.

    ``executable`` is the console script of ``package``; ``module`` and ``node_class`` are what the script runs.
    """

    name: str
    package: str
    executable: str
    node_class: str
    parameters: dict[str, ParameterValue] = field(default_factory=dict)

    @property
    def module(self) -> str:
        return f"{self.package}.{self.executable}"


def simulation_graph(run: Run) -> tuple[NodeSpec, ...]:
    """Every node of a run in the embedded MuJoCo world."""
    settings = run.settings
    return (
        # First in, last out: the recorder hears what the others say when they stop.
        NodeSpec("recorder", "homie_referee", "recorder_node", "RecorderNode"),
        NodeSpec(
            "mujoco_bridge",
            "homie_sim",
            "mujoco_bridge_node",
            "MujocoBridgeNode",
            {"house": run.house, "seed": settings.seed, "video_fps": settings.video_fps},
        ),
        NodeSpec("m3_skill_server", "homie_skills", "m3_node", "M3Node"),
        NodeSpec("executor", "homie_skills", "executor_node", "ExecutorNode", {"setting": settings.setting}),
        NodeSpec("monitor", "homie_monitor", "monitor_node", "MonitorNode", {"setting": settings.setting}),
        NodeSpec(
            "planner",
            "homie_planner",
            "planner_node",
            "PlannerNode",
            {"planner": settings.planner, "setting": settings.setting},
        ),
        NodeSpec("emmoe_referee", "homie_referee", "emmoe_referee_node", "EmmoeRefereeNode"),
    )
