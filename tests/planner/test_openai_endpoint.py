"""The planner ``openai`` against a real HTTP server that behaves well, badly, or not at all."""

import base64
import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from email.utils import formatdate
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from homie_core.vocabulary import EMMOE
from homie_planner.asking import KEPT_CHARACTERS
from homie_planner.backend import (
    Backend,
    Deadline,
    PlannerCancelled,
    PlannerError,
    PlannerTimeout,
    PlanReply,
    PlanRequest,
    Turn,
)
from homie_planner.backends.openai_endpoint import DEFAULT_BASE_URL, OpenAiEndpoint, Options, make
from homie_planner.config import ConfigError, PlannerConfig
from homie_planner.extras import MissingExtra
from homie_planner.registry import make_planner
from homie_planner.reply_schema import reply_schema
from support import chat_server
from support.bags import picture
from support.chat_server import Behaviour, ChatServer, chunk, completion, reply, status

pytest.importorskip("openai")

TEXT = '{"analysis": "a", "subtask": {"action": "Go to", "target": "fridge", "destination": ""}, "model": "NoMaD"}'
VIEWS = tuple(picture(seed, 64, 48) for seed in range(4))
REQUEST = PlanRequest(task="tidy up", system="SYSTEM", prompt="PROMPT", views=VIEWS, seed=7)
KEY = "sk-very-secret-0123456789"
FAST = {"backoff_seconds": 0.01, "max_backoff_seconds": 0.05}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A limit of its own, and no key from the machine."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@dataclass
class Talk:
    server: ChatServer
    backend: OpenAiEndpoint

    def plan(self, request: PlanRequest = REQUEST, seconds: float = 20.0) -> PlanReply:
        return self.backend.plan(request, Deadline.after(seconds))

    @property
    def sent(self) -> list[dict[str, Any]]:
        return [received.body for received in self.server.requests]


class talk:  # noqa: N801  used like a function
    """A server with a script and a backend that asks it; nothing is left of either."""

    def __init__(self, *script: Behaviour, **options: Any) -> None:
        self._server = ChatServer(*script)
        self._options = options

    def __enter__(self) -> Talk:
        self._before = set(threading.enumerate())
        self._server.__enter__()
        options = Options.model_validate({"base_url": self._server.base_url, **FAST, **self._options})
        self._backend = OpenAiEndpoint("test-model", options, random.Random(1))
        self._backend.reset()
        return Talk(self._server, self._backend)

    def __exit__(self, *details: object) -> None:
        self._backend.close()
        self._backend.close()
        self._server.__exit__(*details)
        assert set(threading.enumerate()) <= self._before


def decoded(url: str) -> tuple[str, np.ndarray[Any, Any]]:
    head, _, data = url.partition(";base64,")
    with Image.open(BytesIO(base64.b64decode(data))) as image:
        assert head == f"data:image/{str(image.format).lower()}"
        return str(image.format), np.asarray(image.convert("RGB"))


@pytest.mark.parametrize("streamed", [True, False])
def test_a_reply(streamed: bool) -> None:
    with talk(reply(TEXT), stream=streamed) as t:
        assert t.plan() == PlanReply(TEXT, tokens_in=11, tokens_out=5, requests=1)
        assert bool(t.sent[0].get("stream")) == streamed


def test_what_is_sent() -> None:
    with talk(reply(TEXT), image_format="png") as t:
        t.plan()
        (sent,) = t.sent
        assert t.server.requests[0].path == "/v1/chat/completions"
    assert set(sent) == {"model", "messages", "max_tokens", "seed", "stream", "stream_options", "response_format"}
    assert (sent["model"], sent["max_tokens"], sent["seed"]) == ("test-model", 1024, 7)
    system, user = sent["messages"]
    assert system == {"role": "system", "content": "SYSTEM"}
    assert user["role"] == "user"
    text, *pictures = user["content"]
    assert text == {"type": "text", "text": "PROMPT"}
    assert [part["type"] for part in pictures] == ["image_url"] * 4
    for part, view in zip(pictures, VIEWS, strict=True):
        assert set(part["image_url"]) == {"url"}
        form, found = decoded(part["image_url"]["url"])
        assert form == "PNG"
        np.testing.assert_array_equal(found, view)
    schema = sent["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"] == reply_schema(EMMOE)


