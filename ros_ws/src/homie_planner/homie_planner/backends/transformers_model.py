"""A local model through the transformers library, asked by its chat template.

Families without a chat template get the prompt form that LLaVA-1.5 and Video-LLaVA are documented with, ``SYSTEM USER:
<image> TEXT ASSISTANT:``, each picture on a line. Needs the extra ``transformers``; the first `reset` imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jinja2 import TemplateError
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from homie_planner.backend import (
    Capabilities,
    Deadline,
    PlannerCancelled,
    PlannerError,
    PlannerTimeout,
    PlanReply,
    PlanRequest,
    Turn,
)
from homie_planner.chat_reply import clean
from homie_planner.extras import require

_EXTRA = "transformers"
_MARK = "d41e7c"
"""Found in what a template renders exactly if the template has a place for it."""


class Options(BaseModel):
    """How the model is loaded and run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    images: bool = Field(True, description="Whether it is an image-text model; false: a text model")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field("auto", description="Precision of the weights")
    quantization: Literal["none", "8bit", "4bit"] = Field("none", description="By bitsandbytes, if that is installed")
    device_map: str = Field("auto", min_length=1, description="Where the weights go, e.g. auto, cpu or cuda:1")
    attn_implementation: str | None = Field(None, description="E.g. sdpa, eager or flash_attention_2")
    revision: str = Field("main", min_length=1, description="Version of a model that is downloaded")
    local_files_only: bool = Field(False, description="Whether nothing may be downloaded")
    trust_remote_code: bool = Field(False, description="Whether code that comes with the model is run")
    max_new_tokens: int = Field(512, ge=1, description="Longest reply, tokens")
    do_sample: bool = Field(False, description="Whether the reply is drawn, by the seed; false: always the likeliest")
    temperature: float = Field(1.0, gt=0.0, le=2.0, description="Randomness of a drawn reply")
    top_p: float = Field(1.0, gt=0.0, le=1.0, description="Share of likely tokens that is drawn from")
    seed: int | None = Field(None, ge=0, description="Seed of the reply; by default that of the episode")


class _GivenUp(Exception):
    """Nobody waits for the reply any more."""


