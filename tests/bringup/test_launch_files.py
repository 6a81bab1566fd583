"""The launch files start the graph. They need the launch system of a ROS install."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from homie_bringup.graph import simulation_graph
from homie_bringup.settings import Settings, check

launch = pytest.importorskip("launch", reason="the launch system comes with a ROS install, not with the wheels")
launch_ros = pytest.importorskip("launch_ros", reason="the launch system comes with a ROS install, not with the wheels")

FOLDER = Path(__file__).parents[2] / "launch" / "launch"


def description(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.launch.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


def test_every_setting_is_an_argument() -> None:
    arguments = {argument.name: argument for argument in description("simulation").get_launch_arguments()}
    assert set(arguments) == {*Settings.model_fields, "namespace"}
    assert all(argument.description for argument in arguments.values())


def test_it_starts_the_nodes_of_the_graph() -> None:
    context = launch.LaunchContext()
    context.launch_configurations["seed"] = "7"
    nodes: list[Any] = []
    for entity in description("simulation").entities:
        nodes += entity.visit(context) or []
    started = {(node.node_package, node.node_executable) for node in nodes}
    assert started == {(spec.package, spec.executable) for spec in simulation_graph(check(seed=7))}
