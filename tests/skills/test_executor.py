"""The executor over ports that answer as they are told."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from homie_core.episode import Setting
from homie_core.errors import ErrorCode
from homie_core.inventory import Inventory
from homie_core.skill import SkillErrorCode
from homie_core.subtask import Subtask
from homie_skills.executor import (
    DEFAULT_TIMEOUTS,
    Assignment,
    Cancelled,
    Check,
    Executor,
    SkillCall,
    SkillResult,
    Unavailable,
    read_server,
    reconcile,
)

PICK = Assignment(Subtask("Pick", "green can", model="RT-1-X"))
PUT = Assignment(Subtask("Put", "green can", "fridge", "RT-1-X"), ("green can",))
ALLOWED = Check(object_id="potted_meat_can_1", receptacle_id="fridge")
AGAIN = Check(
    ErrorCode.TOO_DIFFICULT, "Unable to pick, the subtask is too difficult to perform", "nothing held", retry=True
)
LOST = Check(ErrorCode.OBJECT_MISSING, "Unable to put, and the object is missing", hand="")
FULL = Check(ErrorCode.HAND_FULL, "Unable to pick, the hand is full")


@dataclass
class Monitor:
    """Answers from a list after each try."""

    start: Check = ALLOWED
    afters: list[Check] = field(default_factory=lambda: [Check()])
    asked: list[tuple[int, SkillResult]] = field(default_factory=list)

    def before(self, assignment: Assignment) -> Check:
        return self.start

    def after(self, assignment: Assignment, attempt: int, start: Check, result: SkillResult) -> Check:
        assert start is self.start
        self.asked.append((attempt, result))
        return self.afters[len(self.asked) - 1]


@dataclass
class Skills:
    """Notes what it is asked to do; each call takes a simulated second."""

    result: Callable[[str], SkillResult] = lambda skill: SkillResult(True)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    seeds: list[tuple[int, int, int]] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)

    def execute(self, server: str, call: SkillCall) -> SkillResult:
        self.calls.append((server, call.skill, call.object_id, call.receptacle_id))
        self.seeds.append((call.seed, call.step, call.attempt))
        self.timeouts.append(call.timeout)
        answer = self.result(call.skill)
        return replace(answer, stamp=len(self.calls) * 1_000_000_000)


def executor(monitor: Monitor, skills: Skills, setting: Setting = Setting.BACKGROUND_INFORMATION) -> Executor:
    return Executor(monitor, skills, {"M3": "m3", "RT-1-X": "rt_1_x"}, setting)


def test_success_at_the_first_try() -> None:
    monitor, skills = Monitor(), Skills()
    done = executor(monitor, skills).execute(PICK)
    assert (done.success, done.code, done.feedback, done.attempts) == (True, None, "None", 1)
    assert done.inventory == ("green can",)
    assert done.stamp == 2_000_000_000
    assert skills.calls == [("m3", "reset_arm", "", ""), ("m3", "pick", "potted_meat_can_1", "fridge")]
    assert skills.timeouts == [DEFAULT_TIMEOUTS["reset_arm"], DEFAULT_TIMEOUTS["pick"]]
    assert monitor.asked == [(1, SkillResult(True, "", 2_000_000_000))]


def test_a_check_that_fails_stops_before_anything_moves() -> None:
    skills = Skills()
    done = executor(Monitor(start=FULL), skills).execute(PICK)
    assert (done.success, done.code, done.feedback, done.attempts) == (False, ErrorCode.HAND_FULL, FULL.feedback, 0)
    assert skills.calls == []


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_up_to_three_tries_each_after_an_arm_reset(tries: int) -> None:
    skills = Skills()
    done = executor(Monitor(afters=[AGAIN] * (tries - 1) + [Check()]), skills).execute(PICK)
    assert done.success
    assert done.attempts == tries
    assert [call[1] for call in skills.calls] == ["reset_arm", "pick"] * tries


def test_the_third_failure_is_too_difficult() -> None:
    skills = Skills(lambda skill: SkillResult(False, "no grasp"))
    done = executor(Monitor(afters=[AGAIN] * 3), skills).execute(PICK)
    assert (done.success, done.code, done.attempts) == (False, ErrorCode.TOO_DIFFICULT, 3)
    assert done.feedback == "Unable to pick, the subtask is too difficult to perform"
    assert done.inventory == ()
    assert done.detail == "nothing held; the arm was not reset: no grasp"


def test_a_lost_object_is_not_tried_again_and_empties_the_inventory() -> None:
    done = executor(Monitor(afters=[LOST]), Skills()).execute(PUT)
    assert (done.success, done.code, done.attempts) == (False, ErrorCode.OBJECT_MISSING, 1)
    assert done.inventory == ()


def test_an_arm_that_was_not_reset_is_told_and_the_try_is_made() -> None:
    skills = Skills(lambda skill: SkillResult(skill != "reset_arm", "no motion"))
    done = executor(Monitor(), skills).execute(PICK)
    assert done.success
    assert done.detail == "the arm was not reset: no motion"


def test_an_object_lost_in_the_arm_reset_ends_the_try_before_the_skill() -> None:
    monitor = Monitor(afters=[LOST])
    skills = Skills(lambda skill: SkillResult(False, "it fell", code=SkillErrorCode.OBJECT_LOST))
    done = executor(monitor, skills).execute(PUT)
    assert (done.code, done.attempts, done.inventory) == (ErrorCode.OBJECT_MISSING, 1, ())
    assert [call[1] for call in skills.calls] == ["reset_arm"]
    assert monitor.asked[0][1].code is SkillErrorCode.OBJECT_LOST


def test_what_the_names_were_taken_for_is_passed_on() -> None:
    start = Check(object_id="potted_meat_can_1", receptacle_id="drawer_1", note="drawer_1 is the nearest of 3")
    for afters, success in (([Check()], True), ([LOST], False)):
        done = executor(Monitor(start, afters), Skills()).execute(PUT)
        assert done.success is success
        assert (done.target_id, done.destination_id, done.note) == ("potted_meat_can_1", "drawer_1", start.note)


def test_what_the_names_were_taken_for_is_told_of_a_subtask_that_may_not_start_too() -> None:
    full = Check(FULL.code, FULL.feedback, object_id="potted_meat_can_1", note="'can' is ambiguous")
    done = executor(Monitor(full), Skills()).execute(PICK)
    assert (done.target_id, done.destination_id, done.note) == ("potted_meat_can_1", "", "'can' is ambiguous")


def test_every_call_carries_seed_step_and_number_of_the_try() -> None:
    skills = Skills()
    assignment = Assignment(Subtask("Pick", "green can"), seed=2**63, step=4)
    executor(Monitor(afters=[AGAIN, Check()]), skills).execute(assignment)
    assert skills.seeds == [(2**63, 4, 1), (2**63, 4, 1), (2**63, 4, 2), (2**63, 4, 2)]


def test_end_needs_nobody() -> None:
    skills = Skills()
    done = executor(Monitor(start=FULL), skills).execute(Assignment(Subtask("End"), ("mug",)))
    assert (done.success, done.attempts, done.inventory) == (True, 0, ("mug",))
    assert skills.calls == []


@pytest.mark.parametrize(
    ("setting", "model", "server"),
    [
        (Setting.BACKGROUND_INFORMATION, "RT-1-X", "m3"),
        (Setting.BACKGROUND_INFORMATION, "", "m3"),
        (Setting.NO_BACKGROUND_INFORMATION, "rt-1-x", "rt_1_x"),
    ],
)
def test_who_carries_it_out(setting: Setting, model: str, server: str) -> None:
    skills = Skills()
    executor(Monitor(), skills, setting).execute(Assignment(Subtask("Pick", "mug", model=model)))
    assert {call[0] for call in skills.calls} == {server}


@pytest.mark.parametrize("model", ["octo", "../../evil", "m3/execute"])
def test_a_model_without_a_server_never_becomes_a_name(model: str) -> None:
    skills = Skills()
    blind = executor(Monitor(), skills, Setting.NO_BACKGROUND_INFORMATION)
    with pytest.raises(Unavailable, match="no skill server is configured"):
        blind.execute(Assignment(Subtask("Pick", "mug", model=model)))
    assert skills.calls == []


@pytest.mark.parametrize("error", [Unavailable("gone"), Cancelled()])
def test_a_dead_server_and_a_cancellation_pass_through(error: Exception) -> None:
    def fail(skill: str) -> SkillResult:
        raise error

    with pytest.raises(type(error)):
        executor(Monitor(), Skills(fail)).execute(PICK)


def test_progress_names_phase_and_try() -> None:
    seen: list[tuple[str, int]] = []
    executor(Monitor(afters=[AGAIN, Check()]), Skills()).execute(
        PICK, lambda phase, attempt: seen.append((phase, attempt))
    )
    assert seen == [("check", 0), ("reset_arm", 1), ("pick", 1), ("reset_arm", 2), ("pick", 2)]


@pytest.mark.parametrize(
    ("inventory", "hand", "expected", "told"),
    [
        ((), None, (), False),
        (("mug",), None, ("mug",), False),
        ((), "", (), False),
        (("the mug",), "mug", ("the mug",), False),
        ((), "mug", ("mug",), True),
        (("mug",), "", (), True),
    ],
)
def test_the_inventory_is_checked_against_the_hand(
    inventory: Inventory, hand: str | None, expected: Inventory, told: bool
) -> None:
    found, correction = reconcile(inventory, hand)
    assert found == expected
    assert bool(correction) == told


def test_something_left_in_the_hand_by_a_failed_pick_is_in_the_inventory() -> None:
    wrong = Check(AGAIN.code, AGAIN.feedback, "the hand holds bowl_1", retry=True, hand="bowl")
    done = executor(Monitor(afters=[wrong] * 3), Skills()).execute(PICK)
    assert done.inventory == ("bowl",)
    assert "the inventory was empty, but the hand holds bowl" in done.detail


def test_a_server_is_written_with_its_model() -> None:
    assert read_server("RT-1-X=my_server") == ("RT-1-X", "my_server")


@pytest.mark.parametrize("text", ["", "M3", "M3=", "=m3", "m3=m3", "RT-2=arm", "M3=My", "M3=a/b", "M3=a b", "M3=a=b"])
def test_what_is_no_server(text: str) -> None:
    with pytest.raises(ValueError, match="must be MODEL=server"):
        read_server(text)