@dataclass(slots=True)
class _Watch:
    """Called before each layer of the model: ends a generation that is given up, even while the prompt is read."""

    deadline: Deadline | None = None

    def __call__(self, module: object, arguments: object) -> None:
        deadline = self.deadline
        if deadline is not None and (deadline.cancelled.is_set() or not deadline.remaining):
            raise _GivenUp


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A model with what prepares its input. ``processor`` is the tokenizer itself for text models."""

    torch: Any
    model: Any
    processor: Any
    watch: _Watch

    @property
    def tokenizer(self) -> Any:
        return getattr(self.processor, "tokenizer", self.processor)

    @property
    def image_token(self) -> str:
        """Stands in a prompt where a picture goes."""
        return str(getattr(self.processor, "image_token", None) or "<image>")


class TransformersModel:
    """Asks one model; the first `reset` loads it."""

    def __init__(self, model: str, options: Options) -> None:
        self.name = f"transformers:{model}"
        self.capabilities = Capabilities(images=options.images, seeds=True, repairs=True)
        self._model = model
        self._options = options
        self._loaded: _Loaded | None = None

    def reset(self) -> None:
        if self._loaded is None:
            self._loaded = _load(self._model, self._options)

    def close(self) -> None:
        self._loaded = None

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        self.reset()
        loaded = self._loaded
        if loaded is None:
            raise PlannerError("the model is not loaded")
        torch, options, seconds = loaded.torch, self._options, deadline.remaining
        seed = request.seed if options.seed is None else options.seed
        loaded.watch.deadline = deadline
        try:
            inputs = prepare(loaded, request)
            drawn = {"temperature": options.temperature, "top_p": options.top_p} if options.do_sample else {}
            with torch.inference_mode(), torch.random.fork_rng(devices=_gpus(torch)):
                torch.manual_seed(seed % 2**63)
                tokens = loaded.model.generate(
                    **inputs, max_new_tokens=options.max_new_tokens, do_sample=options.do_sample, **drawn
                )
        except _GivenUp:
            if deadline.cancelled.is_set():
                raise PlannerCancelled("cancelled while the model was at work") from None
            raise PlannerTimeout(f"no reply within {seconds:.1f} s") from None
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise PlannerError(f"the GPU is out of memory: {_first_line(error)}") from error
        finally:
            loaded.watch.deadline = None
        tokens_in = int(inputs["input_ids"].shape[1])
        reply = tokens[0, tokens_in:]
        ends = loaded.model.generation_config.eos_token_id
        ended = int(reply[-1]) in (ends if isinstance(ends, list) else [ends])
        return PlanReply(
            clean(loaded.tokenizer.decode(reply, skip_special_tokens=True)),
            tokens_in,
            len(reply),
            requests=1,
            note="" if ended else f"the reply ended at max_new_tokens {options.max_new_tokens}",
        )


def prepare(loaded: _Loaded, request: PlanRequest) -> Any:
    """The model's input for a request.

    Raises:
        PlannerError: not all pictures have a place in it.
    """
    turns = [Turn(turn.role, turn.text.replace(loaded.image_token, ""), turn.views) for turn in request.turns]
    pictures = [Image.fromarray(view) for turn in turns for view in turn.views]
    has_template = getattr(loaded.processor, "chat_template", None) is not None
    text = (_by_template if has_template else _by_form)(loaded, request.system, turns)
    places = text.count(loaded.image_token) if pictures else 0
    if places != len(pictures):
        raise PlannerError(f"the model's chat template has places for {places} of {len(pictures)} pictures")
    start = loaded.tokenizer.bos_token
    texts = {"text": [text], "return_tensors": "pt", "add_special_tokens": not (start and text.startswith(start))}
    if not pictures:
        return loaded.processor(**texts).to(loaded.model.device)
    return loaded.processor(**texts, images=pictures).to(loaded.model.device, dtype=loaded.model.dtype)


def _by_template(loaded: _Loaded, system: str, turns: Sequence[Turn]) -> str:
    """The conversation in the model's own form; without a role for it, the system text begins the first turn."""
    parts = loaded.processor is not loaded.tokenizer
    if _has_system_role(loaded, parts):
        messages = [_message("system", system, 0, parts)]
    else:
        messages = []
        turns = _with_system(system, turns)
    messages += [_message(turn.role, turn.text, len(turn.views), parts) for turn in turns]
    return str(loaded.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def _has_system_role(loaded: _Loaded, parts: bool) -> bool:
    messages = [_message("system", _MARK, 0, parts), _message("user", "", 0, parts)]
    try:
        return _MARK in loaded.processor.apply_chat_template(messages, tokenize=False)
    except TemplateError:  # how templates refuse a role
        return False


def _message(role: str, text: str, pictures: int, parts: bool) -> dict[str, Any]:
    if not parts:
        return {"role": role, "content": text}
    return {"role": role, "content": [*({"type": "image"} for _ in range(pictures)), {"type": "text", "text": text}]}


def _by_form(loaded: _Loaded, system: str, turns: Sequence[Turn]) -> str:
    """The conversation as LLaVA-1.5 was trained."""
    end = loaded.tokenizer.eos_token or ""
    texts = [system.strip()]
    for turn in turns:
        places = f"{loaded.image_token}\n" * len(turn.views)
        texts.append(f"USER: {places}{turn.text}" if turn.role == "user" else f"ASSISTANT: {turn.text}{end}")
    return " ".join([*texts, "ASSISTANT:"])


def _with_system(system: str, turns: Sequence[Turn]) -> list[Turn]:
    first, *others = turns
    return [Turn(first.role, f"{system}\n{first.text}", first.views), *others]


def _load(name: str, options: Options) -> _Loaded:
    torch = require("torch", _EXTRA)
    library = require("transformers", _EXTRA)
    library.utils.logging.disable_progress_bar()
    place = {
        "revision": options.revision,
        "local_files_only": options.local_files_only,
        "trust_remote_code": options.trust_remote_code,
    }
    weights = {"dtype": options.dtype, "device_map": options.device_map}
    if options.attn_implementation is not None:
        weights["attn_implementation"] = options.attn_implementation
    if options.quantization != "none":
        weights["quantization_config"] = _quantization(torch, library, options)
    try:
        reader = library.AutoProcessor if options.images else library.AutoTokenizer
        kind = library.AutoModelForImageTextToText if options.images else library.AutoModelForCausalLM
        processor = reader.from_pretrained(name, **place)
        model = kind.from_pretrained(name, **weights, **place).eval()
    except torch.OutOfMemoryError as error:
        raise PlannerError(f"{name} cannot be loaded: the GPU is out of memory: {_first_line(error)}") from error
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise PlannerError(f"{name} cannot be loaded: {_first_line(error)}") from error
    watch = _Watch()
    model.register_forward_pre_hook(watch)
    for layers in model.modules():
        if isinstance(layers, torch.nn.ModuleList):
            for layer in layers:
                layer.register_forward_pre_hook(watch)
    return _Loaded(torch, model, processor, watch)


def _quantization(torch: Any, library: Any, options: Options) -> Any:
    if options.quantization == "8bit":
        return library.BitsAndBytesConfig(load_in_8bit=True)
    compute = torch.bfloat16 if options.dtype == "auto" else getattr(torch, options.dtype)
    return library.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute)


def _gpus(torch: Any) -> list[int]:
    return list(range(torch.cuda.device_count()))


def _first_line(error: Exception) -> str:
    lines = (" ".join(line.split()) for line in str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)


def make(argument: str, options: Options) -> TransformersModel:
    """The model with this name on the model hub, or in this folder."""
    return TransformersModel(argument, options)
