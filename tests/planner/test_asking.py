"""One question and its answer: reading, the repair turn, and what is kept of a reply."""

import threading
from dataclasses import dataclass, field

import pytest

from homie_core.vocabulary import EMMOE
from homie_planner.asking import KEPT_CHARACTERS, Answer, ask
from homie_planner.backend import Capabilities, Deadline, PlannerError, PlannerTimeout, PlanReply, PlanRequest, Turn
from homie_planner.parsing import Decision, ReplyError

READABLE = "Analysis: the mug is there\nSubtask: [Pick, mug]\nModel: RT-1-X"
REQUEST = PlanRequest(task="bring the mug", system="SYSTEM", prompt="PROMPT")


@dataclass
class Model:
    """Gives its replies one after the other; an exception among them is raised."""

    replies: list[PlanReply | BaseException]
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(repairs=True))
    name: str = "model"
    requests: list[PlanRequest] = field(default_factory=list)

    def reset(self) -> None:
        """Nothing to forget."""

    def close(self) -> None:
        """Nothing to give back."""

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        self.requests.append(request)
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply


def answer(model: Model, *, repair: bool = True, cancelled: threading.Event | None = None) -> Answer:
    return ask(model, REQUEST, EMMOE, 5.0, cancelled or threading.Event(), repair=repair)


def test_a_readable_reply_is_asked_for_once() -> None:
    model = Model([PlanReply(READABLE, tokens_in=10, tokens_out=4, requests=2, note="1 retry: 429")])
    found = answer(model)
    assert isinstance(found.decision, Decision)
    assert found.decision.subtask.brackets() == "[Pick, mug]"
    assert found.prompt == "[system]\nSYSTEM\n[user]\nPROMPT"
    assert (found.raw_output, found.note) == (READABLE, "1 retry: 429")
    assert (found.tokens_in, found.tokens_out, found.requests) == (10, 4, 2)
    assert model.requests == [REQUEST]


def test_an_unreadable_reply_is_repaired_once_with_its_fault_shown() -> None:
    model = Model([PlanReply("Hm.", 10, 1, 1), PlanReply(READABLE, 20, 4, 1)])
    found = answer(model)
    assert isinstance(found.decision, Decision)
    bad, fault = model.requests[1].repair
    assert bad == Turn("assistant", "Hm.")
    assert fault.role == "user" and "the reply names no subtask" in fault.text
    assert model.requests[1].turns == (Turn("user", "PROMPT"), bad, fault)
    assert found.prompt == f"[system]\nSYSTEM\n[user]\nPROMPT\n[assistant]\nHm.\n[user]\n{fault.text}"
    assert found.raw_output == READABLE
    assert found.note == "asked again, because the reply names no subtask"
    assert (found.tokens_in, found.tokens_out, found.requests) == (30, 5, 2)


def test_a_second_unreadable_reply_is_the_answer() -> None:
    model = Model([PlanReply("Hm."), PlanReply("Well."), PlanReply(READABLE)])
    found = answer(model)
    assert isinstance(found.decision, ReplyError)
    assert found.decision.excerpt == "Well."
    assert len(model.requests) == 2


@pytest.mark.parametrize(("repairs", "repair"), [(False, True), (True, False)])
def test_no_repair_where_it_is_not_wanted_or_not_possible(repairs: bool, repair: bool) -> None:
    model = Model([PlanReply("Hm.")], Capabilities(repairs=repairs))
    assert isinstance(answer(model, repair=repair).decision, ReplyError)
    assert len(model.requests) == 1


def test_a_cancelled_episode_is_not_asked_again() -> None:
    cancelled = threading.Event()
    cancelled.set()
    model = Model([PlanReply("Hm.")])
    answer(model, cancelled=cancelled)
    assert len(model.requests) == 1


def test_of_a_runaway_reply_the_beginning_is_kept() -> None:
    text = READABLE + "\n" + "again " * 2_000_000
    found = answer(Model([PlanReply(text)]))
    assert isinstance(found.decision, Decision)
    assert found.raw_output == text[:KEPT_CHARACTERS]
    assert found.note == f"a reply of {len(text)} characters, of which {KEPT_CHARACTERS} are kept"


def test_what_no_message_can_hold_is_replaced() -> None:
    escaped = (
        '{"analysis": "\\ud800", "subtask": {"action": "Pick", "target": "\\udc00mug\\u0000"}, "model": "\\ud83d"}'
    )
    found = answer(Model([PlanReply(f"\ud800\0 {escaped}", note="\udfff")]))
    assert isinstance(found.decision, Decision)
    assert (found.decision.subtask.target, found.decision.analysis) == ("?mug\ufffd", "?")
    assert found.raw_output == f"?\ufffd {escaped}"
    assert found.note == "?"


def test_whatever_a_planner_raises_is_a_planner_failure() -> None:
    with pytest.raises(PlannerError, match="ZeroDivisionError: division"):
        answer(Model([ZeroDivisionError("division by zero")]))
    with pytest.raises(PlannerTimeout, match="no reply within 5 s"):
        answer(Model([TimeoutError("read")]))
    with pytest.raises(PlannerError, match="quota"):
        answer(Model([PlanReply("Hm."), PlannerError("quota is used up")]))
