"""Planners by name."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from homie_planner import registry
from homie_planner.backend import Capabilities, Deadline, PlannerError, PlanReply, PlanRequest
from homie_planner.backends.expert import Options
from homie_planner.config import read_config
from homie_planner.registry import Kind, make_planner, usage


def test_expert() -> None:
    backend = make_planner(read_config("expert"))
    assert backend.name == "expert"
    assert backend.capabilities.privileged


def test_replay(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('["Subtask: [End]"]')
    backend = make_planner(read_config(f"replay:{plan}"))
    assert backend.name == f"replay:{plan}"
    assert not backend.capabilities.privileged


@pytest.mark.parametrize("text", ["gpt", "", "Expert", "replay", "replay:", "expert:now"])
def test_wrong_names_are_one_clear_line(text: str) -> None:
    with pytest.raises(PlannerError) as error:
        make_planner(read_config(text))
    message = str(error.value)
    assert repr(text) in message
    assert "\n" not in message


def test_unknown_planner_lists_what_is_allowed() -> None:
    with pytest.raises(PlannerError, match="allowed: expert, human, replay:<PLAN>"):
        make_planner(read_config("gpt"))
    assert "openai:<MODEL>" in usage().split(", ")


class Model:
    """A planner with some senses."""

    name = "model"

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self.closed = False

    def reset(self) -> None:
        """Nothing to forget."""

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        return PlanReply("")

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("capabilities", "observation", "fits"),
    [
        (Capabilities(images=True, repairs=True), "images", True),
        (Capabilities(images=True, repairs=True), "text", True),
        (Capabilities(repairs=True), "text", True),
        (Capabilities(repairs=True), "images", False),
        (Capabilities(privileged=True), "images", True),
    ],
)
def test_a_model_without_eyes_needs_a_text(
    monkeypatch: pytest.MonkeyPatch, capabilities: Capabilities, observation: str, fits: bool
) -> None:
    model = Model(capabilities)
    monkeypatch.setitem(registry.KINDS, "model", Kind("", "a test's", "a_tests_planner"))
    module = SimpleNamespace(Options=Options, make=lambda argument, options: model)
    monkeypatch.setitem(sys.modules, "a_tests_planner", module)
    config = read_config("model", [f"instruction.observation={observation}"])
    if fits:
        assert make_planner(config) is model
        return
    with pytest.raises(PlannerError, match=r"'model' looks at no images: set instruction\.observation=text"):
        make_planner(config)
    assert model.closed
