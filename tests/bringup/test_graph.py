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
    assert parameters["mujoco_bridge"] == {
        "house": "house_1",
        "seed": 7,
        "video_fps": 2.5,
        "render": True,
        "views": True,
        "describe": False,
        "native_skills": False,
        "success_rates": "",
    }
    assert parameters["monitor"]["setting"] == "no_background_information"
    assert parameters["planner"]["planner"] == "expert"


def test_a_text_is_made_only_for_those_who_are_told() -> None:
    for views in ("needed", "always"):
        run = check(planner_options="instruction.observation=text", views=views, video_fps=0)
        bridge = {spec.name: spec.parameters for spec in simulation_graph(run)}["mujoco_bridge"]
        assert (bridge["views"], bridge["describe"], bridge["render"]) == (views == "always", True, True)


def test_a_users_server_takes_the_place_of_the_stand_in() -> None:
    run = check(servers="RT-1-X=my_arm NoMaD=my_base")
    servers = {spec.name: spec.parameters for spec in simulation_graph(run)}["executor"]["servers"]
    assert servers == ["NoMaD=my_base", "PixNav=m3", "octo=m3", "RT-1-X=my_arm", "M3=m3"]


def test_instant_skills_need_no_skill_server() -> None:
    graph = {spec.name: spec.parameters for spec in simulation_graph(check(skills="oracle", success_rates="pick=0.5"))}
    assert "m3_skill_server" not in graph
    assert graph["executor"]["servers"] == [f"{model}=oracle" for model in ("NoMaD", "PixNav", "octo", "RT-1-X", "M3")]
    assert graph["mujoco_bridge"]["native_skills"] is True
    assert graph["mujoco_bridge"]["success_rates"] == "pick=0.5"


@pytest.mark.parametrize(
    ("values", "views", "render"),
    [
        ({}, True, True),
        ({"views": "needed"}, False, True),
        ({"views": "needed", "video_fps": 0}, False, False),
        ({"views": "always", "video_fps": 0}, True, True),
    ],
)
def test_pictures_are_made_only_for_those_who_look(values: dict[str, object], views: bool, render: bool) -> None:
    parameters = {spec.name: spec.parameters for spec in simulation_graph(check(planner="expert", **values))}
    bridge = parameters["mujoco_bridge"]
    assert (bridge["views"], bridge["render"]) == (views, render)


@pytest.mark.parametrize("spec", GRAPH, ids=lambda spec: spec.name)
def test_the_node_class_exists(spec: NodeSpec) -> None:
    assert hasattr(importlib.import_module(spec.module), spec.node_class)


@pytest.mark.parametrize("spec", GRAPH, ids=lambda spec: spec.name)
def test_the_program_is_installed(spec: NodeSpec) -> None:
    assert os.access(program(spec), os.X_OK)