def test_options_are_sent() -> None:
    options = {
        "temperature": 0.2,
        "top_p": 0.9,
        "max_tokens": 300,
        "max_tokens_field": "max_completion_tokens",
        "seed": False,
        "structured_output": "none",
        "image_detail": "low",
        "system_role": "developer",
        "headers": {"X-Title": "Homie"},
        "body": {"top_k": 3, "stream_options": {"include_usage": False}},
    }
    with talk(reply(TEXT), **options) as t:
        t.plan()
        (sent,) = t.sent
        assert t.server.requests[0].headers["x-title"] == "Homie"
    messages = sent.pop("messages")
    assert sent == {
        "model": "test-model",
        "temperature": 0.2,
        "top_p": 0.9,
        "max_completion_tokens": 300,
        "top_k": 3,
        "stream": True,
        "stream_options": {"include_usage": False},
    }
    assert messages[0]["role"] == "developer"
    for part, view in zip(messages[1]["content"][1:], VIEWS, strict=True):
        assert part["image_url"]["detail"] == "low"
        form, found = decoded(part["image_url"]["url"])
        assert form == "JPEG"
        assert np.abs(found.astype(int) - view).mean() < 2


def test_the_whole_conversation_is_sent() -> None:
    examples = (Turn("user", "EXAMPLE", VIEWS[:1]), Turn("assistant", "DONE"))
    repair = (Turn("assistant", "What?"), Turn("user", "AGAIN"))
    request = PlanRequest(task="t", system="SYSTEM", prompt="PROMPT", examples=examples, repair=repair)
    with talk(reply(TEXT), system_role="user") as t:
        t.plan(request)
        messages = t.sent[0]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert messages[0]["content"][0]["text"] == "SYSTEM\nEXAMPLE"
    assert [message["content"] for message in messages[1:]] == ["DONE", "PROMPT", "What?", "AGAIN"]


def test_the_connection_is_kept() -> None:
    ports = []

    def note(exchange: chat_server.Exchange) -> None:
        ports.append(exchange._handler.client_address[1])
        reply(TEXT)(exchange)

    with talk(note) as t:
        for _ in range(3):
            assert t.plan().text == TEXT
    assert len(set(ports)) == 1


def test_it_plans_from_any_thread() -> None:
    found: list[str] = []
    with talk(reply(TEXT)) as t:
        for _ in range(2):
            thread = threading.Thread(target=lambda: found.append(t.plan().text))
            thread.start()
            thread.join(20)
        found.append(t.plan().text)
    assert found == [TEXT] * 3


# --- structured output


def refusing(*refused: str, code: int = 400, message: str = "response_format is not supported") -> Behaviour:
    """Refuses the forms of output that hold one of these words."""

    def behave(exchange: chat_server.Exchange) -> None:
        form = json.dumps(exchange.received.body.get("response_format", ""))
        if any(word in form for word in refused):
            status(code, message)(exchange)
        else:
            reply(TEXT)(exchange)

    return behave


@pytest.mark.parametrize(("refused", "requests"), [("maxLength", 2), ("json_schema", 3)])
def test_a_refused_schema_is_remembered(refused: str, requests: int) -> None:
    with talk(refusing(refused)) as t:
        first, second = t.plan(), t.plan()
        assert (first.text, first.requests) == (TEXT, requests)
        assert "refuses this form of structured output (HTTP 400: response_format is not supported)" in first.note
        assert (second.text, second.requests, second.note) == (TEXT, 1, "")
        last = json.dumps(t.sent[-1])
        assert refused not in last
        assert ("json_schema" in last) == (refused == "maxLength")


@pytest.mark.parametrize("code", [400, 422, 500, 501])
def test_servers_refuse_a_schema_in_many_ways(code: int) -> None:
    message = f"{'x' * 300}: body, response_format, type: input should be 'text' or 'json_object'"
    with talk(refusing("json_schema", code=code, message=message)) as t:
        found = t.plan()
    assert (found.text, found.requests) == (TEXT, 3)


def test_a_schema_that_was_asked_for_is_not_given_up() -> None:
    with (
        talk(refusing("json_schema"), structured_output="json_schema") as t,
        pytest.raises(PlannerError, match="HTTP 400"),
    ):
        t.plan()


def test_other_wrong_requests_are_no_refused_schema() -> None:
    with (
        talk(status(400, "messages: too many images")) as t,
        pytest.raises(PlannerError, match=r"HTTP 400: messages: too many images\Z"),
    ):
        t.plan()
    assert len(t.server.requests) == 1


