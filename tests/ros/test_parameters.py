"""Parameters are declared from a model, and wrong ones are named in one line."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from homie_ros.homie_node import HomieNode
from homie_ros.parameters import ParameterError, read_parameters
from support.graph import fresh_host


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Settings(BaseModel):
    speed: float = Field(1.0, gt=0, description="How fast, metres a second.")
    tries: int = 3
    colour: Colour = Colour.RED
    mode: Literal["slow", "quick"] = "slow"
    names: list[str] = []
    record: bool = False


class Tuned(HomieNode):
    def __init__(self, model: type[BaseModel] = Settings, **options: Any) -> None:
        super().__init__("tuned", **options)
        self.settings = read_parameters(self, model)


def test_defaults_and_given_values() -> None:
    with fresh_host() as host:
        assert host.add(Tuned).settings == Settings()
        given = {"speed": 2, "colour": Colour.GREEN, "mode": "quick", "names": ["a", "b"], "record": True}
        node = host.add(Tuned, namespace="other", parameters=given)
        assert node.settings == Settings(speed=2.0, colour=Colour.GREEN, mode="quick", names=["a", "b"], record=True)
        assert node.describe_parameter("speed").description == "How fast, metres a second."


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colour": "blue"}, r"parameter colour of node tuned is 'blue': .*; allowed: red, green"),
        ({"mode": "fast"}, r"parameter mode of node tuned is 'fast': .*; allowed: slow, quick"),
        ({"speed": 0.0}, r"parameter speed of node tuned is 0.0: .*greater than 0"),
        ({"tries": "many"}, r"parameter tries of node tuned is 'many': .*integer"),
        ({"sped": 1.0}, r"node tuned has no parameter sped; allowed: colour, mode, names, record, speed, tries"),
    ],
)
def test_wrong_values(given: dict[str, Any], message: str) -> None:
    with fresh_host() as host, pytest.raises(ParameterError, match=message) as caught:
        host.add(Tuned, parameters=given)
    assert "\n" not in str(caught.value)


def test_a_missing_value() -> None:
    class Strict(BaseModel):
        scene: str

    with fresh_host() as host:
        with pytest.raises(ParameterError, match="parameter scene of node tuned is missing"):
            host.add(Tuned, model=Strict)
        assert host.add(Tuned, model=Strict, parameters={"scene": "home"}).settings == Strict(scene="home")


def test_built_in_parameters_are_allowed() -> None:
    with fresh_host() as host:
        assert host.add(Tuned, parameters={"use_sim_time": True}).settings == Settings()
