"""Any endpoint that speaks OpenAI's chat completions: GPT, Gemini, vLLM, Ollama, llama.cpp."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from homie_core.vocabulary import Vocabulary
from homie_planner.backend import (
    Capabilities,
    Deadline,
    PlannerCancelled,
    PlannerError,
    PlannerTimeout,
    PlanReply,
    PlanRequest,
)
from homie_planner.chat_messages import Detail, SystemRole, chat_messages
from homie_planner.chat_reply import ChatReply, clean
from homie_planner.config import ConfigError
from homie_planner.extras import require
from homie_planner.picture_url import PictureFormat
from homie_planner.redaction import Redaction
from homie_planner.reply_schema import reply_schema
from homie_planner.request_limit import POLL_SECONDS, LimitError, Permit, RequestLimit, endpoint_folder
from homie_planner.retry import RequestFault, RetryPolicy

if TYPE_CHECKING:
    from homie_planner.backends.openai_client import ChatClient

StructuredOutput = Literal["auto", "json_schema", "json_object", "none"]

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
NO_KEY = "none"
"""Sent to an endpoint that wants no key: the client insists on one."""

JSON_OBJECT_TEXT = (
    '\nWrite the response as one JSON object: {"analysis": "...", "subtask": {"action": "...", "target": "...", '
    '"destination": "..."}, "model": "..."}. Leave target and destination empty where the action has none.\n'
)
"""Follows the system text for ``json_object``: without the word JSON in it, OpenAI's endpoint refuses the request."""

_LOOK_SECONDS = 0.05
_CLEANUP_SECONDS = 2.0
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key", "x-goog-api-key"}
)
_FORMAT_WORDS = ("response_format", "response format", "json_schema", "schema", "grammar", "structured", "json_object")