def test_json_objects_are_asked_for_in_words_too() -> None:
    with talk(reply(TEXT), structured_output="json_object") as t:
        t.plan()
        assert t.sent[0]["response_format"] == {"type": "json_object"}
        assert "JSON" in t.sent[0]["messages"][0]["content"]


# --- unusual replies: the text goes to the parser, the note says what was odd


def tool_call(arguments: str, *, streamed: bool) -> Behaviour:
    function = {"name": "act", "arguments": arguments}
    if not streamed:
        calls = [{"id": "c", "type": "function", "function": function}]
        return lambda exchange: exchange.json(200, completion(None, "tool_calls", tool_calls=calls))
    half = len(arguments) // 2
    first = {"index": 0, "id": "c", "type": "function", "function": {"name": "act", "arguments": arguments[:half]}}
    second = {"index": 0, "function": {"arguments": arguments[half:]}}
    pieces = [chunk(tool_calls=[first]), chunk(tool_calls=[second]), chunk(finish_reason="tool_calls")]
    return chat_server.stream(pieces)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    ("arguments", "text", "note"),
    [
        (TEXT, TEXT, "a tool call (act) instead of text: its arguments were read"),
        ('{"query": "fridge"}', "", "a tool call (act) instead of text: its arguments are no subtask"),
        ('{"cut', "", "a tool call (act) instead of text: its arguments are no subtask"),
    ],
)
def test_a_tool_call_instead_of_text(arguments: str, text: str, note: str, streamed: bool) -> None:
    with talk(tool_call(arguments, streamed=streamed)) as t:
        found = t.plan()
    assert (found.text, found.note) == (text, note)


@pytest.mark.parametrize(
    ("behaviour", "text", "note"),
    [
        (reply('{"analysis": "a", "sub', "length"), '{"analysis": "a", "sub', "the reply ended by length"),
        (reply("", "content_filter"), "", "the reply ended by content_filter"),
        (reply(""), "", ""),
        (
            chat_server.stream([chunk(refusal="I cannot "), chunk("", "stop", refusal="do that.")]),
            "I cannot do that.",
            "the model refused",
        ),
        (
            chat_server.stream([chunk(reasoning_content="hm " * 5), chunk(TEXT), chunk(finish_reason="stop")]),
            TEXT,
            "15 characters of reasoning are left out",
        ),
        (chat_server.stream([chunk(TEXT)], b""), TEXT, "the reply broke off without a finish reason"),
        (chat_server.stream([chunk("\ud800\0!", "stop")]), "?\ufffd!", ""),
        (
            chat_server.body(b'{"choices": [{"message": {"content": "\xff\xfe!"}, "finish_reason": "stop"}]}'),
            "\ufffd\ufffd!",
            "",
        ),
        (
            chat_server.body(
                b'data: {"choices": [{"delta": {"content": "\xc3("}, "finish_reason": "stop"}]}\n\n',
                "text/event-stream",
            ),
            "\ufffd(",
            "",
        ),
        (
            lambda exchange: exchange.json(200, completion([{"type": "text", "text": "a"}, {"text": "b"}, 3])),  # type: ignore[arg-type]
            "ab",
            "",
        ),
        (
            chat_server.stream(
                [[], 5, {"choices": 3}, {"choices": ["?"]}, {"usage": {"prompt_tokens": "x"}}, chunk("a", "stop")]
            ),
            "a",
            "",
        ),
    ],
)
def test_unusual_replies(behaviour: Behaviour, text: str, note: str) -> None:
    with talk(behaviour) as t:
        found = t.plan()
    assert (found.text, found.note, found.requests) == (text, note, 1)


def test_a_reply_without_usage_costs_no_tokens() -> None:
    with talk(chat_server.stream([chunk(TEXT, "stop")])) as t:
        found = t.plan()
    assert (found.tokens_in, found.tokens_out) == (0, 0)


def test_the_end_of_an_endless_repetition_is_not_waited_for() -> None:
    with talk(chat_server.endless("the fridge, " * 20)) as t:
        began = time.monotonic()
        found = t.plan()
        assert time.monotonic() - began < 10
        assert t.server.hung_up.wait(10)
    assert KEPT_CHARACTERS < len(found.text) < KEPT_CHARACTERS + 1000
    assert found.note == "stopped reading a reply that is too long"


