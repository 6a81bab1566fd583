"""The monitor's decisions as pure functions of a world state (paper, section 3.3 and appendix E).

Before a subtask `Checker.before` looks for errors in the paper's order: format, logic, distance. After each try
`Checker.after` judges from the state in which the skill left the world, never from what the skill claims. While a skill
runs, `Watch` notices that the hand has lost what it carried.

With background information all of it applies. Without, nobody may look at the world's state, so that what is left is
the action, the model, the name table, the inventory, the gripper's own fingers, and the skill's report.

Distances, which the paper gives only as limits:

- *too far*: from the base's origin on the floor to the nearest point of the target's bounding box, in three dimensions;
- *too close*: the horizontal gap between the base's round footprint and that box. Nearer than the limit the body is in
  the way of the arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from homie_core import inventory as inventories
from homie_core import names
from homie_core.episode import Setting
from homie_core.errors import ErrorCode, Fault, Phase, feedback
from homie_core.inventory import Inventory
from homie_core.names import Role
from homie_core.skill import SkillErrorCode
from homie_core.subtask import Subtask
from homie_core.vocabulary import CLOSE, EMMOE, GO_TO, OPEN, PICK, PUT, Verb, Vocabulary
from homie_core.world_state import GRIPPER, Kind, ObjectState, WorldState

REACH = 2.0
"""Metres beyond which a target is too far away (D1)."""

CLEARANCE = 0.1
"""Metres below which a target is too close (D2)."""

FOOTPRINT_RADIUS = 0.28
"""Radius of the Fetch's base, metres."""

CLOSED_FRACTION = 0.1
"""A container is closed again below this share of its travel (original: 0.15 of 1.57 rad, 0.1 of 0.5 m)."""

_ROLES = {
    GO_TO.name: Role.VISIT,
    PICK.name: Role.PICK,
    PUT.name: Role.PUT_OBJECT,
    OPEN.name: Role.OPEN,
    CLOSE.name: Role.CLOSE,
}


@dataclass(frozen=True, slots=True)
class Targets:
    """What a subtask's names mean: ids in the world, or canonical names where the world is not known."""

    object_id: str = ""
    receptacle_id: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a skill server reports about a try. With background information it is told on, but decides nothing."""

    success: bool
    message: str = ""
    code: SkillErrorCode = SkillErrorCode.NONE
    fingers_shut: bool = False
    """The gripper's own joints say that nothing is between the fingers; False: they do not tell."""

    def explain(self, reason: str) -> str:
        """``reason``, and what the skill says about its failure."""
        return f"{reason}; skill: {self.message}" if self.message and not self.success else reason


