"""The form of a reply as a JSON schema."""

import json

from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE
from homie_planner.parsing import reply_text
from homie_planner.reply_schema import reply_schema


def test_it_lists_the_words_of_the_vocabulary_and_nothing_is_optional() -> None:
    schema = reply_schema(EMMOE)
    subtask = schema["properties"]["subtask"]
    assert schema["required"] == ["analysis", "subtask", "model"]
    assert subtask["required"] == ["action", "target", "destination"]
    assert subtask["properties"]["action"]["enum"] == ["Go to", "Pick", "Put", "Open", "Close", "End"]
    assert schema["properties"]["model"]["enum"] == ["NoMaD", "PixNav", "octo", "RT-1-X", "M3"]
    assert schema["additionalProperties"] is False and subtask["additionalProperties"] is False


def test_a_decision_written_as_a_reply_has_its_form() -> None:
    reply = json.loads(reply_text("so", Subtask("Put", "mug", "sink", "RT-1-X")))
    schema = reply_schema(EMMOE)
    assert list(reply) == schema["required"]
    assert list(reply["subtask"]) == schema["properties"]["subtask"]["required"]
