"""The full definition of a message type, as a bag stores it, so that the bag can be read without this workspace."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

SEPARATOR = "=" * 80


class DefinitionError(LookupError):
    """The definition of a message type is not installed."""


@dataclass(frozen=True, slots=True)
class MessageDefinition:
    """``text`` is the .msg file followed by those of all types it uses; ``type_hash`` the RIHS01 hash of the type."""

    text: str
    type_hash: str


@cache
def message_definition(type_name: str) -> MessageDefinition:
    """The definition of e.g. ``homie_msgs/msg/StepRecord``, from the files that the interface package installed.

    Raises:
        DefinitionError: the package or the type is not installed.
    """
    description = json.loads(_file(type_name, ".json"))
    parts = [_file(type_name, ".msg")]
    for name in sorted(_referenced(description)):
        package, _, message = name.split("/")
        parts.append(f"{SEPARATOR}\nMSG: {package}/{message}\n{_file(name, '.msg')}")
    return MessageDefinition("\n".join(parts), _hash(description, type_name))


def _referenced(description: dict[str, Any]) -> list[str]:
    return [part["type_name"] for part in description["type_description_msg"]["referenced_type_descriptions"]]


def _hash(description: dict[str, Any], type_name: str) -> str:
    hashes = {entry["type_name"]: str(entry["hash_string"]) for entry in description["type_hashes"]}
    return hashes[type_name]


def _file(type_name: str, suffix: str) -> str:
    package, _, message = type_name.split("/")
    try:
        share = Path(get_package_share_directory(package))
        return (share / "msg" / f"{message}{suffix}").read_text(encoding="utf-8")
    except (PackageNotFoundError, FileNotFoundError) as error:
        raise DefinitionError(f"the definition of {type_name} is not installed: {error}") from error
