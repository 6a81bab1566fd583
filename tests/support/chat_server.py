"""A small server of OpenAI's chat completions on a free port, which does what its script says: well or badly."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

ENDLESS_SECONDS = 60.0
"""How long the endless behaviours go on if nobody hangs up."""


@dataclass(frozen=True)
class Received:
    """One request: its path, its headers (names in lower case), its body, and the body's bytes."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes


class Exchange:
    """One request and the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, received: Received, number: int, closing: threading.Event):
        self.received = received
        self.number = number
        self._handler = handler
        self._closing = closing

    @property
    def streamed(self) -> bool:
        """Whether the reply is wanted piece by piece."""
        return bool(self.received.body.get("stream"))

    def answer(
        self, status: int, body: bytes, content_type: str = "application/json", headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        self.begin(status, content_type, {"Content-Length": str(len(body)), **(headers or {})})
        self.send(body)

    def json(self, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
        self.answer(status, json.dumps(value).encode(), headers=headers)

    def begin(self, status: int, content_type: str, headers: Mapping[str, str] | None = None) -> None:
        """Status and headers; without a content length the connection's end is the answer's end."""
        self._handler.send_response(status)
        self._handler.send_header("Content-Type", content_type)
        for name, value in (headers or {}).items():
            self._handler.send_header(name, value)
        if "Content-Length" not in (headers or {}) and "Transfer-Encoding" not in (headers or {}):
            self._handler.send_header("Connection", "close")
            self._handler.close_connection = True
        self._handler.end_headers()

    def begin_stream(self, chunked: bool = False) -> None:
        self.begin(200, "text/event-stream", {"Transfer-Encoding": "chunked"} if chunked else None)

    def send(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()

    def event(self, value: object) -> None:
        """One event of a stream."""
        self.send(f"data: {json.dumps(value)}\n\n".encode())

    def wait(self, seconds: float) -> bool:
        """Whether there is still somebody to serve after ``seconds``."""
        return not self._closing.wait(seconds)

    def drop(self) -> None:
        """Cut the connection."""
        self._handler.close_connection = True
        with suppress(OSError):
            self._handler.connection.shutdown(socket.SHUT_RDWR)


Behaviour = Callable[[Exchange], None]


class ChatServer:
    """Answers the n-th request by the n-th behaviour, and all further ones by the last. Use as a context manager."""

    def __init__(self, *script: Behaviour) -> None:
        self.script = script
        self.requests: list[Received] = []
        self.handling_seconds: list[float] = []
        """From a request's last byte to its answer's last."""
        self.hung_up = threading.Event()
        """Set when a client has gone before its answer was complete."""
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler_class())
        self._server.daemon_threads = False  # closing waits for them
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="chat_server")

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length", "0")))
        began = time.perf_counter()
        headers = {name.lower(): value for name, value in handler.headers.items()}
        received = Received(handler.path, headers, json.loads(raw), raw)
        with self._lock:
            self.requests.append(received)
            number = len(self.requests)
        try:
            self.script[min(number, len(self.script)) - 1](Exchange(handler, received, number, self._closing))
        except OSError:
            self.hung_up.set()
            handler.close_connection = True
        with self._lock:
            self.handling_seconds.append(time.perf_counter() - began)

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                with server._lock:
                    server._connections.add(self.request)
                super().setup()

            def finish(self) -> None:
                with suppress(OSError):
                    super().finish()
                with server._lock:
                    server._connections.discard(self.request)

            def handle(self) -> None:
                with suppress(ConnectionError):
                    super().handle()

            def do_POST(self) -> None:
                server._handle(self)

            def log_message(self, format: str, *args: object) -> None:
                """Tests look at the requests themselves."""

        return Handler


USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


def completion(text: str | None, finish_reason: str = "stop", **message: object) -> dict[str, Any]:
    """A whole reply."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish_reason}
    return {"id": "r", "object": "chat.completion", "model": "test-model", "choices": [choice], "usage": USAGE}


