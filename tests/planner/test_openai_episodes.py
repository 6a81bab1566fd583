"""Whole episodes with the planner ``openai`` and a server that fails: each goes on, or ends as a planner failure."""

import random
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_planner.backends.openai_endpoint import OpenAiEndpoint, Options
from homie_planner.loop import EpisodeLoop, Observed
from support import chat_server
from support.bags import picture
from support.chat_server import Behaviour, ChatServer, completion, reply, status
from support.episodes import InstantPorts, Log, episode_info
from support.toy_house import ToyWorld

pytest.importorskip("openai")

END = reply('{"analysis": "done", "subtask": {"action": "End", "target": "", "destination": ""}, "model": "octo"}')
PLANNER_SECONDS = 2.0
VIEWS = tuple(picture(seed) for seed in range(4))

TOOL_CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": "fridge"}'}}


@dataclass
class SeenPorts(InstantPorts):
    """Instant ports with pictures."""

    def observe(self) -> Observed:
        return Observed(self.world.state.stamp, VIEWS)


@dataclass
class Episode:
    result: EpisodeResult
    steps: list[Step]
    seconds: float


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *script: Behaviour, **options: Any) -> Episode:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    before = set(threading.enumerate())
    ports, log = SeenPorts(ToyWorld()), Log()
    values = {"backoff_seconds": 0.05, "max_retries": 2, **options}
    with ChatServer(*script) as server:
        checked = Options.model_validate({"base_url": server.base_url, **values})
        backend = OpenAiEndpoint("test-model", checked, random.Random(0))
        began = time.monotonic()
        loop = EpisodeLoop(ports, ports, log, backend, planner_seconds=PLANNER_SECONDS)
        result = loop.run(episode_info(max_steps=3))
        seconds = time.monotonic() - began
        backend.close()
    assert set(threading.enumerate()) <= before
    assert log.results == [result]
    return Episode(result, log.steps, seconds)


