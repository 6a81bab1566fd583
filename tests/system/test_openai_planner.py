"""``homie demo --planner openai:MODEL`` with a real HTTP server in the place of the model."""

import base64
import io
import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from homie_core.episode import Outcome
from homie_eval.bag import Bag, read_bag
from homie_eval.images import from_image
from homie_eval.trajectory import Trajectory
from homie_planner.instruction import SYSTEM_TEXT, VIEW_ORDER
from support import chat_server
from support.chat_server import ChatServer, Received, replies
from support.system_support import Finished, clean_environment, demo_command, only_run, run_demo

pytest.importorskip("openai")

KEY = "sk-very-secret-0123456789"
PLAN = (
    ("Go to", "fridge", "", "NoMaD"),
    ("Open", "fridge", "", "octo"),
    ("Go to", "green can", "", "PixNav"),
    ("Pick", "green can", "", "RT-1-X"),
    ("Go to", "fridge", "", "NoMaD"),
    ("Put", "green can", "fridge", "RT-1-X"),
    ("End", "", "", "octo"),
)


def step_text(action: str, target: str, destination: str, model: str) -> str:
    fields = {"action": action, "target": target, "destination": destination}
    return json.dumps({"analysis": f"I {action.lower()} {target}.", "subtask": fields, "model": model})


@dataclass(frozen=True)
class Asked:
    run: Finished
    requests: list[Received]

    @property
    def trajectory(self) -> Trajectory:
        (trajectory,) = read_bag(self.run.folder / "bag").trajectories
        return trajectory


def arguments(server: ChatServer, *more: str) -> tuple[str, ...]:
    address = f"options.base_url={server.base_url}"
    planner = ("--planner", "openai:test-model", "--planner-option", address)
    return (*planner, "--skills", "oracle", "--video-fps", "0", *more)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    with ChatServer(*replies(*(step_text(*step) for step in PLAN))) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        prices = ("--planner-option", "prices={input: 2.5, output: 10}")
        run = run_demo(tmp_path_factory.mktemp("openai"), *arguments(server, *prices))
    return Asked(run, server.requests)


def test_the_task_is_done(asked: Asked) -> None:
    assert asked.run.code == 0, asked.run.output
    summary = json.loads((asked.run.folder / "run.json").read_text())
    assert (summary["outcome"], summary["score"]["TP"]) == ("ended", 1.0)
    steps = asked.trajectory.steps
    assert all(step.success for step in steps)
    assert [step.subtask.action for step in steps] == [step[0] for step in PLAN]
    assert [step.raw_output for step in steps] == [step_text(*step) for step in PLAN]
    assert {(step.tokens_in, step.tokens_out, step.requests) for step in steps} == {(11, 5, 1)}
    assert steps[0].cost_usd == pytest.approx((11 * 2.5 + 5 * 10) / 1e6)
    assert asked.trajectory.info.planner == "openai:test-model"


def pictures(request: Received) -> list[NDArray[np.uint8]]:
    content = request.body["messages"][-1]["content"]
    found = []
    for part in content:
        if part["type"] == "image_url":
            head, _, data = part["image_url"]["url"].partition(",")
            assert head == "data:image/jpeg;base64"
            with Image.open(io.BytesIO(base64.b64decode(data))) as image:
                found.append(np.asarray(image.convert("RGB")))
    return found


def observed(run: Finished) -> list[dict[str, NDArray[np.uint8]]]:
    with Bag(run.folder / "bag") as bag:
        messages = [record.decode() for record in bag.records("observation")]
    return [
        {name: from_image(view) for name, view in zip(message.view_names, message.views, strict=True)}
        for message in messages
    ]


def test_each_request_has_exactly_the_four_views_in_the_papers_order(asked: Asked) -> None:
    observations = observed(asked.run)
    assert len(asked.requests) == len(observations) == len(PLAN)
    for request, observation in zip(asked.requests, observations, strict=True):
        sent = pictures(request)
        assert len(sent) == 4
        assert len({view.tobytes() for view in sent}) == 4
        for name, view in zip(VIEW_ORDER, sent, strict=True):
            assert view.shape == (256, 256, 3)
            differences = {other: np.abs(view - observation[other].astype(int)).mean() for other in VIEW_ORDER}
            assert differences[name] < 2  # of 255: JPEG
            assert min(differences, key=lambda other: differences[other]) == name