def test_ten_megabytes_of_text() -> None:
    with talk(reply("x" * 10_000_000), stream=False) as t:
        assert len(t.plan().text) == 10_000_000


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("code", [200, 400, 500])
def test_endless_bytes_are_not_read_for_ever(content_type: str, code: int) -> None:
    with talk(chat_server.endless_bytes(b"x" * 65536, content_type, code)) as t:
        with pytest.raises(PlannerError, match="longer than 16777216 bytes"):
            t.plan()
        assert t.server.hung_up.wait(10)
    assert len(t.server.requests) == 1


# --- failures that may pass


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (status(429, "slow down"), "HTTP 429: slow down"),
        (status(500), "HTTP 500: not now"),
        (status(503), "HTTP 503: not now"),
        (chat_server.page(502, "<html>\n<b>Bad Gateway</b></html>"), "HTTP 502: <html> <b>Bad Gateway</b></html>"),
        (chat_server.drop, "no connection (RemoteProtocolError: Server disconnected without sending a response.)"),
        (chat_server.drop_in_the_middle("Analysis"), "no connection (RemoteProtocolError: "),
        (chat_server.body(b"{not json"), "the server's answer is no JSON (JSONDecodeError: "),
        (chat_server.body(b"data: {nonsense\n\n", "text/event-stream"), "the server's answer is no JSON"),
        (chat_server.body(b"\x00\x01garbage\n\n\n:", "text/event-stream"), "the server's answer holds no reply"),
        (chat_server.page(200, "<html>Please log in</html>"), "the server's answer is no JSON"),
        (chat_server.body(b'{"choices": []}'), "the server's answer holds no reply"),
        (chat_server.body(b'{"error": {"message": "overloaded"}}'), "an error instead of a reply: overloaded"),
        (chat_server.stream([{"error": {"message": "overloaded"}}]), "an error instead of a reply: overloaded"),
    ],
)
def test_a_failure_that_passes(failure: Behaviour, cause: str) -> None:
    with talk(failure, failure, reply(TEXT)) as t:
        found = t.plan()
    assert (found.text, found.requests) == (TEXT, 3)
    assert found.note.startswith(f"2 failed requests, the last by {cause}")


@pytest.mark.parametrize("failure", [status(500), status(429), chat_server.drop, chat_server.body(b"{")])
def test_a_failure_that_does_not_pass(failure: Behaviour) -> None:
    with talk(failure, max_retries=3) as t:
        with pytest.raises(PlannerError) as caught:
            t.plan()
        assert str(caught.value).startswith(f"test-model at {t.server.base_url}: ")
        assert str(caught.value).endswith("(after 4 requests)")
        assert "\n" not in str(caught.value)
    assert len(t.server.requests) == 4


def test_nobody_listens() -> None:
    with talk(reply(TEXT)) as t:
        address = t.server.base_url
    backend = make("test-model", Options(base_url=address, max_retries=1, backoff_seconds=0.01))
    with pytest.raises(PlannerError, match=r"no connection \(ConnectError: .*\(after 2 requests\)"):
        backend.plan(REQUEST, Deadline.after(10))
    backend.close()


@pytest.mark.parametrize("form", ["seconds", "milliseconds", "date"])
def test_retry_after_is_honoured(form: str) -> None:
    headers = {
        "seconds": lambda: {"Retry-After": "1"},
        "milliseconds": lambda: {"retry-after-ms": "900"},
        "date": lambda: {"Retry-After": formatdate(time.time() + 2, usegmt=True)},
    }[form]
    times: list[float] = []

    def busy(exchange: chat_server.Exchange) -> None:
        times.append(time.monotonic())
        status(429, headers=headers())(exchange)

    def well(exchange: chat_server.Exchange) -> None:
        times.append(time.monotonic())
        reply(TEXT)(exchange)

    with talk(busy, well) as t:
        assert t.plan().text == TEXT
    assert 0.85 < times[1] - times[0] < 5


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    with talk(status(429, headers={"Retry-After": "3600"})) as t:
        began = time.monotonic()
        with pytest.raises(PlannerError, match=r"HTTP 429: not now; it asks to wait 3\.6e\+03 s, but only"):
            t.plan(seconds=5)
        assert time.monotonic() - began < 2
    assert len(t.server.requests) == 1


