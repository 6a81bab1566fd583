"""The form of a reply as a JSON schema, for the backends that can hold a model to one."""

from __future__ import annotations

from typing import Any

from homie_core.vocabulary import Vocabulary

MAX_ANALYSIS_CHARACTERS = 1200
"""A model that is held to the schema cannot repeat itself beyond this."""

MAX_NAME_CHARACTERS = 60


def reply_schema(vocabulary: Vocabulary) -> dict[str, Any]:
    """The schema of `homie_planner.parsing.reply_text`, in the subset that strict structured output accepts.

    All properties are required and no others are allowed. A verb without arguments leaves target and destination empty.
    """
    name = {"type": "string", "maxLength": MAX_NAME_CHARACTERS}
    subtask = _object(
        {
            "action": {"type": "string", "enum": [verb.name for verb in vocabulary.verbs]},
            "target": name,
            "destination": name,
        }
    )
    return _object(
        {
            "analysis": {"type": "string", "maxLength": MAX_ANALYSIS_CHARACTERS},
            "subtask": subtask,
            "model": {"type": "string", "enum": list(vocabulary.models)},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
