"""An HTML page as a browser would see it."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """Its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def of(self, name: str) -> list[dict[str, str | None]]:
        """The attributes of each tag of this name."""
        return [attributes for tag, attributes in self.tags if tag == name]

    def classed(self, name: str, *classes: str) -> list[dict[str, str | None]]:
        """Those of them that have all these classes."""
        return [each for each in self.of(name) if set(classes) <= set((each.get("class") or "").split())]

    def assert_self_contained(self) -> None:
        """No script, no event handler, nothing that is loaded from elsewhere."""
        assert not [tag for tag, _ in self.tags if tag in ("script", "link", "iframe", "object", "embed")]
        assert all(not name.startswith("on") for _, attributes in self.tags for name in attributes)
        assert all(str(each["src"]).startswith("data:") for each in self.of("img"))
        assert not any(str(each.get("href")).split(":")[0] in ("http", "https", "javascript") for _, each in self.tags)
