"""A person in front of the planning page, by real HTTP."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser

WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    text: str
    headers: dict[str, str]


class Page(HTMLParser):
    """What a browser sees: the text, and the fields of the form with their values."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def number(self) -> str:
        found = re.search(r'data-number="(\d+)"', self.html)
        return found[1] if found else ""


@dataclass
class Browser:
    """Loads and answers the page at ``address``. Headers may be forged."""

    address: str
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, place: str = "", **headers: str) -> Response:
        return self._load(urllib.request.Request(self.address + place, headers={**self.headers, **headers}))

    def post(self, place: str = "answer", headers: dict[str, str] | None = None, **fields: str) -> Response:
        body = urllib.parse.urlencode(fields).encode()
        return self._load(urllib.request.Request(self.address + place, body, {**self.headers, **(headers or {})}))

    def question(self) -> Page:
        """The page as soon as it asks something."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            page = Page(self.get().text)
            if page.of("form"):
                return page
            time.sleep(0.02)
        raise TimeoutError("the page asked nothing")

    def answer(self, *subtask: str, model: str = "", analysis: str = "") -> Response:
        """Fill in the form of the next question."""
        action, target, destination = (*subtask, "", "")[:3]
        number = self.question().number
        return self.post(
            number=number, action=action, target=target, destination=destination, model=model, analysis=analysis
        )

    def _load(self, request: urllib.request.Request) -> Response:
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as response:
                return Response(response.status, response.read().decode(), dict(response.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Response(error.code, error.read().decode(), dict(error.headers))