@pytest.mark.parametrize(
    "answer",
    [
        END,
        reply("Analysis: done\nSubtask: [End]\nModel: NoMaD"),
        chat_server.body(
            b'{"choices": [{"message": {"content": "Analysis: \xff\\nSubtask: [End]"}, "finish_reason": "stop"}]}'
        ),
        lambda exchange: exchange.json(
            200,
            completion(
                None,
                "tool_calls",
                tool_calls=[{"function": {"name": "act", "arguments": '{"subtask": {"action": "End"}}'}}],
            ),
        ),
    ],
    ids=["json", "template", "non-UTF-8 bytes", "tool call"],
)
def test_good_replies(answer: Behaviour, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    episode = run(monkeypatch, tmp_path, answer)
    assert (episode.result.outcome, episode.result.cause, episode.result.steps) == (Outcome.ENDED, "", 1)
    assert episode.steps[0].requests == 1


UNREADABLE: dict[str, Behaviour] = {
    "cut-off JSON": reply('{"analysis": "The mug is in the fri', "length"),
    "cut-off subtask": reply('{"analysis": "a", "subtask": {"action": "Pick", "target": "mu', "length"),
    "empty text": reply(""),
    "no text": lambda exchange: exchange.json(200, completion(None)),
    "endless repetition": chat_server.endless("I have to think about the end. " * 10),
    "10 MB of text": lambda exchange: exchange.json(200, completion("The end is near. " * 600_000)),
    "non-UTF-8 bytes": chat_server.body(
        b'{"choices": [{"message": {"content": "\xff\x80"}, "finish_reason": "stop"}]}'
    ),
    "half a surrogate pair": reply("\ud83d and \0"),
    "tool call": lambda exchange: exchange.json(200, completion(None, "tool_calls", tool_calls=[TOOL_CALL])),
    "refusal": lambda exchange: exchange.json(200, completion(None, refusal="I cannot help with that.")),
    "content filter": reply("", "content_filter"),
    "prose": reply("In the end, I would open the fridge."),
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_one_failed_step(
    answer: Behaviour, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    episode = run(monkeypatch, tmp_path, answer, answer, END)
    assert (episode.result.outcome, episode.result.cause, episode.result.steps) == (Outcome.ENDED, "", 2)
    first, last = episode.steps
    assert (first.success, first.error_code, first.attempts) == (False, ErrorCode.NOT_IN_LIST, 0)
    assert (first.requests, last.requests) == (2, 1)
    assert "asked again" in first.note
    assert "is not in the action list" in last.prompt
    assert last.success
    assert episode.seconds < 15
    for step in episode.steps:
        (step.raw_output + step.note + step.prompt).encode()


PASSING: dict[str, Behaviour] = {
    "429": status(429, headers={"Retry-After": "0.2"}),
    "500": status(500),
    "HTML page with 502": chat_server.page(502, "<html>Bad Gateway</html>"),
    "connection drop": chat_server.drop,
    "connection drop in the middle": chat_server.drop_in_the_middle('{"analysis": "a", "subtask": {"action": "End"'),
    "invalid JSON": chat_server.body(b"{]"),
    "SSE garbage": chat_server.body(b"data: {]\n\ndata\n\n:::\n\n", "text/event-stream"),
    "log-in page": chat_server.page(200, "<html>End</html>"),
    "silence": chat_server.late(30, END),
}


@pytest.mark.parametrize("failure", PASSING.values(), ids=PASSING.keys())
def test_what_passes_is_waited_for(failure: Behaviour, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    episode = run(monkeypatch, tmp_path, failure, END, idle_seconds=0.5)
    assert (episode.result.outcome, episode.result.cause, episode.result.steps) == (Outcome.ENDED, "", 1)
    assert episode.steps[0].requests == 2
    assert episode.steps[0].note.startswith("1 failed request, the last by ")


LASTING: dict[str, tuple[Behaviour, str]] = {
    "slow": (chat_server.late(30, END), "no reply within 2 s, waiting for the reply"),
    "drip": (chat_server.drip("Subtask: [End]\n", 0.05), "no reply within 2 s, waiting for the reply"),
    "429": (status(429, "slow down"), "HTTP 429: slow down (after 3 requests)"),
    "429 for an hour": (status(429, headers={"Retry-After": "3600"}), "it asks to wait 3.6e+03 s"),
    "500": (status(500), "HTTP 500: not now (after 3 requests)"),
    "401": (status(401, "Incorrect API key provided"), "HTTP 401: Incorrect API key provided"),
    "404": (status(404, "The model does not exist"), "HTTP 404: The model does not exist"),
    "HTML page with 502": (chat_server.page(502, "<html>\nBad\nGateway</html>"), "HTTP 502: <html> Bad Gateway</html>"),
    "connection drop": (chat_server.drop, "no connection (RemoteProtocolError"),
    "connection drop in the middle": (chat_server.drop_in_the_middle("Subtask: [End]"), "no connection ("),
    "invalid JSON": (
        chat_server.body(b'{"choices": [{"message": {"content": "[End]'),
        "the server's answer is no JSON",
    ),
    "SSE garbage": (chat_server.body(b"\x00data: [End\n\n\xff", "text/event-stream"), "the server's answer holds no"),
    "endless bytes": (chat_server.endless_bytes(b"End " * 16384), "the server's answer is longer than"),
    "endless error page": (chat_server.endless_bytes(b"End " * 16384, "text/html", 500), "is longer than"),
}


@pytest.mark.parametrize(("failure", "cause"), LASTING.values(), ids=LASTING.keys())
def test_what_lasts_is_a_planner_failure(
    failure: Behaviour, cause: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    episode = run(monkeypatch, tmp_path, failure)
    assert (episode.result.outcome, episode.result.steps) == (Outcome.PLANNER_FAILURE, 0)
    assert cause in episode.result.cause
    assert "\n" not in episode.result.cause
    assert episode.steps == []
    assert episode.seconds < PLANNER_SECONDS + 3


def test_a_failure_after_good_steps_keeps_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    go = reply("Analysis: a\nSubtask: [Go to, fridge]\nModel: NoMaD")
    episode = run(monkeypatch, tmp_path, go, status(403, "no more"))
    assert (episode.result.outcome, episode.result.steps) == (Outcome.PLANNER_FAILURE, 1)
    assert episode.steps[0].success
    assert "HTTP 403: no more" in episode.result.cause
