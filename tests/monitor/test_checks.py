"""Every error code at its phase, in both settings."""

from dataclasses import replace

import pytest

from homie_core import names
from homie_core.episode import Setting
from homie_core.errors import ErrorCode, Phase
from homie_core.inventory import Inventory
from homie_core.subtask import Subtask
from homie_core.world_state import FLOOR, GRIPPER, WorldState, top_of
from homie_monitor.checks import Checker, Claim, Targets, Watch, distance_3d
from support.toy_house import change, house, put, stand_at

CHECKER = Checker()
BLIND = Checker(setting=Setting.NO_BACKGROUND_INFORMATION)
CAN = "potted_meat_can_1"
AT_TABLE = stand_at(house(), "brown_table")
AT_FRIDGE = stand_at(house(), "fridge")
OPEN_FRIDGE = stand_at(house(opened=("fridge",)), "fridge")
CARRYING = stand_at(house(held=CAN), "fridge")
CARRYING_TO_OPEN = stand_at(house(opened=("fridge",), held=CAN), "fridge")


PICK_CAN = Subtask("Pick", "green_can", model="M3")
OPEN = Subtask("Open", "fridge", model="M3")
CLOSE = Subtask("Close", "fridge", model="M3")

BEFORE = {
    "action": (Subtask("Grab", "mug", model="M3"), AT_TABLE, ErrorCode.NOT_IN_LIST,
               "Grab is not in the action list! You should only choose actions in the list."),
    "action within another word": (Subtask("Picking", "mug", model="M3"), AT_TABLE, ErrorCode.NOT_IN_LIST,
                                   "Picking is not in the action list! You should only choose actions in the list."),
    "model": (Subtask("Pick", "green_can", model="GraspNet"), AT_TABLE, ErrorCode.NOT_IN_LIST,
              "GraspNet is not in the action list! You should only choose actions in the list."),
    "unknown name": (Subtask("Pick", "unicorn", model="M3"), AT_TABLE, ErrorCode.UNKNOWN_TARGET,
                     "unicorn does not exist! Please choose another object"),
    "not in the scene": (Subtask("Go to", "banana", model="M3"), AT_TABLE, ErrorCode.UNKNOWN_TARGET,
                         "banana does not exist! Please choose another object"),
    "no name": (Subtask("Go to", "", model="M3"), AT_TABLE, ErrorCode.UNKNOWN_TARGET,
                "an empty name does not exist! Please choose another object"),
    "unknown object of a put": (Subtask("Put", "unicorn", "fridge", "M3"), CARRYING_TO_OPEN, ErrorCode.UNKNOWN_TARGET,
                                "unicorn does not exist! Please choose another object"),
    "unknown place of a put": (Subtask("Put", "green_can", "oven", "M3"), CARRYING_TO_OPEN, ErrorCode.UNKNOWN_TARGET,
                               "oven does not exist! Please choose another object"),
    "pick with a full hand": (Subtask("Pick", "mug", model="M3"), CARRYING_TO_OPEN, ErrorCode.HAND_FULL,
                              "Unable to pick, the hand is full"),
    "open with a full hand": (Subtask("Open", "fridge", model="M3"), CARRYING, ErrorCode.HAND_FULL,
                              "Unable to open, the hand is full"),
    "close with a full hand": (Subtask("Close", "fridge", model="M3"), CARRYING_TO_OPEN, ErrorCode.HAND_FULL,
                               "Unable to close, the hand is full"),
    "put with an empty hand": (Subtask("Put", "green_can", "brown_table", "M3"), AT_TABLE, ErrorCode.HAND_EMPTY,
                               "Unable to put, the hand is empty"),
    "put into a closed container": (Subtask("Put", "green_can", "refrigerator", "M3"), CARRYING,
                                    ErrorCode.CONTAINER_CLOSED,
                                    "Unable to put, the refrigerator is closed, you should open it first"),
    "pick from a closed container": (Subtask("Pick", "mug", model="M3"), AT_FRIDGE, ErrorCode.CONTAINER_CLOSED,
                                     "Unable to pick, the fridge is closed, you should open it first"),
    "open what is no container": (Subtask("Open", "sofa", model="M3"), stand_at(house(), "sofa"),
                                  ErrorCode.NOT_INTERACTIVE, "Can not open sofa! Please choose another object"),
    "close what is no container": (Subtask("Close", "green_can", model="M3"), AT_TABLE,
                                   ErrorCode.NOT_INTERACTIVE, "Can not close green_can! Please choose another object"),
    "pick furniture": (Subtask("Pick", "brown_table", model="M3"), AT_TABLE, ErrorCode.NOT_INTERACTIVE,
                       "Can not pick brown_table! Please choose another object"),
    "put what is not held": (Subtask("Put", "apple", "fridge", "M3"), CARRYING_TO_OPEN, ErrorCode.NOT_INTERACTIVE,
                             "Can not put apple! Please choose another object"),
    "put onto an object": (Subtask("Put", "green_can", "mug", "M3"), CARRYING_TO_OPEN, ErrorCode.NOT_INTERACTIVE,
                           "Can not put mug! Please choose another object"),
    "pick from afar": (PICK_CAN, AT_FRIDGE, ErrorCode.TOO_FAR, "Unable to pick, the target is far away"),
    "put from afar": (Subtask("Put", "green_can", "sofa", "M3"), CARRYING, ErrorCode.TOO_FAR,
                      "Unable to put, the target is far away"),
    "open from afar": (Subtask("Open", "fridge", model="M3"), AT_TABLE, ErrorCode.TOO_FAR,
                       "Unable to open, the target is far away"),
    "close from afar": (Subtask("Close", "fridge", model="M3"), stand_at(house(opened=("fridge",)), "sofa"),
                        ErrorCode.TOO_FAR, "Unable to close, the target is far away"),
    "open from too near": (Subtask("Open", "fridge", model="M3"), replace(AT_FRIDGE, robot_pose=(-2.0, 2.3, 0.0)),
                           ErrorCode.TOO_CLOSE, "Unable to open, the target is too close"),
}  # fmt: skip


