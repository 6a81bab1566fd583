"""The paper's inventory rule (appendix D, ``update_inventory``), from typed values instead of substrings."""

from __future__ import annotations

from homie_core.errors import ErrorCode
from homie_core.subtask import Subtask

Inventory = tuple[str, ...]


def update(inventory: Inventory, subtask: Subtask, success: bool, error_code: ErrorCode | None) -> Inventory:
    """The inventory after a step: a successful Pick adds its target, a successful Put or a lost object empties it.

    The robot has one hand; a Put takes out the last thing that was picked.
    """
    action = subtask.action.strip().lower()
    if success and action == "pick":
        return (*inventory, subtask.target)
    if (success and action == "put") or error_code is ErrorCode.OBJECT_MISSING:
        return inventory[:-1]
    return inventory


def text(inventory: Inventory) -> str:
    """The line that planners read: the names joined by a space, or None."""
    return " ".join(inventory) or "None"
