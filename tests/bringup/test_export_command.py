"""``homie export`` with texts that a model writes anew."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from homie_bringup.export_command import REWRITING, run_export
from homie_bringup.settings import SettingsError
from support.chat_server import ChatServer, Exchange, completion
from support.demonstrations import CLEAN_SOFA


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    path = tmp_path / "set" / "data" / "train" / "21"
    path.mkdir(parents=True)
    (path / "info.txt").write_text(CLEAN_SOFA)
    (path / "keypath.json").write_text('[["[Pick, cracker_box]", "[End]"]]')
    return tmp_path / "set"


def export(form: str, source: Path, target: Path, rewriter: str = "", options: tuple[str, ...] = ()) -> None:
    run_export(
        form,
        source,
        target,
        Console(quiet=True),
        successful=False,
        rewriter=rewriter,
        rewriter_options=options,
        variants=2,
    )


def say_it_differently(exchange: Exchange) -> None:
    text = exchange.received.body["messages"][-1]["content"]
    exchange.json(200, completion(f"In other words: {text} ({exchange.number})"))


def test_a_model_writes_task_and_analysis_anew(data_set: Path, tmp_path: Path) -> None:
    with ChatServer(say_it_differently) as server:
        options = (f"options.base_url={server.base_url}", "options.stream=false")
        export("sft", data_set, tmp_path / "sft", "openai:test-model", options)
    records = json.loads((tmp_path / "sft" / "sft.json").read_text())
    assert len(records) == 5 * 3
    # The task and the six analyses, twice; in plain text, with the paper's instruction.
    assert len(server.requests) == 7 * 2
    assert all("response_format" not in request.body for request in server.requests)
    assert all(request.body["messages"][0]["content"] == REWRITING for request in server.requests)
    assert sum("Task: In other words: clean up the blue sofa" in json.dumps(record) for record in records) == 10


def test_what_writes_no_text_is_no_rewriter(data_set: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'expert' is no model that writes text"):
        export("dpo", data_set, tmp_path / "dpo", "expert")
    assert not (tmp_path / "dpo").exists()


@pytest.mark.parametrize("form", ["videos", "lerobot"])
def test_what_teaches_skills_needs_a_physical_run(data_set: Path, tmp_path: Path, form: str) -> None:
    with pytest.raises(SettingsError, match="there is nothing to export: train/21 is left out: it has no bag"):
        export(form, data_set, tmp_path / form)
    assert not (tmp_path / form).exists()
