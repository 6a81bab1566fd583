"""One step's question and answer: ask, read the reply, and show the model once what was wrong with it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from homie_core.vocabulary import Vocabulary
from homie_planner import parsing
from homie_planner.backend import Backend, Deadline, PlannerError, PlannerTimeout, PlanReply, PlanRequest, Turn
from homie_planner.instruction import repair_text
from homie_planner.parsing import Decision, ReplyError

KEPT_CHARACTERS = 65_536
"""Of a longer reply only the beginning is kept: twice of what is read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one step's question: a decision, or the reason why the last reply holds none.

    ``prompt`` is the transcript of the last request, so that it holds a first reply that could not be read;
    ``raw_output`` is the reply to it. The numbers are sums over both requests.
    """

    decision: Decision | ReplyError
    prompt: str
    raw_output: str
    note: str
    tokens_in: int
    tokens_out: int
    requests: int


def ask(
    backend: Backend,
    request: PlanRequest,
    vocabulary: Vocabulary,
    seconds: float,
    cancelled: threading.Event,
    *,
    repair: bool = True,
) -> Answer:
    """Ask ``backend``, each time for at most ``seconds`` of wall time.

    Raises:
        PlannerError: there is no reply. A planner is other people's code: whatever it raises becomes this.
    """
    replies = [_reply(backend, request, seconds, cancelled)]
    decision = _read(replies[0], vocabulary)
    notes = [replies[0].note]
    if isinstance(decision, ReplyError) and repair and backend.capabilities.repairs and not cancelled.is_set():
        notes.append(f"asked again, because {decision}")
        turns = (Turn("assistant", replies[0].text), Turn("user", repair_text(str(decision))))
        request = replace(request, repair=turns)
        replies.append(_reply(backend, request, seconds, cancelled))
        decision = _read(replies[1], vocabulary)
        notes.append(replies[1].note)
    if isinstance(decision, Decision):
        notes.append(decision.note)
    return Answer(
        decision=decision,
        prompt=request.transcript,
        raw_output=replies[-1].text,
        note="; ".join(filter(None, notes)),
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        requests=sum(reply.requests for reply in replies),
    )


def _reply(backend: Backend, request: PlanRequest, seconds: float, cancelled: threading.Event) -> PlanReply:
    deadline = Deadline.after(seconds, cancelled)
    try:
        reply = backend.plan(request, deadline)
    except PlannerError:
        raise
    except TimeoutError as error:
        raise PlannerTimeout(f"no reply within {seconds:g} s: {error}") from error
    except Exception as error:
        raise PlannerError(f"{type(error).__name__}: {error}") from error
    if len(reply.text) <= KEPT_CHARACTERS:
        return replace(reply, text=parsing.sendable(reply.text), note=parsing.sendable(reply.note))
    cut = f"a reply of {len(reply.text)} characters, of which {KEPT_CHARACTERS} are kept"
    note = "; ".join(filter(None, (parsing.sendable(reply.note), cut)))
    return replace(reply, text=parsing.sendable(reply.text[:KEPT_CHARACTERS]), note=note)


def _read(reply: PlanReply, vocabulary: Vocabulary) -> Decision | ReplyError:
    try:
        return parsing.parse(reply.text, vocabulary)
    except ReplyError as error:
        return error