@dataclass(frozen=True, slots=True)
class Permission:
    """The answer before a subtask: ``fault`` is None if it may start."""

    fault: Fault | None
    targets: Targets = Targets()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer after a try: ``fault`` is None if the subtask has reached its goal.

    A fault that can be tried again is `ErrorCode.TOO_DIFFICULT`; it becomes the step's error when no try is left.
    """

    fault: Fault | None
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Checker:
    """Decides about subtasks in one setting.

    The limits are in metres. ``state`` is None exactly in the setting without background information.
    """

    setting: Setting = Setting.BACKGROUND_INFORMATION
    vocabulary: Vocabulary = EMMOE
    reach: float = REACH
    clearance: float = CLEARANCE
    footprint_radius: float = FOOTPRINT_RADIUS

    @property
    def sees_world(self) -> bool:
        """Whether it needs the state of the world."""
        return self.setting is Setting.BACKGROUND_INFORMATION

    def before(self, subtask: Subtask, inventory: Inventory, state: WorldState | None) -> Permission:
        """Look for errors that forbid to start ``subtask``; the first one in the paper's order is the answer."""
        verb = self.vocabulary.verb(subtask.action)
        if verb is None or verb.skill is None:
            return _refuse(ErrorCode.NOT_IN_LIST, subtask, subtask.action, f"actions: {self._actions()}")
        if not self._model_allowed(subtask.model):
            name = subtask.model or "no model"
            return _refuse(ErrorCode.NOT_IN_LIST, subtask, name, f"models: {', '.join(self.vocabulary.models)}")
        if not self.sees_world or state is None:
            return self._before_blind(verb, subtask, inventory)
        targets = _resolve(verb, subtask, state)
        if isinstance(targets, Fault):
            return Permission(targets)
        fault = _logic_fault(verb, subtask, targets, state) or self._distance_fault(verb, subtask, targets, state)
        return Permission(fault, targets)

    def after(
        self, subtask: Subtask, targets: Targets, inventory: Inventory, state: WorldState | None, claim: Claim
    ) -> Verdict:
        """Judge a try. ``inventory`` is that before the subtask; ``state`` that at the end of the skill.

        Raises:
            ValueError: ``subtask`` is nothing that a skill carries out.
        """
        verb = self.vocabulary.verb(subtask.action)
        if verb is None or verb.skill is None:
            raise ValueError(f"{subtask.brackets()} is nothing that a skill carries out")
        if not self.sees_world or state is None:
            return _judge_blind(verb, subtask, inventory, claim)
        reason = self._unmet(verb, targets, state)
        if _object_lost(verb, inventory, state, bool(reason)):
            detail = claim.explain(f"the hand is empty; {reason}" if reason else "the hand lost what it carried")
            phase = Phase.AFTER if verb is PUT else Phase.DURING
            return Verdict(_fault(ErrorCode.OBJECT_MISSING, subtask, "", detail, phase))
        if not reason:
            return Verdict(None)
        return Verdict(_fault(ErrorCode.TOO_DIFFICULT, subtask, "", claim.explain(reason), Phase.AFTER), retry=True)

    def _actions(self) -> str:
        return ", ".join(verb.name for verb in self.vocabulary.verbs)

    def _model_allowed(self, model: str) -> bool:
        """With background information M3 is the only choice, so naming none is as good as naming it."""
        return self.vocabulary.model(model) is not None or (self.sees_world and not model)

    def _before_blind(self, verb: Verb, subtask: Subtask, inventory: Inventory) -> Permission:
        for name in _names(verb, subtask):
            if not names.parse(name).known:
                return _refuse(ErrorCode.UNKNOWN_TARGET, subtask, name, "not in the name table")
        fault = _hand_fault(verb, subtask, inventories.text(inventory) if inventory else "")
        receptacle = names.canonical(subtask.destination, role=Role.PUT_PLACE) if verb is PUT else ""
        return Permission(fault, Targets(names.canonical(subtask.target), receptacle))

    def _distance_fault(self, verb: Verb, subtask: Subtask, targets: Targets, state: WorldState) -> Fault | None:
        if verb is GO_TO:
            return None
        thing = state[targets.receptacle_id or targets.object_id]
        distance = distance_3d(thing, state)
        if distance > self.reach:
            detail = f"distance {distance:.2f} m > {self.reach:.2f} m to {thing.id}"
            return _fault(ErrorCode.TOO_FAR, subtask, "", detail)
        gap = names.distance(thing, state.robot_pose) - self.footprint_radius
        if gap < self.clearance:
            detail = f"gap {gap:.2f} m < {self.clearance:.2f} m to {thing.id}"
            return _fault(ErrorCode.TOO_CLOSE, subtask, "", detail)
        return None

    def _unmet(self, verb: Verb, targets: Targets, state: WorldState) -> str:
        """Why the subtask has not reached its goal, or empty if it has."""
        thing = state.get(targets.object_id)
        if thing is None:
            return f"{targets.object_id or 'the target'} is no longer in the scene"
        if verb is GO_TO:
            return _not_at(thing, state, self.reach)
        if verb is PICK:
            return "" if state.held == thing.id else f"the hand holds {state.held or 'nothing'}, not {thing.id}"
        if verb is PUT:
            return _not_put(thing, targets.receptacle_id, state)
        if verb is OPEN:
            return "" if thing.is_open else f"{thing.id} is open to {thing.open_fraction:.0%} only"
        return "" if thing.open_fraction < CLOSED_FRACTION else f"{thing.id} is still open to {thing.open_fraction:.0%}"


class Watch:
    """Watches the hand while a skill carries an object somewhere; a Pick or a Put changes the hand by itself.

    Its find is an early notice for whoever looks on. What the step's result becomes is decided by `Checker.after`
    from the state at the end of the skill, so that it never depends on when a message arrives.
    """

    def __init__(self, subtask: Subtask, state: WorldState, vocabulary: Vocabulary = EMMOE) -> None:
        verb = vocabulary.verb(subtask.action)
        self._subtask = subtask
        self._held = state.held if verb is not None and verb not in (PICK, PUT) else ""
        self._since = state.stamp

    @property
    def is_over(self) -> bool:
        """Whether no state can show a fault (any more)."""
        return not self._held

    def see(self, state: WorldState) -> Fault | None:
        """The fault that ``state`` shows, once; states from before the watch began are overlooked."""
        if self.is_over or state.stamp < self._since or state.held == self._held:
            return None
        detail = f"{self._held} left the hand by {state.stamp / 1e9:.2f} s"
        self._held = ""
        return _fault(ErrorCode.OBJECT_MISSING, self._subtask, "", detail, Phase.DURING)


def distance_3d(thing: ObjectState, state: WorldState) -> float:
    """Metres from the base's origin on the floor to the bounding box of ``thing``."""
    center = thing.box_center if any(thing.box_size) else thing.position
    height = max(abs(center[2]) - thing.box_size[2] / 2, 0.0)
    return math.hypot(names.distance(thing, state.robot_pose), height)


def _judge_blind(verb: Verb, subtask: Subtask, inventory: Inventory, claim: Claim) -> Verdict:
    """The skill is believed, unless the robot's own fingers are shut where something should be between them."""
    if claim.fingers_shut and inventory and not (verb is PUT and claim.success):
        detail = claim.explain("the fingers are shut on nothing")
        phase = Phase.AFTER if verb is PUT else Phase.DURING
        return Verdict(_fault(ErrorCode.OBJECT_MISSING, subtask, "", detail, phase))
    if claim.success and not (claim.fingers_shut and verb is PICK):
        return Verdict(None)
    reason = "the fingers are shut on nothing" if claim.success else "the skill reports a failure"
    return Verdict(_fault(ErrorCode.TOO_DIFFICULT, subtask, "", claim.explain(reason), Phase.AFTER), retry=True)