@pytest.mark.parametrize(("subtask", "state", "code", "sentence"), BEFORE.values(), ids=BEFORE.keys())
def test_errors_before_execution(subtask: Subtask, state: WorldState, code: ErrorCode, sentence: str) -> None:
    fault = CHECKER.before(subtask, (), state).fault
    assert fault is not None
    assert (fault.code, fault.feedback, fault.phase) == (code, sentence, Phase.BEFORE)


ALLOWED = {
    "go to an object": (Subtask("Go to", "mug", model="NoMaD"), AT_TABLE, Targets("mug_1")),
    "go to a room with a full hand": (Subtask("Go to", "living room", model="NoMaD"), CARRYING, Targets("living_room")),
    "go to an object in a closed container": (Subtask("Go to", "mug", model="M3"), AT_FRIDGE, Targets("mug_1")),
    "pick": (PICK_CAN, AT_TABLE, Targets(CAN)),
    "pick from an open container": (Subtask("Pick", "mug", model="octo"), OPEN_FRIDGE, Targets("mug_1")),
    "put": (Subtask("Put", "green_can", "fridge", "M3"), CARRYING_TO_OPEN, Targets(CAN, "fridge")),
    "put into a bowl": (
        Subtask("Put", "green_can", "bowl", "M3"),
        stand_at(house(held=CAN), "brown_table"),
        Targets(CAN, "bowl_1"),
    ),
    "pick from the roof of a closed container": (
        PICK_CAN,
        change(AT_FRIDGE, replace(AT_FRIDGE[CAN], parent=top_of("fridge"), box_center=AT_FRIDGE["fridge"].box_center)),
        Targets(CAN),
    ),
    "open": (Subtask("Open", "fridge", model="M3"), AT_FRIDGE, Targets("fridge")),
    "close": (Subtask("close", "the refrigerator", model="M3"), OPEN_FRIDGE, Targets("fridge")),
    "no model, as M3 is the only one": (Subtask("Pick", "green_can"), AT_TABLE, Targets(CAN)),
}


@pytest.mark.parametrize(("subtask", "state", "targets"), ALLOWED.values(), ids=ALLOWED.keys())
def test_what_may_start(subtask: Subtask, state: WorldState, targets: Targets) -> None:
    permission = CHECKER.before(subtask, (), state)
    assert permission.fault is None
    assert replace(permission.targets, note="") == targets


def test_what_is_no_bowl_takes_nothing_and_a_bowl_not_itself() -> None:
    for held, place in ((CAN, "mug"), ("bowl_1", "bowl")):
        state = stand_at(house(opened=("fridge",), held=held), "fridge")
        name = names.name_of(held, state)
        fault = CHECKER.before(Subtask("Put", name, place, "M3"), (name,), state).fault
        assert fault is not None and fault.code is ErrorCode.NOT_INTERACTIVE


