"""The graph description names programs that exist."""

import importlib
import os

import pytest

from homie_bringup.graph import NodeSpec, simulation_graph
from homie_bringup.processes import program
from homie_bringup.settings import check

GRAPH = simulation_graph(check())


def test_every_setting_of_the_run_reaches_its_node() -> None:
    run = check(seed="7", video_fps="2.5", setting="no_background_information", house="house_1")
    parameters = {spec.name: spec.parameters for spec in simulation_graph(run)}
    assert parameters["mujoco_bridge"] == {"house": "house_1", "seed": 7, "video_fps": 2.5}
    assert parameters["monitor"]["setting"] == "no_background_information"
    assert parameters["planner"]["planner"] == "expert"


@pytest.mark.parametrize("spec", GRAPH, ids=lambda spec: spec.name)
def test_the_node_class_exists(spec: NodeSpec) -> None:
    assert hasattr(importlib.import_module(spec.module), spec.node_class)


@pytest.mark.parametrize("spec", GRAPH, ids=lambda spec: spec.name)
def test_the_program_is_installed(spec: NodeSpec) -> None:
    assert os.access(program(spec), os.X_OK)
