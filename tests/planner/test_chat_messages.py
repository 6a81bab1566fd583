"""A request as chat messages: roles, order, and where the pictures stand."""

import base64
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from homie_planner.backend import PlanRequest, Turn
from homie_planner.chat_messages import chat_messages
from support.bags import picture

VIEWS = tuple(picture(seed, 48, 32) for seed in range(4))


def pictures(message: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    urls = [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"]
    return [np.asarray(Image.open(BytesIO(base64.b64decode(url.partition(",")[2])))) for url in urls]


def test_text_first_then_the_views_in_their_order() -> None:
    request = PlanRequest(task="t", system="SYSTEM", prompt="PROMPT", views=VIEWS)
    system, user = chat_messages(request, format="png")
    assert system == {"role": "system", "content": "SYSTEM"}
    assert [part["type"] for part in user["content"]] == ["text", *["image_url"] * 4]
    assert user["content"][0]["text"] == "PROMPT"
    for found, view in zip(pictures(user), VIEWS, strict=True):
        np.testing.assert_array_equal(found, view)


def test_without_views_the_content_is_text() -> None:
    request = PlanRequest(task="t", system="SYSTEM", prompt="PROMPT", observation="You see a mug.")
    assert chat_messages(request)[1:] == [{"role": "user", "content": "PROMPT"}]


def test_examples_come_before_the_question_and_the_repair_behind_it() -> None:
    examples = (Turn("user", "EXAMPLE", VIEWS[:2]), Turn("assistant", "DONE"))
    repair = (Turn("assistant", "What?"), Turn("user", "AGAIN"))
    request = PlanRequest(task="t", system="S", prompt="PROMPT", views=VIEWS, examples=examples, repair=repair)
    messages = chat_messages(request, system_role="developer")
    assert [message["role"] for message in messages] == ["developer", "user", "assistant", "user", "assistant", "user"]
    assert [len(pictures(message)) for message in (messages[1], messages[3])] == [2, 4]
    assert [message["content"] for message in (messages[2], *messages[4:])] == ["DONE", "What?", "AGAIN"]


def test_a_model_without_a_system_role_reads_it_in_the_first_question() -> None:
    request = PlanRequest(task="t", system="SYSTEM", prompt="PROMPT", views=VIEWS)
    (user,) = chat_messages(request, system_role="user", system_addition=" MORE")
    assert user["role"] == "user"
    assert user["content"][0]["text"] == "SYSTEM MORE\nPROMPT"
    assert len(pictures(user)) == 4