def test_the_order_is_that_of_the_paper() -> None:
    """Each subtask has several errors; the first in the order F1, F2, L1 to L4, D1 is the answer."""
    carrying = stand_at(house(held=CAN), "sofa")
    expected = [
        (Subtask("Grab", "unicorn", model="GraspNet"), "Grab"),
        (Subtask("Pick", "unicorn", model="GraspNet"), "GraspNet"),
        (Subtask("Pick", "unicorn", model="M3"), "unicorn"),
        (Subtask("Pick", "mug", model="M3"), "the hand is full"),
        (Subtask("Put", "apple", "fridge", "M3"), "fridge is closed"),
        (Subtask("Put", "apple", "kitchen_counter", "M3"), "Can not put apple"),
        (Subtask("Put", "green_can", "kitchen_counter", "M3"), "far away"),
    ]
    for subtask, words in expected:
        fault = CHECKER.before(subtask, (), carrying).fault
        assert fault is not None
        assert words in fault.feedback


def test_an_ambiguous_name_is_noted() -> None:
    note = CHECKER.before(Subtask("Go to", "drawer", model="M3"), (), AT_TABLE).targets.note
    assert "nearest" in note


def test_distances_are_measured_to_the_nearest_point_of_the_box() -> None:
    table = AT_TABLE["brown_table"]
    assert distance_3d(table, AT_TABLE) == pytest.approx(0.45)
    above = change(AT_TABLE, replace(table, box_center=(3.0, -2.0, 1.35)))
    assert distance_3d(above["brown_table"], above) == pytest.approx((0.45**2 + 1.0**2) ** 0.5)


@pytest.mark.parametrize(("gap", "code"), [(0.09, ErrorCode.TOO_CLOSE), (0.11, None)])
def test_too_close_counts_from_the_edge_of_the_base(gap: float, code: ErrorCode | None) -> None:
    state = replace(AT_FRIDGE, robot_pose=(-2.0, 3.0 - 0.35 - 0.28 - gap, 0.0))
    fault = CHECKER.before(Subtask("Open", "fridge", model="M3"), (), state).fault
    assert (fault.code if fault else None) is code


@pytest.mark.parametrize(("distance", "code"), [(1.99, None), (2.01, ErrorCode.TOO_FAR)])
def test_too_far_begins_at_two_metres(distance: float, code: ErrorCode | None) -> None:
    state = replace(AT_FRIDGE, robot_pose=(-2.0, 3.0 - 0.35 - distance, 0.0))
    fault = CHECKER.before(Subtask("Open", "fridge", model="M3"), (), state).fault
    assert (fault.code if fault else None) is code


def picked(state: WorldState, id: str) -> WorldState:
    return replace(put(state, id, GRIPPER), held=id)


def opened(state: WorldState, id: str, fraction: float) -> WorldState:
    return change(state, replace(state[id], open_fraction=fraction))


PUT_CAN = Subtask("Put", "green_can", "fridge", "M3")
IN_FRIDGE = replace(put(CARRYING_TO_OPEN, CAN, "fridge"), held="")
ON_FLOOR = replace(put(CARRYING_TO_OPEN, CAN, FLOOR), held="")
GO_TO_KITCHEN = Subtask("Go to", "kitchen", model="M3")

REACHED = {
    "go to": (Subtask("Go to", "fridge", model="M3"), Targets("fridge"), (), AT_FRIDGE),
    "go to a room": (GO_TO_KITCHEN, Targets("kitchen"), (), stand_at(house(), "kitchen")),
    "go to, carrying": (Subtask("Go to", "fridge", model="M3"), Targets("fridge"), ("green_can",), CARRYING),
    "pick": (PICK_CAN, Targets(CAN), (), picked(AT_TABLE, CAN)),
    "put": (PUT_CAN, Targets(CAN, "fridge"), ("green_can",), IN_FRIDGE),
    "open": (OPEN, Targets("fridge"), (), opened(AT_FRIDGE, "fridge", 0.6)),
    "close": (CLOSE, Targets("fridge"), (), opened(AT_FRIDGE, "fridge", 0.05)),
}


