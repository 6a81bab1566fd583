"""A request as the messages of the chat completions protocol."""

from __future__ import annotations

from typing import Any, Literal

from homie_planner.backend import PlanRequest, Turn
from homie_planner.picture_url import PictureFormat, data_url

SystemRole = Literal["system", "developer", "user"]
Detail = Literal["auto", "low", "high"]


def chat_messages(
    request: PlanRequest,
    *,
    system_role: SystemRole = "system",
    format: PictureFormat = "jpeg",
    detail: Detail = "auto",
    system_addition: str = "",
) -> list[dict[str, Any]]:
    """The system text, the examples, the question of the step, and the repair turns.

    A question is its text followed by its pictures, front, left, back, right: the layout that the paper's authors use
    for GPT. A model without a system role ("user") gets the system text at the head of the first question.
    """
    system = request.system + system_addition
    turns = request.turns
    if system_role == "user":
        first = turns[0]
        turns = (Turn(first.role, f"{system}\n{first.text}", first.views), *turns[1:])
    messages = [{"role": turn.role, "content": _content(turn, format, detail)} for turn in turns]
    if system_role != "user":
        messages.insert(0, {"role": system_role, "content": system})
    return messages


def _content(turn: Turn, format: PictureFormat, detail: Detail) -> str | list[dict[str, Any]]:
    if not turn.views:
        return turn.text
    pictures = []
    for view in turn.views:
        url = {"url": data_url(view, format)}
        if detail != "auto":
            url["detail"] = detail
        pictures.append({"type": "image_url", "image_url": url})
    return [{"type": "text", "text": turn.text}, *pictures]
