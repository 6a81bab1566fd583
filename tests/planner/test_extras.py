"""Libraries that only some planners need."""

import sys
from pathlib import Path

import pytest

from homie_planner.extras import MissingExtra, require


def test_what_is_there_is_imported() -> None:
    assert require("json.decoder", "x").__name__ == "json.decoder"


def test_what_is_missing_names_the_command() -> None:
    with pytest.raises(MissingExtra, match="nowhere is not installed; install it with: make extra-far"):
        require("nowhere.here", "far")


def test_what_is_there_but_does_not_load_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_library.py").write_text("import missing_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_library", raising=False)
    with pytest.raises(MissingExtra, match=r"broken_library cannot be loaded \(No module named 'missing_dependency'\)"):
        require("broken_library", "far")