@pytest.mark.parametrize("claim", [True, False])
@pytest.mark.parametrize(("subtask", "targets", "inventory", "state"), REACHED.values(), ids=REACHED.keys())
def test_goals_that_are_reached(
    subtask: Subtask, targets: Targets, inventory: Inventory, state: WorldState, claim: bool
) -> None:
    """The world decides, not the skill's claim."""
    assert CHECKER.after(subtask, targets, inventory, state, Claim(claim)).fault is None


MISSED = {
    "go to": (Subtask("Go to", "sofa", model="M3"), Targets("sofa"), (), AT_FRIDGE, "more than 2.00 m"),
    "go to a room": (GO_TO_KITCHEN, Targets("kitchen"), (), stand_at(house(), "sofa"), "not inside kitchen"),
    "pick": (PICK_CAN, Targets(CAN), (), AT_TABLE, "the hand holds nothing"),
    "pick of something else": (PICK_CAN, Targets(CAN), (), picked(AT_TABLE, "bowl_1"), "the hand holds bowl_1"),
    "put": (PUT_CAN, Targets(CAN, "fridge"), ("green_can",), CARRYING_TO_OPEN, "still in the hand"),
    "open": (OPEN, Targets("fridge"), (), opened(AT_FRIDGE, "fridge", 0.4), "open to 40% only"),
    "close": (CLOSE, Targets("fridge"), (), opened(AT_FRIDGE, "fridge", 0.2), "still open to 20%"),
}  # fmt: skip


@pytest.mark.parametrize("claim", [True, False])
@pytest.mark.parametrize(("subtask", "targets", "inventory", "state", "reason"), MISSED.values(), ids=MISSED.keys())
def test_goals_that_are_missed_can_be_tried_again(
    subtask: Subtask, targets: Targets, inventory: Inventory, state: WorldState, reason: str, claim: bool
) -> None:
    verdict = CHECKER.after(subtask, targets, inventory, state, Claim(claim))
    assert verdict.fault is not None
    assert verdict.retry
    assert (verdict.fault.code, verdict.fault.phase) == (ErrorCode.TOO_DIFFICULT, Phase.AFTER)
    verb = subtask.action.lower()
    assert verdict.fault.feedback == f"Unable to {verb}, the subtask is too difficult to perform"
    assert reason in verdict.fault.detail


def test_what_a_failed_skill_says_is_told_on() -> None:
    verdict = CHECKER.after(PICK_CAN, Targets(CAN), (), AT_TABLE, Claim(False, "no grasp (711)"))
    assert verdict.fault is not None
    assert verdict.fault.detail == f"the hand holds nothing, not {CAN}; skill: no grasp (711)"


def test_a_put_that_ends_elsewhere_has_lost_the_object() -> None:
    verdict = CHECKER.after(PUT_CAN, Targets(CAN, "fridge"), ("green_can",), ON_FLOOR, Claim(True))
    assert verdict.fault is not None
    assert not verdict.retry
    assert (verdict.fault.code, verdict.fault.phase) == (ErrorCode.OBJECT_MISSING, Phase.AFTER)
    assert verdict.fault.feedback == "Unable to put, and the object is missing"


def test_an_object_lost_on_the_way_is_an_error_of_the_go_to() -> None:
    state = replace(put(CARRYING, CAN, FLOOR), held="")
    verdict = CHECKER.after(
        Subtask("Go to", "fridge", model="M3"), Targets("fridge"), ("green_can",), state, Claim(True)
    )
    assert verdict.fault is not None
    assert not verdict.retry
    assert (verdict.fault.code, verdict.fault.phase) == (ErrorCode.OBJECT_MISSING, Phase.DURING)


def test_after_refuses_what_no_skill_does() -> None:
    with pytest.raises(ValueError, match=r"\[End\]"):
        CHECKER.after(Subtask("End"), Targets(), (), AT_TABLE, Claim(True))


def test_watch_reports_a_loss_once() -> None:
    watch = Watch(Subtask("Go to", "sofa", model="M3"), CARRYING)
    later = replace(CARRYING, stamp=1_000_000_000)
    lost = replace(put(CARRYING, CAN, FLOOR), held="", stamp=2_500_000_000)
    assert watch.see(later) is None
    fault = watch.see(lost)
    assert fault is not None
    assert (fault.code, fault.phase) == (ErrorCode.OBJECT_MISSING, Phase.DURING)
    assert fault.detail == f"{CAN} left the hand by 2.50 s"
    assert watch.see(lost) is None
    assert watch.is_over


