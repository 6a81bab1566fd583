"""The planner ``transformers``: real processors and the real `generate`, with tiny models of random weights."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from homie_core.episode import Outcome
from homie_core.errors import ErrorCode
from homie_planner.backend import (
    Backend,
    Deadline,
    PlannerCancelled,
    PlannerError,
    PlannerTimeout,
    PlanRequest,
    Turn,
)
from homie_planner.config import PlannerConfig
from homie_planner.instruction import InstructionOptions, ObservationKind
from homie_planner.loop import EpisodeLoop, Observed
from homie_planner.registry import make_planner
from support import tiny_models
from support.bags import picture
from support.episodes import InstantPorts, Log, episode_info
from support.toy_house import ToyWorld

VIEWS = tuple(picture(seed, 64, 64) for seed in range(4))
REQUEST = PlanRequest(task="tidy up", system="SYSTEM", prompt="PROMPT", views=VIEWS, seed=7)
FAMILIES = {"qwen2_vl": tiny_models.qwen2_vl, "llava": tiny_models.llava, "video_llava": tiny_models.video_llava}
SHORT = {"max_new_tokens": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.qwen2_vl(tmp_path_factory.mktemp("qwen2_vl"))


def planner(folder: Path, **options: Any) -> Backend:
    observation = "images" if options.get("images", True) else "text"
    backend = make_planner(
        PlannerConfig(
            planner=f"transformers:{folder}",
            options={"local_files_only": True, **options},
            instruction=InstructionOptions(observation=ObservationKind(observation)),
        )
    )
    backend.reset()
    return backend


class Entrance:
    """Keeps what enters a model."""

    def __init__(self, backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.inputs: list[dict[str, Any]] = []
        self._model = backend._loaded.model
        self._tokenizer = backend._loaded.tokenizer
        generate = self._model.generate

        def listen(**inputs: Any) -> Any:
            self.inputs.append(inputs)
            return generate(**inputs)

        monkeypatch.setattr(self._model, "generate", listen)

    @property
    def text(self) -> str:
        return str(self._tokenizer.decode(self.inputs[-1]["input_ids"][0]))


class FourViews(InstantPorts):
    def observe(self) -> Observed:
        return Observed(self.world.state.stamp, VIEWS)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_episode_goes_on_to_its_step_limit_whatever_the_model_writes(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = planner(FAMILIES[family](tmp_path), **SHORT)
    entrance = Entrance(backend, monkeypatch)
    ports, log = FourViews(ToyWorld()), Log()
    result = EpisodeLoop(ports, ports, log, backend).run(episode_info(max_steps=2))
    assert (result.outcome, result.steps, result.cause) == (Outcome.STEP_LIMIT, 2, "")
    assert [step.error_code for step in log.steps] == [ErrorCode.NOT_IN_LIST] * 2
    for step in log.steps:
        assert step.requests == 2, "an unreadable reply is shown to the model once"
        assert "asked again" in step.note and "the reply ended at max_new_tokens 8" in step.note
        assert step.tokens_out == 2 * SHORT["max_new_tokens"]
        assert step.tokens_in > 2000  # a byte is a token
    assert len(entrance.inputs) == 4
    assert all(four_different_pictures(inputs) for inputs in entrance.inputs)


def four_different_pictures(inputs: dict[str, Any]) -> bool:
    """Whether the values of four pictures, all different, are among the inputs."""
    values = inputs.get("pixel_values_images", inputs.get("pixel_values"))
    assert values is not None
    pictures = [values[index] for index in range(4)] if len(values) == 4 else values.chunk(4)
    different = [not first.equal(second) for place, first in enumerate(pictures) for second in pictures[:place]]
    return len(pictures) == 4 and all(different)


def test_the_pictures_come_in_their_order_before_the_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = planner(folder, **SHORT)
    entrance = Entrance(backend, monkeypatch)
    backend.plan(REQUEST, Deadline.after(60))
    turned = replace(REQUEST, views=VIEWS[1:] + VIEWS[:1])
    backend.plan(turned, Deadline.after(60))
    assert entrance.inputs[0]["image_grid_thw"].tolist() == [[1, 4, 4]] * 4
    before, after = (inputs["pixel_values"].chunk(4) for inputs in entrance.inputs)
    assert all(first.equal(second) for first, second in zip(before[1:] + before[:1], after, strict=True))
    view = "<|vision_start|>" + "<|image_pad|>" * 4 + "<|vision_end|>"
    assert entrance.text == (
        f"<|im_start|>system\nSYSTEM<|im_end|>\n<|im_start|>user\n{4 * view}PROMPT<|im_end|>\n<|im_start|>assistant\n"
    )


def test_repair_turns_follow_and_words_of_the_model_are_no_pictures(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = planner(folder, **SHORT)
    entrance = Entrance(backend, monkeypatch)
    turns = (Turn("assistant", "what<|image_pad|>"), Turn("user", "again"))
    backend.plan(replace(REQUEST, repair=turns), Deadline.after(60))
    ending = "<|im_start|>assistant\nwhat<|im_end|>\n<|im_start|>user\nagain<|im_end|>\n<|im_start|>assistant\n"
    assert entrance.text.endswith(ending)
    assert len(entrance.inputs[0]["image_grid_thw"]) == 4


def test_a_family_without_a_template_is_asked_as_it_is_documented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = planner(tiny_models.llava(tmp_path), **SHORT)
    entrance = Entrance(backend, monkeypatch)
    backend.plan(REQUEST, Deadline.after(60))
    places = ("<image>" * 4 + "\n") * 4  # four tokens for each picture
    assert entrance.text == f"SYSTEM USER: {places}PROMPT ASSISTANT:"


def test_a_template_without_a_system_role_gets_that_text_in_front(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_models.qwen2_vl(tmp_path)
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    (folder / "chat_template.jinja").write_text(refusing + tiny_models.CHATML)
    backend = planner(folder, **SHORT)
    entrance = Entrance(backend, monkeypatch)
    backend.plan(REQUEST, Deadline.after(60))
    assert entrance.text.startswith("<|im_start|>user\n")
    assert "SYSTEM\nPROMPT<|im_end|>" in entrance.text


def test_a_template_that_leaves_pictures_out_is_an_error(tmp_path: Path) -> None:
    folder = tiny_models.qwen2_vl(tmp_path)
    (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content[-1].text }}{% endfor %}")
    with pytest.raises(PlannerError, match="has places for 0 of 4 pictures"):
        planner(folder, **SHORT).plan(REQUEST, Deadline.after(60))


def test_without_pictures_only_the_text_enters(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = planner(folder, **SHORT)
    entrance = Entrance(backend, monkeypatch)
    backend.plan(replace(REQUEST, views=()), Deadline.after(60))
    assert "pixel_values" not in entrance.inputs[0]


def test_a_text_model_is_asked_by_its_tokenizers_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = planner(tiny_models.llama(tmp_path), images=False, **SHORT)
    assert not backend.capabilities.images
    entrance = Entrance(backend, monkeypatch)
    backend.plan(replace(REQUEST, views=()), Deadline.after(60))
    assert entrance.text == "system: SYSTEM\nuser: PROMPT\nassistant:"


def test_the_seed_makes_the_reply_and_leaves_the_global_state_alone(folder: Path) -> None:
    import torch

    backend = planner(folder, do_sample=True, temperature=1.5, max_new_tokens=16)
    before = torch.get_rng_state()
    texts = [backend.plan(replace(REQUEST, seed=seed), Deadline.after(60)).text for seed in (7, 7, 8)]
    assert texts[0] == texts[1] != texts[2]
    assert torch.equal(torch.get_rng_state(), before)
    fixed = planner(folder, do_sample=True, temperature=1.5, max_new_tokens=16, seed=7)
    assert fixed.plan(replace(REQUEST, seed=8), Deadline.after(60)).text == texts[0]


def test_the_deadline_ends_a_generation(folder: Path) -> None:
    backend = planner(folder, max_new_tokens=20_000)
    started = time.monotonic()
    with pytest.raises(PlannerTimeout, match="no reply within"):
        backend.plan(REQUEST, Deadline.after(1.0))
    assert time.monotonic() - started < 10


def test_a_cancelled_episode_ends_a_generation(folder: Path) -> None:
    backend = planner(folder, max_new_tokens=20_000)
    deadline = Deadline.after(120)
    timer = threading.Timer(0.5, deadline.cancelled.set)
    timer.start()
    with pytest.raises(PlannerCancelled):
        backend.plan(REQUEST, deadline)
    timer.join()
    assert deadline.remaining > 60


def test_a_full_gpu_is_a_planner_failure_with_its_cause(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def full(**inputs: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nMore")

    backend: Any = planner(folder, **SHORT)
    monkeypatch.setattr(backend._loaded.model, "generate", full)
    ports, log = FourViews(ToyWorld()), Log()
    result = EpisodeLoop(ports, ports, log, backend).run(episode_info(max_steps=2))
    assert result.outcome is Outcome.PLANNER_FAILURE
    assert "the GPU is out of memory: CUDA out of memory. Tried to allocate 2 GiB." in result.cause
    assert log.steps == []


def test_precision_is_an_option(folder: Path) -> None:
    import torch

    backend: Any = planner(folder, dtype="bfloat16", **SHORT)
    assert backend._loaded.model.dtype is torch.bfloat16
    assert backend.plan(REQUEST, Deadline.after(60)).tokens_out == SHORT["max_new_tokens"]


def test_what_cannot_be_loaded_is_one_line(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(PlannerError, match="cannot be loaded") as error:
        planner(tmp_path)
    assert "\n" not in str(error.value)
    assert str(tmp_path) in str(error.value)
