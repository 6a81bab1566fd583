"""The page on which a person plans: a small web server on this machine alone.

It shows one question at a time and takes one answer to it. Only requests that know the token of this server are
answered, and only those that come from its own page may answer, so that no other page in the same browser can plan.
Whatever is shown is text, never markup.
"""

from __future__ import annotations

import base64
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, StrictUndefined, Template

from homie_core import inventory, names
from homie_core.subtask import Subtask
from homie_eval.images import to_jpeg
from homie_planner.backend import Deadline, PlannerCancelled, PlannerTimeout, PlanRequest
from homie_planner.instruction import VIEW_ORDER
from homie_planner.parsing import ReplyError, parse, reply_text

HOST = "127.0.0.1"
MAX_FORM_BYTES = 65_536
_POLL_SECONDS = 0.1
_GOODBYE_SECONDS = 1.5
"""How long the page may take to hear that the episode is over; it asks twice a second."""
_SOCKET_SECONDS = 2.0
_FIELDS = ("action", "target", "destination", "model", "analysis")
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(slots=True)
class _Board:
    """What the page shows, guarded by ``lock``. ``number`` changes with everything that is new on it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    answered: threading.Event = field(default_factory=threading.Event)
    told_over: threading.Event = field(default_factory=threading.Event)
    number: int = 0
    question: PlanRequest | None = None
    answer: str = ""
    over: bool = False


class PlanningPage:
    """The server. `close` gives its port and threads back."""

    def __init__(self, port: int) -> None:
        """Serve on ``port``, 0 for a free one.

        Raises:
            OSError: the port is taken.
        """
        self._board = _Board()
        self._server = _Server((HOST, port), self._board)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="planning page")
        self._thread.start()

    @property
    def address(self) -> str:
        """The URL to open. Its token is the permission to plan."""
        return f"{self._server.origin}/{self._server.token}/"

    def ask(self, request: PlanRequest, deadline: Deadline) -> str:
        """Show ``request`` and wait for the answer, which `homie_planner.parsing` can read.

        Raises:
            PlannerTimeout: nobody answered before the deadline.
            PlannerCancelled: the episode was cancelled meanwhile.
        """
        board = self._board
        with board.lock:
            board.number += 1
            board.question, board.over = request, False
            board.answered.clear()
        try:
            while not board.answered.wait(min(_POLL_SECONDS, deadline.remaining)):
                if deadline.cancelled.is_set():
                    raise PlannerCancelled("cancelled while a person was thinking")
                if not deadline.remaining:
                    raise PlannerTimeout(f"nobody answered step {request.step} on the planning page in time")
            return board.answer
        finally:
            with board.lock:
                board.number += 1
                board.question = None

    def finish(self) -> None:
        """Say that the episode is over."""
        with self._board.lock:
            self._board.number += 1
            self._board.over = True
            self._board.told_over.clear()

    def close(self) -> None:
        """Say that all is over, let an open page hear it, and stop."""
        if not self._thread.is_alive():
            return
        watched = self._server.visited.is_set()
        if not self._board.over:
            self.finish()
        if watched:
            self._board.told_over.wait(_GOODBYE_SECONDS)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them, at most `_SOCKET_SECONDS`

    def __init__(self, place: tuple[str, int], board: _Board) -> None:
        super().__init__(place, _Handler)
        self.board = board
        self.token = secrets.token_urlsafe(24)
        self.origin = f"http://{HOST}:{self.server_port}"
        self.origins = {self.origin, f"http://localhost:{self.server_port}"}
        self.visited = threading.Event()
        self.template = _template()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle is no fault of ours."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SOCKET_SECONDS

    def do_GET(self) -> None:
        place = self._place()
        if place == "":
            self.server.visited.set()
            self._page()
        elif place == "number":
            self._number()
        elif place is not None:
            self._send(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        place = self._place()
        if place is None:
            return
        origin = self.headers.get("Origin")
        if origin is not None and origin not in self.server.origins:
            self._send(HTTPStatus.FORBIDDEN, "answers are taken from this page alone")
            return
        length = self.headers.get("Content-Length", "")
        if place != "answer" or not length.isdecimal() or int(length) > MAX_FORM_BYTES:
            self._send(HTTPStatus.BAD_REQUEST, f"an answer is a form of at most {MAX_FORM_BYTES} bytes")
            return
        form = parse_qs(self.rfile.read(int(length)).decode("utf-8", errors="replace"), keep_blank_values=True)
        self._take({name: values[0].strip() for name, values in form.items()})

    def log_message(self, format: str, *args: object) -> None:
        """Addresses hold the token: they are written nowhere."""

    def _place(self) -> str | None:
        """What is asked for behind the token; None, and an answer, if the request may not ask at all."""
        hosts = {urlsplit(origin).netloc for origin in self.server.origins}
        token, slash, place = urlsplit(self.path).path.removeprefix("/").partition("/")
        known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if self.headers.get("Host") in hosts and known and slash:
            return place
        self._send(HTTPStatus.FORBIDDEN, "this address is not the one that the planner announced")
        return None

    def _number(self) -> None:
        board = self.server.board
        with board.lock:
            number = board.number
        self._send(HTTPStatus.OK, str(number))

    def _take(self, form: Mapping[str, str]) -> None:
        """Take an answer, or show the page again with what is wrong with it and everything that was typed."""
        board = self.server.board
        with board.lock:
            question = board.question
            if question is None or form.get("number") != str(board.number):
                fault = "this step is over; here is what is asked now"
            else:
                fault = _fault(form, question)
                if not fault:
                    board.answer = reply_text(form.get("analysis", ""), _subtask(form, question))
                    board.question = None
                    board.number += 1
                    board.answered.set()
        if fault:
            self._page(fault, form, HTTPStatus.UNPROCESSABLE_ENTITY)
        else:
            self.send_response(HTTPStatus.SEE_OTHER)
            self.send_header("Location", f"/{self.server.token}/")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _page(self, fault: str = "", form: Mapping[str, str] | None = None, status: HTTPStatus = HTTPStatus.OK) -> None:
        board = self.server.board
        with board.lock:
            number, question, over = board.number, board.question, board.over
        values = {name: (form or {}).get(name, "") for name in _FIELDS}
        nonce = secrets.token_urlsafe(16)
        page = self.server.template.render(
            nonce=nonce,
            number=number,
            over=over,
            fault=fault,
            values=values,
            question=None if question is None else _shown(question),
        )
        policy = (
            "default-src 'none'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
            f"script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'"
        )
        self._send(status, page, {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy})
        if over and question is None:
            board.told_over.set()

    def _send(self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None) -> None:
        body = text.encode("utf-8", errors="replace")
        self.send_response(status)
        fields = {"Content-Type": "text/plain; charset=utf-8", **_HEADERS, **(headers or {})}
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    source = files("homie_planner") / "templates" / "planning_page.html.j2"
    return environment.from_string(source.read_text(encoding="utf-8"))


def _subtask(form: Mapping[str, str], question: PlanRequest) -> Subtask:
    """The subtask that was filled in; fields that its verb does not take are left out."""
    action = form.get("action", "")
    verb = question.vocabulary.verb(action)
    arguments = () if verb is None else verb.arguments
    fields = {name: form.get(name, "") for name in arguments}
    return Subtask(action, fields.get("target", ""), fields.get("destination", ""), form.get("model", ""))


def _fault(form: Mapping[str, str], question: PlanRequest) -> str:
    """What is wrong with an answer; empty if nothing is."""
    vocabulary = question.vocabulary
    if vocabulary.verb(form.get("action", "")) is None:
        return f"choose an action: {', '.join(verb.name for verb in vocabulary.verbs)}"
    if form.get("model") and vocabulary.model(form["model"]) is None:
        return f"the model is one of: {', '.join(vocabulary.models)}"
    subtask = _subtask(form, question)
    try:
        read = parse(reply_text(form.get("analysis", ""), subtask), vocabulary).subtask
    except ReplyError as error:
        return str(error)
    if (read.target, read.destination) != (subtask.target, subtask.destination):
        return f"the names are too long or not plain: {read.brackets()} would be read"
    return ""


def _shown(question: PlanRequest) -> dict[str, object]:
    """What the template shows of a question; every value is plain data."""
    seen = [name for step in question.steps for name in (step.subtask.target, step.subtask.destination) if name]
    views = zip(VIEW_ORDER, question.views, strict=False)
    return {
        "task": question.task,
        "step": question.step,
        "views": [(name, _data_url(to_jpeg(view))) for name, view in views],
        "observation": question.observation,
        "inventory": inventory.text(question.inventory),
        "steps": question.steps,
        "feedback": question.feedback,
        "verbs": question.vocabulary.verbs,
        "models": question.vocabulary.models,
        "names": sorted({*seen, *question.inventory, *names.known_categories()}),
    }


def _data_url(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
