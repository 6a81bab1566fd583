"""Small image-text models with random weights, made from their configurations: nothing is downloaded."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import pytest

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""The chat template of Qwen2-VL, without videos."""

_END, _PAD, _IMAGE, _VIDEO = "<|im_end|>", "<|endoftext|>", "<|image_pad|>", "<|video_pad|>"
_SPECIAL = ("<|im_start|>", "<|vision_start|>", "<|vision_end|>", _IMAGE, _VIDEO, "<image>", "<video>")
_TEXT = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
_SEED = 0
_kept: list[Any] = []


@cache
def transformers() -> Any:
    """The library; a test is skipped where it is not installed."""
    for name in ("torch", "torchvision", "transformers"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: make extra-transformers")
    torch: Any = importlib.import_module("torch")
    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        # A torchvision for GPUs next to a torch for the CPU: what is used of it is Python, but wants these declared.
        operators = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        importlib.import_module("torchvision")
        _kept.append(operators)
    return importlib.import_module("transformers")


def _tokenizer() -> Any:
    """One token per byte, and the special ones."""
    tokenizers: Any = importlib.import_module("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: index for index, letter in enumerate(letters)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return transformers().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=_END, pad_token=_PAD, additional_special_tokens=list(_SPECIAL)
    )


def _text_configuration(tokenizer: Any) -> dict[str, Any]:
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    return {**_TEXT, **ends, "vocab_size": len(tokenizer), "num_key_value_heads": 2, "max_position_embeddings": 32768}


def _save(folder: Path, kind: Any, configuration: Any, processor: Any) -> Path:
    torch: Any = importlib.import_module("torch")
    with torch.random.fork_rng():
        torch.manual_seed(_SEED)
        model = kind(configuration)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def qwen2_vl(folder: Path) -> Path:
    """Qwen2-VL with its chat template. A picture of 56 pixels is 4 tokens."""
    library, tokenizer = transformers(), _tokenizer()
    number = tokenizer.convert_tokens_to_ids
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    configuration = library.Qwen2VLConfig(
        text_config={**_text_configuration(tokenizer), "rope_parameters": rope},
        vision_config={
            "depth": 1,
            "embed_dim": 32,
            "hidden_size": 32,
            "num_heads": 2,
            "mlp_ratio": 2,
            "patch_size": 14,
        },
        image_token_id=number(_IMAGE),
        video_token_id=number(_VIDEO),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
    )
    processor = library.Qwen2VLProcessor(
        image_processor=library.Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=56 * 56),
        video_processor=library.Qwen2VLVideoProcessor(),
        tokenizer=tokenizer,
        chat_template=CHATML,
    )
    return _save(folder, library.Qwen2VLForConditionalGeneration, configuration, processor)


def _clip(library: Any) -> Any:
    return library.CLIPVisionConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=28, patch_size=14
    )


def llava(folder: Path) -> Path:
    """LLaVA-1.5 without a chat template. A picture is 4 tokens."""
    library, tokenizer = transformers(), _tokenizer()
    configuration = library.LlavaConfig(
        text_config=library.LlamaConfig(**_text_configuration(tokenizer)),
        vision_config=_clip(library),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=4,
    )
    size = {"image_processor": library.CLIPImageProcessor(size={"shortest_edge": 28}, crop_size=28)}
    processor = library.LlavaProcessor(
        **size,
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
    )
    return _save(folder, library.LlavaForConditionalGeneration, configuration, processor)


def video_llava(folder: Path) -> Path:
    """Video-LLaVA, the family of HomieBot, without a chat template. A picture is 5 tokens."""
    library, tokenizer = transformers(), _tokenizer()
    configuration = library.VideoLlavaConfig(
        text_config=library.LlamaConfig(**_text_configuration(tokenizer)),
        vision_config=_clip(library),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        video_token_index=tokenizer.convert_tokens_to_ids("<video>"),
        image_seq_length=4,
        video_seq_length=40,
    )
    size = {"size": {"shortest_edge": 28}, "crop_size": {"height": 28, "width": 28}}
    processor = library.VideoLlavaProcessor(
        image_processor=library.VideoLlavaImageProcessor(**size),
        video_processor=library.VideoLlavaVideoProcessor(**size),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    return _save(folder, library.VideoLlavaForConditionalGeneration, configuration, processor)


def llama(folder: Path) -> Path:
    """A text model with a chat template."""
    library, tokenizer = transformers(), _tokenizer()
    tokenizer.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
    configuration = library.LlamaConfig(**_text_configuration(tokenizer))
    return _save(folder, library.LlamaForCausalLM, configuration, tokenizer)
