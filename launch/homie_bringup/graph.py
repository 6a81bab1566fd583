"""The graph of nodes, written once: the composed run, one process per node, and the launch files are made from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from homie_bringup.settings import Run, Settings

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
        NodeSpec("mujoco_bridge", "homie_sim", "mujoco_bridge_node", "MujocoBridgeNode", _bridge(run)),
        *_skill_servers(settings),
        NodeSpec(
            "executor",
            "homie_skills",
            "executor_node",
            "ExecutorNode",
            {"setting": settings.setting.value, "servers": [f"{model}={name}" for model, name in run.servers.items()]},
        ),
        NodeSpec("monitor", "homie_monitor", "monitor_node", "MonitorNode", {"setting": settings.setting.value}),
        NodeSpec(
            "planner",
            "homie_planner",
            "planner_node",
            "PlannerNode",
            _planner(settings),
        ),
        NodeSpec("emmoe_referee", "homie_referee", "emmoe_referee_node", "EmmoeRefereeNode"),
    )


def _bridge(run: Run) -> dict[str, ParameterValue]:
    settings = run.settings
    return {
        "house": run.house,
        "seed": settings.seed,
        "video_fps": settings.video_fps,
        "render": run.views or run.describes or settings.video_fps > 0,
        "views": run.views,
        "describe": run.describes,
        "native_skills": settings.skills == "oracle",
        "success_rates": settings.success_rates,
    }


def _planner(settings: Settings) -> dict[str, ParameterValue]:
    values: dict[str, ParameterValue] = {"planner": settings.planner, "setting": settings.setting.value}
    if settings.planner_options:  # ROS gives an empty list no type
        values["planner_options"] = list(settings.planner_options)
    return values


def _skill_servers(settings: Settings) -> tuple[NodeSpec, ...]:
    """Nodes beside the bridge, which offers its native skills itself."""
    if settings.skills == "oracle":
        return ()
    return (NodeSpec("m3_skill_server", "homie_skills", "m3_node", "M3Node"),)