class Options(BaseModel):
    """How the endpoint is reached and asked. What is null is left to the server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = Field(DEFAULT_BASE_URL, description="Address of the endpoint, up to and with /v1")
    api_key_env: str = Field(
        DEFAULT_KEY_VARIABLE, min_length=1, description="Environment variable with the key; other endpoints need none"
    )
    headers: dict[str, str] = Field(default_factory=dict, description="Extra headers; nothing secret")
    headers_env: dict[str, str] = Field(
        default_factory=dict, description="Extra headers whose values stand in these environment variables"
    )
    body: dict[str, JsonValue] = Field(default_factory=dict, description="Extra fields of each request")
    system_role: SystemRole = Field("system", description="Role of the system text; user for models without one")
    temperature: float | None = Field(None, ge=0.0, le=2.0, description="Randomness of the reply")
    top_p: float | None = Field(None, gt=0.0, le=1.0, description="Share of likely tokens that is drawn from")
    max_tokens: int | None = Field(1024, ge=1, description="Longest reply, tokens")
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="Name of that limit; OpenAI's reasoning models want max_completion_tokens"
    )
    seed: bool = Field(True, description="Whether the episode's seed is sent")
    stream: bool = Field(True, description="Whether the reply is asked for piece by piece")
    structured_output: StructuredOutput = Field("auto", description="Form of the reply; auto: a schema, if it is taken")
    image_format: PictureFormat = Field(
        "jpeg", description="File format of the pictures: jpeg is small and quick, png is exact"
    )
    image_detail: Detail = Field("auto", description="Resolution at which OpenAI's models look at a picture")
    connect_seconds: float = Field(10.0, gt=0.0, description="Longest wait for a connection")
    idle_seconds: float = Field(180.0, gt=0.0, description="Longest wait for the next byte of a reply")
    max_retries: int = Field(5, ge=0, le=100, description="Further tries after a failure that may pass")
    backoff_seconds: float = Field(1.0, gt=0.0, description="Wait before the first of them; doubles each time")
    max_backoff_seconds: float = Field(
        60.0, gt=0.0, description="Longest wait, unless the server asks for a longer one"
    )
    max_concurrent: int = Field(
        8, ge=1, le=1024, description="Requests to this endpoint at a time, of all episodes on this machine"
    )
    requests_per_minute: int = Field(0, ge=0, le=100_000, description="The same for starts within a minute; 0: any")

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError("must be an address such as http://127.0.0.1:8000/v1")
        if "@" in parts.netloc or parts.query:
            # No ValueError: pydantic's message for one would show the value.
            raise ConfigError("base_url holds a user, password or query; a key belongs into the variable api_key_env")
        return value.rstrip("/")

    @field_validator("headers")
    @classmethod
    def _holds_no_key(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if name.lower() in _SECRET_HEADERS:
                raise ConfigError(f"headers: {name} is secret; name a variable in api_key_env or headers_env instead")
        return value


@dataclass
class _Asked:
    """What has been done so far for one call of `plan`."""

    seconds: float
    doing: str = ""
    requests: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Connection:
    """What is open between the first request and the last."""

    loop: asyncio.AbstractEventLoop
    client: ChatClient
    limit: RequestLimit
    redact: Redaction


class OpenAiEndpoint:
    """Asks one model of one endpoint. An event loop of its own runs while it plans, in the thread that called it."""

    def __init__(self, model: str, options: Options, random_state: random.Random) -> None:
        self.name = f"openai:{model}"
        self.capabilities = Capabilities(
            images=True,
            schema=options.structured_output in ("auto", "json_schema"),
            seeds=False,  # endpoints take a seed without promising anything
            repairs=True,
        )
        self._model = model
        self._options = options
        self._random_state = random_state
        self._retry = RetryPolicy(options.max_retries, options.backoff_seconds, options.max_backoff_seconds)
        self._place = f"{model} at {options.base_url}"
        self._connection: _Connection | None = None
        self._refused_formats = 0

    def reset(self) -> None:
        """Nothing to forget: what the endpoint refuses it goes on to refuse."""
        self._opened()

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        connection = self._opened()
        asked = _Asked(deadline.remaining)
        try:
            work = self._ask(connection, request, deadline, asked)
            reply = connection.loop.run_until_complete(self._within(deadline, work, asked))
        except (LimitError, RequestFault, PlannerTimeout) as error:
            tries = f" (after {asked.requests} requests)" if asked.requests > 1 else ""
            kind = PlannerTimeout if isinstance(error, PlannerTimeout) else PlannerError
            # Not from `error`: what that comes from knows the request, and with it the key.
            raise kind(clean(f"{self._place}: {error}{tries}")) from None
        return PlanReply(
            connection.redact(reply.text),
            reply.tokens_in,
            reply.tokens_out,
            asked.requests,
            clean("; ".join(filter(None, [*asked.notes, _told(asked.failures), connection.redact(reply.note)]))),
        )

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        loop = connection.loop
        try:
            loop.run_until_complete(connection.client.close())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()

    def _opened(self) -> _Connection:
        """What it takes to send requests; made when it is first needed."""
        if self._connection is not None:
            return self._connection
        require("openai", "openai")
        from homie_planner.backends.openai_client import ChatClient

        options = self._options
        key = self._key()
        headers = {name: _variable(variable, f"header {name}") for name, variable in options.headers_env.items()}
        redact = Redaction((key, *headers.values()))
        try:
            folder = endpoint_folder(options.base_url)
        except LimitError as error:
            raise PlannerError(str(error)) from error
        self._connection = _Connection(
            asyncio.new_event_loop(),
            ChatClient(
                options.base_url,
                key,
                {**options.headers, **headers},
                redact,
                options.connect_seconds,
                options.idle_seconds,
            ),
            RequestLimit(folder, options.max_concurrent, options.requests_per_minute),
            redact,
        )
        return self._connection

    def _key(self) -> str:
        variable = self._options.api_key_env
        needed = self._options.base_url == DEFAULT_BASE_URL or variable != DEFAULT_KEY_VARIABLE
        return _variable(variable, "key") if needed or os.environ.get(variable) else NO_KEY

    async def _within(self, deadline: Deadline, work: Coroutine[Any, Any, PlanReply], asked: _Asked) -> PlanReply:
        """What ``work`` gives, if it does before the deadline. Otherwise it is stopped, and its connection closed."""
        task = asyncio.ensure_future(work)
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # of a task given up, nobody asks
        while not task.done() and deadline.remaining and not deadline.cancelled.is_set():
            await asyncio.wait({task}, timeout=min(_LOOK_SECONDS, deadline.remaining))
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.wait({task}, timeout=_CLEANUP_SECONDS)
        if deadline.cancelled.is_set():
            raise PlannerCancelled(f"{self._place}: cancelled on request")
        before = f"; {_told(asked.failures)}" if asked.failures else ""
        raise PlannerTimeout(f"no reply within {asked.seconds:.3g} s, {asked.doing}{before}")

    async def _ask(self, connection: _Connection, request: PlanRequest, deadline: Deadline, asked: _Asked) -> PlanReply:
        """Send, and send again, until there is a reply.

        Raises:
            RequestFault: there will be none.
        """
        body = self._body(request)
        formats = [{}] if request.free_text else self._formats(request.vocabulary)
        while True:
            form = {} if request.free_text else formats[self._refused_formats]
            try:
                reply = await self._send(connection, body | form | self._options.body, asked)
            except RequestFault as fault:
                if _refuses_format(fault) and self._refused_formats + 1 < len(formats):
                    self._refused_formats += 1
                    asked.notes.append(f"the server refuses this form of structured output ({fault})")
                else:
                    await self._wait_before_retry(connection, fault, deadline, asked)
            else:
                return reply.finished(request.vocabulary)

    async def _send(self, connection: _Connection, body: Mapping[str, Any], asked: _Asked) -> ChatReply:
        asked.doing = "waiting for its turn at the limit that requests to this endpoint share"
        while not isinstance(answer := connection.limit.try_start(), Permit):
            # Those who wait for the same moment do not all come back in it.
            await asyncio.sleep(answer * self._random_state.uniform(1.0, 1.1))
        with answer:
            asked.requests += 1
            asked.doing = "waiting for the reply"
            return await connection.client.chat(body)

    async def _wait_before_retry(
        self, connection: _Connection, fault: RequestFault, deadline: Deadline, asked: _Asked
    ) -> None:
        """Wait as long as the policy says; raise ``fault`` again if there is to be no other try."""
        if not fault.transient:
            raise fault
        asked.failures.append(str(fault))
        if fault.retry_after is not None:
            asked.doing = "waiting to tell the others to wait"
            while not connection.limit.try_pause(fault.retry_after):
                await asyncio.sleep(POLL_SECONDS)
        remaining = deadline.remaining
        seconds = self._retry.wait(len(asked.failures), fault.retry_after, remaining, self._random_state)
        if seconds is None:
            if fault.retry_after is not None and fault.retry_after >= remaining:
                text = f"{fault}; it asks to wait {fault.retry_after:.3g} s, but only {remaining:.3g} s are left"
                raise RequestFault(text, transient=False, status=fault.status) from fault
            raise fault
        asked.doing = f"waiting {seconds:.3g} s before the next try"
        await asyncio.sleep(seconds)

    def _body(self, request: PlanRequest) -> dict[str, Any]:
        """The fields of a request, but for the form of structured output."""
        options = self._options
        messages = chat_messages(
            request,
            system_role=options.system_role,
            format=options.image_format,
            detail=options.image_detail,
            system_addition=JSON_OBJECT_TEXT if self._wants_json_object(request) else "",
        )
        fields: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "temperature": options.temperature,
            "top_p": options.top_p,
            options.max_tokens_field: options.max_tokens,
            "seed": request.seed if options.seed else None,
        }
        if options.stream:
            fields |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in fields.items() if value is not None}

    def _wants_json_object(self, request: PlanRequest) -> bool:
        return self._options.structured_output == "json_object" and not request.free_text

    def _formats(self, vocabulary: Vocabulary) -> list[dict[str, Any]]:
        """The fields for structured output to try, one after the other as the server refuses them."""
        schema = reply_schema(vocabulary)
        schemas = [_json_schema(schema), _json_schema(_without_lengths(schema))]
        match self._options.structured_output:
            case "auto":
                return [*schemas, {}]
            case "json_schema":
                return schemas
            case "json_object":
                return [{"response_format": {"type": "json_object"}}]
            case "none":
                return [{}]


def make(model: str, options: Options) -> OpenAiEndpoint:
    """The planner ``openai:<model>``."""
    # Its random state only spreads the waits of parallel episodes: seeded alike, they would all wait alike.
    return OpenAiEndpoint(model, options, random.Random())


def _variable(name: str, what: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise PlannerError(f"the environment variable {name}, which holds the {what}, is not set")
    if not value.isascii() or not value.isprintable():
        raise PlannerError(
            f"the environment variable {name}, which holds the {what}, has characters that no header may"
        )
    return value


def _told(failures: list[str]) -> str:
    if not failures:
        return ""
    return f"{len(failures)} failed {'request' if len(failures) == 1 else 'requests'}, the last by {failures[-1]}"


def _refuses_format(fault: RequestFault) -> bool:
    """Whether a server does not know this form of structured output. That of llama-cpp-python says so with a 500."""
    text = fault.details.lower()
    return fault.status in (400, 422, 500, 501) and any(word in text for word in _FORMAT_WORDS)


def _json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    form = {"name": "subtask", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _without_lengths(schema: Any) -> Any:
    """``schema`` without ``maxLength``, which some servers do not know."""
    if isinstance(schema, dict):
        return {name: _without_lengths(value) for name, value in schema.items() if name != "maxLength"}
    return schema