def test_watch_is_over_before_it_begins_where_nothing_can_be_lost() -> None:
    go = Subtask("Go to", "sofa", model="M3")
    assert not Watch(go, CARRYING).is_over
    assert Watch(go, AT_TABLE).is_over
    assert Watch(PUT_CAN, CARRYING_TO_OPEN).is_over


def test_watch_overlooks_states_from_before_and_skills_that_change_the_hand() -> None:
    begin = replace(CARRYING, stamp=5_000_000_000)
    empty = replace(put(CARRYING, CAN, FLOOR), held="", stamp=1)
    assert Watch(Subtask("Go to", "sofa", model="M3"), begin).see(empty) is None
    assert Watch(PUT_CAN, CARRYING_TO_OPEN).see(IN_FRIDGE) is None
    assert Watch(Subtask("Go to", "sofa", model="M3"), AT_TABLE).see(picked(AT_TABLE, CAN)) is None


BLIND_BEFORE = {
    "action": (Subtask("Grab", "mug", model="octo"), (), ErrorCode.NOT_IN_LIST),
    "model": (Subtask("Pick", "mug", model="GraspNet"), (), ErrorCode.NOT_IN_LIST),
    "no model": (Subtask("Pick", "mug"), (), ErrorCode.NOT_IN_LIST),
    "name not in the table": (Subtask("Pick", "unicorn", model="RT-1-X"), (), ErrorCode.UNKNOWN_TARGET),
    "place not in the table": (Subtask("Put", "mug", "volcano", "RT-1-X"), ("mug",), ErrorCode.UNKNOWN_TARGET),
    "hand full": (Subtask("Pick", "mug", model="RT-1-X"), ("apple",), ErrorCode.HAND_FULL),
    "hand empty": (Subtask("Put", "mug", "sofa", "RT-1-X"), (), ErrorCode.HAND_EMPTY),
    "closed container": (Subtask("Pick", "mug", model="RT-1-X"), (), None),
    "no container": (Subtask("Open", "sofa", model="octo"), (), None),
    "known but not here": (Subtask("Go to", "banana", model="PixNav"), (), None),
}


@pytest.mark.parametrize(("subtask", "inventory", "code"), BLIND_BEFORE.values(), ids=BLIND_BEFORE.keys())
def test_without_background_information_only_what_the_robot_can_know_counts(
    subtask: Subtask, inventory: Inventory, code: ErrorCode | None
) -> None:
    fault = BLIND.before(subtask, inventory, None).fault
    assert (fault.code if fault else None) is code


def test_without_background_information_targets_are_canonical_names() -> None:
    permission = BLIND.before(Subtask("Put", "the green can", "Kitchen Counter", "RT-1-X"), ("green can",), None)
    assert permission.targets == Targets("potted_meat_can", "kitchen_counter")


@pytest.mark.parametrize("success", [True, False])
def test_without_background_information_the_skill_is_believed(success: bool) -> None:
    verdict = BLIND.after(Subtask("Pick", "mug", model="RT-1-X"), Targets("mug"), (), None, Claim(success))
    assert (verdict.fault is None) == success
    assert verdict.retry != success


SHUT_ON_NOTHING = {
    "pick": (Subtask("Pick", "mug", model="RT-1-X"), (), True, ErrorCode.TOO_DIFFICULT, Phase.AFTER),
    "go to": (Subtask("Go to", "sofa", model="NoMaD"), ("mug",), True, ErrorCode.OBJECT_MISSING, Phase.DURING),
    "put": (Subtask("Put", "mug", "sofa", "octo"), ("mug",), False, ErrorCode.OBJECT_MISSING, Phase.AFTER),
    "put that is done": (Subtask("Put", "mug", "sofa", "octo"), ("mug",), True, None, None),
    "go to with an empty hand": (Subtask("Go to", "sofa", model="NoMaD"), (), True, None, None),
}


@pytest.mark.parametrize(
    ("subtask", "inventory", "success", "code", "phase"), SHUT_ON_NOTHING.values(), ids=SHUT_ON_NOTHING.keys()
)
def test_without_background_information_fingers_that_are_shut_hold_nothing(
    subtask: Subtask, inventory: Inventory, success: bool, code: ErrorCode | None, phase: Phase | None
) -> None:
    fault = BLIND.after(subtask, Targets("mug"), inventory, None, Claim(success, fingers_shut=True)).fault
    assert ((fault.code, fault.phase) if fault else (None, None)) == (code, phase)
