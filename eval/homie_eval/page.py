"""What all HTML pages share: the templates, how they are filled, and how a page gets its place.

Every value is text in a page, never markup, unless it is a `markupsafe.Markup`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_TEMPLATES = "templates"


@cache
def _environment() -> Environment:
    """One for the process: to compile a template takes as long as to fill it ten times."""
    return Environment(
        loader=PackageLoader("homie_eval", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(template: str, styles: Sequence[str], **values: object) -> str:
    """Fill ``template`` with ``values``; ``styles`` are the names of its style sheets."""
    folder = files("homie_eval") / _TEMPLATES
    style = Markup("\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in styles))  # noqa: S704
    return _environment().get_template(template).render(style=style, **values)


def write_page(path: Path, page: str) -> None:
    """Write a page. It takes the place of an older one at once: that one may be open, or linked from another run.

    Raises:
        OSError: the file cannot be written.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(page, encoding="utf-8", errors="replace")
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def pretty_json(text: str) -> str:
    """JSON with line breaks; anything else as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except json.JSONDecodeError:
        return text
