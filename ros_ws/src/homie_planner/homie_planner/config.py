"""The configuration of a planner: which backend, how it is asked, what happens with its replies, what it costs.

It is written as a name (``openai:gpt-4o``) with fields (``repair=false``) or as a YAML file of
the same fields. Keys never stand in it: an option names the environment variable that holds the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from homie_core import yaml_file
from homie_planner.backend import PlannerError
from homie_planner.instruction import InstructionOptions

Model = TypeVar("Model", bound=BaseModel)

_FILE_SUFFIXES = (".yaml", ".yml")


class ConfigError(PlannerError):
    """A configuration is wrong. One line: the field, the value, what is allowed."""


class Prices(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0.0, description="Price of a million tokens that the model reads")
    output: float = Field(ge=0.0, description="Price of a million tokens that the model writes")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """US dollars."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


class PlannerConfig(BaseModel):
    """All that makes a planner. ``options`` belong to the backend, which checks them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    planner: str = Field(min_length=1, description="Backend and its argument, e.g. expert or openai:gpt-4o")
    options: dict[str, JsonValue] = Field(default_factory=dict, description="Options of the backend")
    instruction: InstructionOptions = Field(default_factory=InstructionOptions, description="How it is asked")
    repair: bool = Field(True, description="Whether a model is shown what was wrong with an unreadable reply, once")
    prices: Prices | None = Field(None, description="Prices, so that steps show their cost")


def read_config(planner: str, options: Sequence[str] = ()) -> PlannerConfig:
    """The configuration of ``planner``, a name or a YAML file, with ``options`` on top.

    An option is written ``instruction.image_size=128``; its value is read as YAML.

    Raises:
        ConfigError: the file cannot be read, or a field is wrong.
    """
    values = _from_file(Path(planner)) if planner.endswith(_FILE_SUFFIXES) else {"planner": planner}
    for option in options:
        _set(values, option)
    return validated(PlannerConfig, values, "planner configuration")


def validated(model: type[Model], values: Mapping[str, Any], what: str) -> Model:
    """``values`` as ``model``.

    Raises:
        ConfigError: a field is wrong; the text says which of ``what``, and for an unknown one which there are.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{what}: {_explain(error, model)}") from error


def _from_file(path: Path) -> dict[str, Any]:
    try:
        values = yaml_file.load(path)
    except yaml_file.YamlError as error:
        raise ConfigError(str(error)) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no fields; allowed: {', '.join(PlannerConfig.model_fields)}")
    return values


def _set(values: dict[str, Any], option: str) -> None:
    name, equals, text = option.partition("=")
    if not equals or not all(name.split(".")):
        raise ConfigError(f"planner option {option!r} is not written NAME=VALUE, e.g. instruction.image_size=128")
    try:
        value = yaml_file.parse(text)
    except yaml_file.YamlError as error:
        raise ConfigError(f"planner option {option!r}: the value is {error}") from error
    *groups, last = name.split(".")
    for group in groups:
        inner = values.setdefault(group, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"planner option {option!r}: {group} is {inner!r} and has no fields")
        values = inner
    values[last] = value


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    fault = error.errors()[0]
    name = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{name} is unknown; allowed: {', '.join(_fields(model, fault['loc'][:-1])) or 'none'}"
    if fault["type"] == "missing":
        return f"{name} is missing"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{name} {fault['input']!r}: {message[0].lower()}{message[1:]}"


def _fields(model: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """The fields of the model at ``place`` inside ``model``."""
    for part in place:
        annotation = model.model_fields[str(part)].annotation
        inner = [kind for kind in (annotation, *getattr(annotation, "__args__", ())) if isinstance(kind, type)]
        model = next(kind for kind in inner if issubclass(kind, BaseModel))
    return list(model.model_fields)
