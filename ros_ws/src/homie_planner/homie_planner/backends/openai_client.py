"""One request to an endpoint of chat completions, through OpenAI's client. Needs the extra ``openai``.

Whatever goes wrong becomes a `RequestFault` that says whether another try makes sense. Of any answer, error pages too,
at most `MAX_BODY_BYTES` are read, and bytes that are no UTF-8 are replaced.
"""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import openai

from homie_planner.chat_reply import ChatReply
from homie_planner.redaction import Redaction
from homie_planner.retry import TRANSIENT_STATUSES, RequestFault, retry_after_seconds

MAX_BODY_BYTES = 1 << 24
"""Of streamed replies much less is text: each of their pieces has some hundred bytes around it."""

MAX_MESSAGE_CHARACTERS = 200
"""What is told of a server's error message."""

_OUT_OF_CREDIT = "insufficient_quota"
"""The code of a 429 that does not go away by waiting."""


class _BodyTooLong(Exception):
    """More than `MAX_BODY_BYTES` have come."""


class _Body(httpx2.AsyncByteStream):
    """The body of a response, bounded, and UTF-8 in any case."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        count = 0
        async for data in self._body:
            count += len(data)
            if count > MAX_BODY_BYTES:
                raise _BodyTooLong
            yield decoder.decode(data).encode()
        yield decoder.decode(b"", final=True).encode()

    async def aclose(self) -> None:
        await self._body.aclose()


async def _guard(response: httpx2.Response) -> None:
    """Put the bounds around what is going to be read of ``response``."""
    encoding = response.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise httpx2.DecodingError(f"content encoding {encoding!r} was not asked for", request=response.request)
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Body(response.stream)


class ChatClient:
    """Keeps its connection to ``base_url`` for the next request. All calls have to come from one event loop."""

    def __init__(
        self,
        base_url: str,
        key: str,
        headers: Mapping[str, str],
        redact: Redaction,
        connect_seconds: float,
        idle_seconds: float,
    ) -> None:
        self._redact = redact
        timeout = httpx2.Timeout(idle_seconds, connect=connect_seconds)
        # Redirections are not followed: they would carry pictures and extra headers to who knows where.
        http = openai.DefaultAsyncHttpxClient(
            timeout=timeout, follow_redirects=False, event_hooks={"response": [_guard]}
        )
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key,
            default_headers={"Accept-Encoding": "identity", **headers},
            timeout=timeout,
            max_retries=0,
            http_client=http,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def chat(self, body: Mapping[str, Any]) -> ChatReply:
        """The reply to ``body``; streamed or not is for the server to say.

        Raises:
            RequestFault: there is none, or none that can be understood.
        """
        reply = ChatReply()
        try:
            stream = await self._client.post(
                "/chat/completions",
                cast_to=object,
                body=dict(body),
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            async with stream:
                await _collect(stream, reply)
        except openai.APIStatusError as error:
            raise self._status_fault(error) from error
        except openai.APITimeoutError as error:
            raise RequestFault(
                f"no answer in time ({self._explain(error.__cause__ or error)})", transient=True
            ) from error
        except openai.APIConnectionError as error:
            raise RequestFault(f"no connection ({self._explain(error.__cause__ or error)})", transient=True) from error
        except openai.APIError as error:
            raise RequestFault(f"an error instead of a reply: {self._told(error.message)}", transient=True) from error
        except (httpx2.HTTPError, OSError) as error:
            raise RequestFault(f"the connection broke ({self._explain(error)})", transient=True) from error
        except (ValueError, RecursionError) as error:
            raise RequestFault(f"the server's answer is no JSON ({self._explain(error)})", transient=True) from error
        except _BodyTooLong as error:
            if not reply.text:
                raise RequestFault(
                    f"the server's answer is longer than {MAX_BODY_BYTES} bytes", transient=False
                ) from error
            reply.cut = True
        if not reply.pieces:
            raise RequestFault("the server's answer holds no reply", transient=True)
        return reply

    def _status_fault(self, error: openai.APIStatusError) -> RequestFault:
        status, message = error.status_code, _message(error.body)
        return RequestFault(
            f"HTTP {status}: {self._told(message) or error.response.reason_phrase}",
            transient=status in TRANSIENT_STATUSES and error.code != _OUT_OF_CREDIT,
            status=status,
            details=message,
            retry_after=retry_after_seconds(error.response.headers, time.time()),
        )

    def _explain(self, error: BaseException) -> str:
        return self._told(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    def _told(self, text: str) -> str:
        """``text`` as it may be told: without keys, on one line, shortened."""
        line = " ".join(self._redact(text)[: 4 * MAX_MESSAGE_CHARACTERS].split())
        return line if len(line) <= MAX_MESSAGE_CHARACTERS else f"{line[:MAX_MESSAGE_CHARACTERS]}..."


async def _collect(stream: openai.AsyncStream[object], reply: ChatReply) -> None:
    response = stream.response
    if "text/event-stream" not in response.headers.get("content-type", ""):
        piece = json.loads(await response.aread())
        if isinstance(piece, dict) and piece.get("error"):
            raise openai.APIError(_message(piece), response.request, body=piece)
        reply.add(piece)
        return
    async for piece in stream:
        reply.add(piece)
        if reply.full:
            reply.cut = True
            return


def _message(body: object) -> str:
    """The text of an error in any of the forms that servers write it in."""
    if isinstance(body, dict):
        for name in ("error", "message", "detail"):
            if body.get(name):
                return _message(body[name])
    return body if isinstance(body, str) else json.dumps(body)
