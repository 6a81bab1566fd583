"""What happened while a skill ran: losses, stalls and collisions (paper, 3.3: the monitor watches the execution).

Found after a try from two states with known stamps and from the skill server's report, which is made from the physics
after every single command. A loss or a stall has by then ended the try; here it is told, with what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from homie_core.skill import SkillErrorCode
from homie_core.world_state import GRIPPER, Kind, ObjectState, WorldState
from homie_monitor.checks import Claim, Targets

PUSHED = 0.03
"""Metres that a thing which the subtask is not about must have moved to count as run into."""

_REPORTED = {SkillErrorCode.OBJECT_LOST: "loss", SkillErrorCode.STALLED: "stall"}


def incidents(targets: Targets, claim: Claim, before: WorldState | None, after: WorldState | None) -> tuple[str, ...]:
    """One line for each thing that happened during a try, the skill server's report first.

    The states are those before and after the try; None where the world may not be looked at.
    """
    kind = _REPORTED.get(claim.code)
    reported = (f"{kind}: {claim.message}",) if kind is not None else ()
    if before is None or after is None:
        return reported
    return (*reported, *_collisions(targets, before, after))


def _collisions(targets: Targets, before: WorldState, after: WorldState) -> Iterator[str]:
    """Objects that were pushed although the subtask is about something else."""
    for thing in after.objects:
        earlier = before.get(thing.id)
        if earlier is None or thing.kind is not Kind.OBJECT or thing.id == targets.object_id:
            continue
        if GRIPPER in (thing.parent, earlier.parent) or _rode(earlier, thing, before, after):
            continue
        distance = math.dist(earlier.position, thing.position)
        if distance > PUSHED:
            yield f"collision: {thing.id} was pushed {distance:.2f} m; it is in or on {thing.parent}"


def _rode(earlier: ObjectState, thing: ObjectState, before: WorldState, after: WorldState) -> bool:
    """Whether it lay in a container that was opened or closed, or in something movable, and so moved with it."""
    container, moved = before.get(earlier.parent), after.get(earlier.parent)
    if container is None or moved is None:
        return False
    if container.kind is Kind.OBJECT:
        return thing.parent == earlier.parent
    if not container.is_container:
        return False
    return abs(container.open_fraction - moved.open_fraction) > 1e-3
