"""A corpus of replies, each with what has to be read in it or why nothing can be: ``replies/*.yaml``.

An entry has a ``text`` (with ``repeat`` and ``times``: the text and then that many repetitions) and either the
``subtask`` as a list with ``model``, empty where not given, and maybe the whole ``analysis`` and a part of the
``note`` (empty: no note at all), or a part of the ``error``.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from homie_core.subtask import Subtask
from homie_planner.parsing import ReplyError, parse

FOLDER = Path(__file__).parent / "replies"
KEYS = {"name", "text", "repeat", "times", "subtask", "model", "analysis", "note", "error"}
ENTRIES = [
    pytest.param(entry, id=f"{path.stem}: {entry['name']}")
    for path in sorted(FOLDER.glob("*.yaml"))
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
]


def test_the_corpus_is_large_enough_and_well_formed() -> None:
    entries = [dict(parameters.values[0]) for parameters in ENTRIES]  # type: ignore[call-overload]
    assert len(entries) >= 150
    assert len({parameters.id for parameters in ENTRIES}) == len(entries)
    assert all(set(entry) <= KEYS and ("subtask" in entry) != ("error" in entry) for entry in entries)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_reply_is_read_as_expected(entry: dict[str, Any]) -> None:
    text = entry["text"] + entry.get("repeat", "") * entry.get("times", 0)
    if "error" in entry:
        with pytest.raises(ReplyError) as error:
            parse(text)
        assert entry["error"] in str(error.value)
        return
    decision = parse(text)
    assert decision.subtask == replace(Subtask(*entry["subtask"]), model=entry.get("model", ""))
    if "analysis" in entry:
        assert decision.analysis == entry["analysis"]
    if "note" in entry:
        assert entry["note"] in decision.note
        assert entry["note"] or not decision.note
