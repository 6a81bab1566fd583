"""YAML files, read without surprises: ``on``, ``off``, ``yes`` and ``no`` are words, not truth values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml


class YamlError(ValueError):
    """A file that is not readable YAML, in one line."""


class _Loader(yaml.SafeLoader):
    """YAML 1.2's idea of a truth value, so that a placement may say ``on: brown_table``."""


_BOOL = "tag:yaml.org,2002:bool"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile(r"^(true|false)$", re.IGNORECASE), list("tTfF"))


def load(path: Path) -> Any:
    """The content of a YAML file.

    Raises:
        YamlError: it cannot be read, or is not YAML; the message names file and line.
    """
    try:
        return _load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise YamlError(f"cannot read {path}: {error}") from error
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f" line {error.problem_mark.line + 1}"
        raise YamlError(f"{path}{line}: not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise YamlError(f"{path}: not YAML: {' '.join(str(error).split())}") from error


def parse(text: str) -> Any:
    """What a single value in YAML says.

    Raises:
        YamlError: it is not YAML.
    """
    try:
        return _load(text)
    except yaml.YAMLError as error:
        raise YamlError(f"not YAML: {' '.join(str(error).split())}") from error


def _load(text: str) -> Any:
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a safe loader