@pytest.mark.parametrize("code", [400, 401, 403, 404, 405, 413, 422, 501, 307])
def test_a_permanent_error_is_told_at_once(code: int) -> None:
    with talk(status(code, "No.\nReally " + "not " * 200, headers={"Location": "http://127.0.0.1:1/"})) as t:
        with pytest.raises(PlannerError) as caught:
            t.plan()
        text = str(caught.value)
        assert text.startswith(f"test-model at {t.server.base_url}: HTTP {code}: No. Really not not")
        assert len(text) < 300
    assert len(t.server.requests) == 1


def test_no_credit_is_permanent() -> None:
    with (
        talk(status(429, "You exceeded your quota", code="insufficient_quota")) as t,
        pytest.raises(PlannerError, match="HTTP 429: You exceeded your quota"),
    ):
        t.plan()
    assert len(t.server.requests) == 1


# --- time


@pytest.mark.parametrize(
    "behaviour",
    [
        chat_server.late(30, reply(TEXT)),
        chat_server.drip("ab", 0.05),
        status(500),
        status(429, headers={"Retry-After": "0.2"}),
        chat_server.drop,
    ],
    ids=["slow", "drip", "500s", "429s", "drops"],
)
def test_the_deadline_holds(behaviour: Behaviour) -> None:
    with talk(behaviour, max_retries=100, max_backoff_seconds=0.3, backoff_seconds=0.3) as t:
        began = time.monotonic()
        with pytest.raises(PlannerError) as caught:
            t.plan(seconds=1.0)
        assert time.monotonic() - began < 2.0
        assert "\n" not in str(caught.value)


def test_a_timeout_says_what_it_waited_for() -> None:
    with (
        talk(status(503), chat_server.late(30, reply(TEXT))) as t,
        pytest.raises(
            PlannerTimeout, match=r"no reply within 1 s, waiting for the reply; 1 failed request, .*HTTP 503"
        ),
    ):
        t.plan(seconds=1.0)


def test_silence_is_a_failure_that_may_pass() -> None:
    with talk(chat_server.late(30, reply(TEXT)), reply(TEXT), idle_seconds=0.3) as t:
        found = t.plan()
    assert found.requests == 2
    assert "no answer in time (ReadTimeout)" in found.note


@pytest.mark.parametrize(
    "behaviour",
    [chat_server.late(30, reply(TEXT)), chat_server.drip("ab", 0.05), status(429, headers={"Retry-After": "20"})],
    ids=["slow", "drip", "back-off"],
)
def test_a_cancelled_episode_cancels_its_request(behaviour: Behaviour) -> None:
    cancelled = threading.Event()
    with talk(behaviour) as t:
        timer = threading.Timer(0.5, cancelled.set)
        timer.start()
        began = time.monotonic()
        with pytest.raises(PlannerCancelled):
            t.backend.plan(REQUEST, Deadline.after(60, cancelled))
        assert time.monotonic() - began < 1.5
        timer.join()


def test_the_server_notices_a_cancellation() -> None:
    cancelled = threading.Event()
    with talk(chat_server.drip("ab", 0.02), reply(TEXT)) as t:
        threading.Timer(0.3, cancelled.set).start()
        with pytest.raises(PlannerCancelled):
            t.backend.plan(REQUEST, Deadline.after(60, cancelled))
        assert t.server.hung_up.wait(2)
        assert t.plan().text == TEXT


def test_parallel_episodes_share_the_limit() -> None:
    gate = chat_server.Gate(reply(TEXT))
    found: list[PlanReply] = []
    with ChatServer(gate) as server:
        options = Options(base_url=server.base_url, max_concurrent=2)

        def ask() -> None:
            backend = make("test-model", options)
            found.append(backend.plan(REQUEST, Deadline.after(30)))
            backend.close()

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        time.sleep(1.0)
        assert gate.waiting == 2
        gate.opened.set()
        for thread in threads:
            thread.join(30)
    assert len(found) == 5
    assert gate.most == 2


def test_after_a_429_everybody_waits() -> None:
    arrivals: list[float] = []

    def note(exchange: chat_server.Exchange) -> None:
        arrivals.append(time.monotonic())
        (status(429, headers={"Retry-After": "1"}) if exchange.number == 1 else reply(TEXT))(exchange)

    with talk(note) as t:
        thread = threading.Thread(target=t.plan)
        thread.start()
        while not arrivals:
            time.sleep(0.01)
        time.sleep(0.2)
        other = make("other-model", Options(base_url=t.server.base_url))
        assert other.plan(REQUEST, Deadline.after(20)).text == TEXT
        other.close()
        thread.join(20)
    assert len(arrivals) == 3
    assert min(arrivals[1:]) - arrivals[0] > 0.95