def _names(verb: Verb, subtask: Subtask) -> tuple[str, ...]:
    return (subtask.target, subtask.destination)[: len(verb.arguments)]


def _resolve(verb: Verb, subtask: Subtask, state: WorldState) -> Targets | Fault:
    """The things that the names mean, or F2."""
    roles = (_ROLES[verb.name], Role.PUT_PLACE)
    found = []
    for name, role in zip(_names(verb, subtask), roles, strict=False):
        resolution = names.resolve(name, state, role)
        if resolution is None:
            detail = names.unresolved_reason(name, state)
            return _fault(ErrorCode.UNKNOWN_TARGET, subtask, name or "an empty name", detail)
        found.append(resolution)
    note = "; ".join(resolution.note for resolution in found if resolution.note)
    return Targets(found[0].id, found[1].id if len(found) > 1 else "", note)


def _logic_fault(verb: Verb, subtask: Subtask, targets: Targets, state: WorldState) -> Fault | None:
    """L1 to L4. What the hand holds is taken from the world: a planner may believe anything."""
    return (
        _hand_fault(verb, subtask, state.held)
        or _closed_fault(verb, subtask, targets, state)
        or _interaction_fault(verb, subtask, targets, state)
    )


def _hand_fault(verb: Verb, subtask: Subtask, held: str) -> Fault | None:
    if held and verb in (PICK, OPEN, CLOSE):
        return _fault(ErrorCode.HAND_FULL, subtask, "", f"the hand holds {held}")
    if not held and verb is PUT:
        return _fault(ErrorCode.HAND_EMPTY, subtask, "", "the hand holds nothing")
    return None


def _closed_fault(verb: Verb, subtask: Subtask, targets: Targets, state: WorldState) -> Fault | None:
    """A closed container hides what is to be picked, or where something is to be put. Going near it is fine."""
    if verb not in (PICK, PUT):
        return None
    place = targets.receptacle_id or targets.object_id
    container = state.closed_container_of(place)
    if container is None:
        return None
    name = subtask.destination if container.id == targets.receptacle_id else names.name_of(container.id, state)
    detail = f"{container.id} is open to {container.open_fraction:.0%}"
    return _fault(ErrorCode.CONTAINER_CLOSED, subtask, name, detail)


def _interaction_fault(verb: Verb, subtask: Subtask, targets: Targets, state: WorldState) -> Fault | None:
    thing = state[targets.object_id]
    if verb in (OPEN, CLOSE) and not thing.is_container:
        return _fault(ErrorCode.NOT_INTERACTIVE, subtask, subtask.target, f"{thing.id} is no container")
    if verb is PICK and thing.kind is not Kind.OBJECT:
        return _fault(ErrorCode.NOT_INTERACTIVE, subtask, subtask.target, f"{thing.id} cannot be moved")
    if verb is not PUT:
        return None
    if thing.id != state.held:
        detail = f"the hand holds {state.held}, not {thing.id}"
        return _fault(ErrorCode.NOT_INTERACTIVE, subtask, subtask.target, detail)
    receptacle = state[targets.receptacle_id]
    if not receptacle.is_receptacle or receptacle.id in (thing.id, *state.contents_of(thing.id)):
        return _fault(ErrorCode.NOT_INTERACTIVE, subtask, subtask.destination, f"{receptacle.id} is no receptacle")
    return None


def _object_lost(verb: Verb, inventory: Inventory, state: WorldState, failed: bool) -> bool:
    """Whether an object was in the hand before the subtask and is now neither there nor where it should be."""
    if state.held or not inventory:
        return False
    return verb is not PUT or failed


def _not_at(thing: ObjectState, state: WorldState, reach: float) -> str:
    if thing.kind is Kind.PLACE:
        inside = names.distance(thing, state.robot_pose) == 0.0
        return "" if inside else f"the base is not inside {thing.id}"
    distance = distance_3d(thing, state)
    return "" if distance <= reach else f"the base is {distance:.2f} m from {thing.id}, more than {reach:.2f} m"


def _not_put(thing: ObjectState, receptacle_id: str, state: WorldState) -> str:
    if state.held == thing.id or thing.parent == GRIPPER:
        return f"{thing.id} is still in the hand"
    if thing.parent != receptacle_id:
        return f"{thing.id} is in or on {thing.parent or 'nothing'}, not {receptacle_id}"
    return f"the hand holds {state.held}" if state.held else ""


def _fault(code: ErrorCode, subtask: Subtask, name: str = "", detail: str = "", phase: Phase = Phase.BEFORE) -> Fault:
    return Fault(code, feedback(code, subtask.action, name), phase, detail)


def _refuse(code: ErrorCode, subtask: Subtask, name: str, detail: str) -> Permission:
    return Permission(_fault(code, subtask, name, detail))