def test_each_request_has_the_papers_text_and_nothing_else(asked: Asked) -> None:
    state = asked.trajectory.final_state
    assert state is not None
    ids = [thing.id for thing in state.objects if re.search(r"_\d+\Z", thing.id)]
    assert "potted_meat_can_1" in ids
    for request, step in zip(asked.requests, asked.trajectory.steps, strict=True):
        system, user = request.body["messages"]
        assert system == {"role": "system", "content": SYSTEM_TEXT}
        text, *images = user["content"]
        assert set(text) == {"type", "text"}
        assert {image["type"] for image in images} == {"image_url"}
        assert system["content"] in step.prompt
        assert step.prompt.endswith(text["text"])
        assert text["text"].startswith("Task: ")
        words = without_pictures(request)
        assert not [name for name in ids if name in words]
        assert "task_json" not in words
        assert set(request.body) == {
            "model", "messages", "max_tokens", "seed", "stream", "stream_options", "response_format",
        }  # fmt: skip


def without_pictures(request: Received) -> str:
    body: dict[str, Any] = json.loads(request.raw)
    body["messages"][-1]["content"] = body["messages"][-1]["content"][:1]
    return json.dumps(body)


def test_the_key_is_in_a_header_and_nowhere_else(asked: Asked) -> None:
    assert {request.headers["authorization"] for request in asked.requests} == {f"Bearer {KEY}"}
    assert all(KEY.encode() not in request.raw for request in asked.requests)
    assert KEY not in asked.run.output
    files = [path for path in asked.run.folder.rglob("*") if path.is_file()]
    assert {"run.json", "report.html"} <= {path.name for path in files}
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    with Bag(asked.run.folder / "bag") as bag:  # its chunks are compressed
        suffixes = [topic.name.strip("/") for topic in bag.topics]
        records = list(bag.records(*suffixes))
    assert len(records) > len(PLAN)
    assert not [record for record in records if KEY.encode() in record.data]
    assert KEY not in asked.trajectory.info.configuration_json


def test_a_server_that_refuses_is_a_planner_failure(tmp_path: Path) -> None:
    with ChatServer(chat_server.status(401, "Incorrect API key provided")) as server:
        run = run_demo(tmp_path, *arguments(server))
    assert run.code == 0, run.output
    (trajectory,) = read_bag(run.folder / "bag").trajectories
    assert trajectory.result is not None
    assert trajectory.result.outcome is Outcome.PLANNER_FAILURE
    assert trajectory.result.cause == (
        f"openai:test-model: test-model at {server.base_url}: HTTP 401: Incorrect API key provided"
    )


def test_a_wrong_option_is_one_line_before_anything_starts(tmp_path: Path) -> None:
    command = demo_command(tmp_path / "runs", "--planner", "openai:m", "--planner-option", "options.temprature=0")
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, env=clean_environment())
    assert done.returncode == 2
    assert "temprature is unknown; allowed: base_url" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("layout", [[], ["--processes"]], ids=["composed", "processes"])
def test_ctrl_c_during_a_slow_reply(layout: list[str], tmp_path: Path) -> None:
    go, *_ = PLAN
    never = chat_server.late(120, chat_server.reply(step_text(*go)))
    with ChatServer(chat_server.reply(step_text(*go)), never) as server:
        process = subprocess.Popen(
            demo_command(tmp_path, *arguments(server, *layout)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean_environment(),
        )
        try:
            until = time.monotonic() + 120
            while len(server.requests) < 2 and process.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            assert len(server.requests) == 2
            time.sleep(0.5)
            began = time.monotonic()
            os.kill(process.pid, signal.SIGINT)
            output, _ = process.communicate(timeout=60)
            assert time.monotonic() - began < 20
            assert process.returncode == 130, output
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
    (trajectory,) = read_bag(only_run(tmp_path) / "bag").trajectories
    assert trajectory.result is not None
    assert trajectory.result.outcome is Outcome.CANCELLED
    assert len(trajectory.steps) == 1
