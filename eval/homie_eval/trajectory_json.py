"""Trajectories as JSON, one text each: what a run keeps of an episode beside its bag.

The form is that of the dataclasses, field by field. Numbers come back to the last digit, NaN included, so a score made
from the text equals one made from the bag.
"""

from __future__ import annotations

import json

from pydantic import TypeAdapter, ValidationError

from homie_eval.trajectory import Trajectory

_ADAPTER = TypeAdapter(Trajectory)


class TrajectoryJsonError(ValueError):
    """A text is no trajectory. One line."""


def to_json(trajectory: Trajectory) -> str:
    """The text of a trajectory."""
    return json.dumps(_ADAPTER.dump_python(trajectory), separators=(",", ":"))


def from_json(text: str) -> Trajectory:
    """The inverse of `to_json`.

    Raises:
        TrajectoryJsonError: the text is not one.
    """
    try:
        return _ADAPTER.validate_python(json.loads(text))
    except json.JSONDecodeError as error:
        raise TrajectoryJsonError(f"a trajectory is not JSON: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise TrajectoryJsonError(f"a trajectory's {place} is wrong: {first['msg']}") from error
