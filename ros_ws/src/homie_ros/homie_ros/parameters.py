"""Node parameters from a pydantic model: declared with their descriptions, validated once, wrong ones named."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

Settings = TypeVar("Settings", bound=BaseModel)

BUILT_IN_PREFIXES = ("use_sim_time", "qos_overrides.", "start_type_description_service")
"""Parameters that every node accepts and that no model lists."""


class ParameterError(ValueError):
    """A parameter is wrong. The message is one line a parameter: its name, its value and what is allowed."""


def read_parameters(node: Node, model: type[Settings]) -> Settings:
    """Declare every field of ``model`` on ``node`` and return the values that it was started with.

    A field's default is the parameter's default, its description the parameter's. Parameters can not be changed later.

    Raises:
        ParameterError: a value is not allowed, is missing, or a parameter of that name does not exist.
    """
    unknown = [
        name
        for name in node._parameter_overrides  # what was given at start; rclpy ignores undeclared ones silently
        if name not in model.model_fields and not name.startswith(BUILT_IN_PREFIXES)
    ]
    if unknown:
        raise ParameterError(
            f"node {node.get_name()} has no parameter {', '.join(sorted(unknown))}; "
            f"allowed: {', '.join(sorted(model.model_fields))}"
        )
    given = {name: _declare(node, name, field) for name, field in model.model_fields.items()}
    try:
        return model.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise ParameterError(_explain(node.get_name(), error, model)) from error


def overrides(values: Mapping[str, Any]) -> list[Parameter]:
    """The form in which rclpy takes parameter values when a node is made in code. Empty lists are dropped (untyped)."""
    return [Parameter(name, value=_plain(value)) for name, value in values.items() if value is not None]


def _declare(node: Node, name: str, field: FieldInfo) -> Any:
    default = None if field.is_required() else _plain(field.get_default(call_default_factory=True))
    descriptor = ParameterDescriptor(description=field.description or "", read_only=True, dynamic_typing=True)
    value = node.declare_parameter(name, default, descriptor).value
    return list(value) if isinstance(value, list | tuple) or hasattr(value, "tolist") else value


def _plain(value: Any) -> Any:
    """``value`` as one of the types that a ROS parameter can have."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _explain(node_name: str, error: ValidationError, model: type[BaseModel]) -> str:
    lines = []
    for fault in error.errors():
        name = str(fault["loc"][0]) if fault["loc"] else ""
        if fault["type"] == "missing":
            lines.append(f"parameter {name} of node {node_name} is missing{_allowed(model, name)}")
            continue
        reason = fault["msg"].removeprefix("Value error, ")
        lines.append(f"parameter {name} of node {node_name} is {fault['input']!r}: {reason}{_allowed(model, name)}")
    return "\n".join(lines)


def _allowed(model: type[BaseModel], name: str) -> str:
    """What the field accepts, where its type lists it."""
    field = model.model_fields.get(name)
    annotation = None if field is None else field.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return f"; allowed: {', '.join(str(item.value) for item in annotation)}"
    if get_origin(annotation) is not None and all(isinstance(item, str | int) for item in get_args(annotation)):
        return f"; allowed: {', '.join(map(str, get_args(annotation)))}"
    return ""