def test_a_timeout_at_the_limit_says_so() -> None:
    with talk(reply(TEXT), requests_per_minute=1) as t:
        t.plan()
        with pytest.raises(PlannerTimeout, match="waiting for its turn at the limit"):
            t.plan(seconds=0.3)
    assert len(t.server.requests) == 1


# --- keys and options


def echo(exchange: chat_server.Exchange) -> None:
    """Puts the key where it can."""
    key = exchange.received.headers["authorization"]
    if exchange.number == 1:
        status(401, f"wrong key: {key}")(exchange)
    else:
        reply(f"your key is {key}")(exchange)


def test_the_key_is_sent_and_never_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("MY_OTHER", f"other-{KEY}")
    caplog.set_level(logging.DEBUG)
    with talk(echo, api_key_env="MY_KEY", headers_env={"X-Other": "MY_OTHER"}) as t:
        with pytest.raises(PlannerError) as caught:
            t.plan()
        assert str(caught.value).endswith(r"HTTP 401: wrong key: Bearer ***")
        found = t.plan()
        assert found.text == "your key is Bearer ***"
        assert t.server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert t.server.requests[0].headers["x-other"] == f"other-{KEY}"
        assert all(KEY.encode() not in received.raw for received in t.server.requests)
    assert KEY not in caplog.text
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("padding", range(150, 220, 5))
def test_no_part_of_the_key_is_told(padding: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with talk(status(401, "x" * padding + KEY)) as t, pytest.raises(PlannerError) as caught:
        t.plan()
    assert KEY[:4] not in str(caught.value)


def test_a_local_server_needs_no_key() -> None:
    with talk(reply(TEXT)) as t:
        assert t.plan().text == TEXT


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": DEFAULT_BASE_URL},
        {"base_url": "http://127.0.0.1:1/v1", "api_key_env": "MY_KEY"},
        {"base_url": "http://127.0.0.1:1/v1", "headers_env": {"X-Key": "MY_KEY"}},
    ],
)
def test_a_missing_key_names_its_variable(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    backend = make("test-model", Options(**options))
    with pytest.raises(PlannerError, match=r"the environment variable (MY_KEY|OPENAI_API_KEY), .* is not set"):
        backend.reset()
    backend.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "localhost:8000"}, "must be an address such as"),
        ({"base_url": "http://localhost:99999/v1"}, "[Pp]ort"),
        ({"base_url": f"http://me:{KEY}@localhost/v1"}, "base_url holds a user, password or query"),
        ({"headers": {"Authorization": f"Bearer {KEY}"}}, "Authorization is secret"),
        ({"structured_output": "yaml"}, "structured_output 'yaml'"),
        ({"image_format": "gif"}, "image_format 'gif'"),
        ({"max_tokens": 0}, "max_tokens 0"),
        ({"temprature": 1}, "temprature is unknown; allowed: base_url, .*temperature"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        make_planner(PlannerConfig(planner="openai:m", options=options))
    assert KEY not in str(caught.value)


def test_a_missing_library_names_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    backend = make_planner(PlannerConfig(planner="openai:m", options={"base_url": "http://127.0.0.1:1/v1"}))
    with pytest.raises(MissingExtra, match="make extra-openai"):
        backend.reset()
    backend.close()


def test_making_one_does_not_load_the_library() -> None:
    program = (
        "import sys; from homie_planner.config import PlannerConfig; from homie_planner.registry import make_planner; "
        "make_planner(PlannerConfig(planner='openai:m')); print('openai' in sys.modules or 'httpx2' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.stdout == "False\n"


def test_capabilities_are_known_without_a_connection() -> None:
    backend: Backend = make_planner(PlannerConfig(planner="openai:org/model:7b", options={"structured_output": "none"}))
    assert backend.name == "openai:org/model:7b"
    assert (backend.capabilities.images, backend.capabilities.schema, backend.capabilities.repairs) == (
        True,
        False,
        True,
    )
    assert not backend.capabilities.seeds
    assert not backend.capabilities.privileged
    backend.close()