def chunk(text: str | None = None, finish_reason: str | None = None, **delta: object) -> dict[str, Any]:
    """A piece of a reply."""
    choice = {"index": 0, "delta": {**delta, **({"content": text} if text else {})}, "finish_reason": finish_reason}
    return {"id": "r", "object": "chat.completion.chunk", "model": "test-model", "choices": [choice]}


def reply(text: str, finish_reason: str = "stop") -> Behaviour:
    """Answers as a model would, in pieces if that is wanted."""

    def behave(exchange: Exchange) -> None:
        if not exchange.streamed:
            exchange.json(200, completion(text, finish_reason))
            return
        pieces = [text[start : start + 40] for start in range(0, len(text), 40)]
        events = [chunk(role="assistant"), *map(chunk, pieces), chunk(finish_reason=finish_reason)]
        lines = [f"data: {json.dumps(event)}\n\n" for event in (*events, {"choices": [], "usage": USAGE})]
        exchange.answer(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream; charset=utf-8")

    return behave


def replies(*texts: str) -> list[Behaviour]:
    return [reply(text) for text in texts]


def status(number: int, message: str = "not now", headers: Mapping[str, str] | None = None, **error: str) -> Behaviour:
    """An error in OpenAI's form."""
    return lambda exchange: exchange.json(number, {"error": {"message": message, **error}}, headers)


def page(code: int, html: str, headers: Mapping[str, str] | None = None) -> Behaviour:
    """What a proxy or a captive portal answers."""
    return lambda exchange: exchange.answer(code, html.encode(), "text/html", headers)


def body(data: bytes, content_type: str = "application/json") -> Behaviour:
    return lambda exchange: exchange.answer(200, data, content_type)


def late(seconds: float, then: Behaviour) -> Behaviour:
    """Says nothing for so long."""

    def behave(exchange: Exchange) -> None:
        if exchange.wait(seconds):
            then(exchange)

    return behave


def drip(text: str, seconds: float) -> Behaviour:
    """A character each ``seconds``, over and over."""

    def behave(exchange: Exchange) -> None:
        exchange.begin_stream()
        for _ in range(int(ENDLESS_SECONDS / seconds)):
            for character in text:
                exchange.event(chunk(character))
                if not exchange.wait(seconds):
                    return

    return behave


def stream(events: Iterable[object], finish: bytes = b"data: [DONE]\n\n") -> Behaviour:
    """These events."""

    def behave(exchange: Exchange) -> None:
        exchange.begin_stream()
        for event in events:
            exchange.event(event)
        exchange.send(finish)

    return behave


def endless(text: str) -> Behaviour:
    """The same text again and again, as fast as it goes."""

    def behave(exchange: Exchange) -> None:
        exchange.begin_stream()
        until = time.monotonic() + ENDLESS_SECONDS
        while time.monotonic() < until and exchange.wait(0):
            exchange.event(chunk(text))

    return behave


def endless_bytes(data: bytes, content_type: str = "application/json", code: int = 200) -> Behaviour:
    """The same bytes again and again."""

    def behave(exchange: Exchange) -> None:
        exchange.begin(code, content_type)
        until = time.monotonic() + ENDLESS_SECONDS
        while time.monotonic() < until and exchange.wait(0):
            exchange.send(data)

    return behave


def drop(exchange: Exchange) -> None:
    """Cuts the connection instead of an answer."""
    exchange.drop()


def drop_in_the_middle(text: str) -> Behaviour:
    """Cuts the connection inside a chunked stream, after ``text``."""

    def behave(exchange: Exchange) -> None:
        exchange.begin_stream(chunked=True)
        data = f"data: {json.dumps(chunk(text))}\n\n".encode()
        exchange.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        exchange.drop()

    return behave


@dataclass
class Gate:
    """A behaviour that waits until it is let through, and counts how many wait at a time."""

    then: Behaviour
    waiting: int = 0
    most: int = 0
    opened: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, exchange: Exchange) -> None:
        with self._lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
        try:
            self.opened.wait(ENDLESS_SECONDS)
        finally:
            with self._lock:
                self.waiting -= 1
        self.then(exchange)
