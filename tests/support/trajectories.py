"""Trajectories for tests, written as the paper prints them."""

from __future__ import annotations

import re

from homie_core.episode import EpisodeInfo, EpisodeResult, Outcome, Step
from homie_core.errors import SUCCESS_FEEDBACK, ErrorCode, feedback
from homie_core.inventory import Inventory, update
from homie_core.subtask import parse_brackets

APPENDIX_C_1 = """(1) [Go to, kitchen](success)
(2) [Open, drawer](success)
(3) [Put, short_can, drawer](fail)
(4) [Go to, kitchen_counter](success)
(5) [Put, short_can, kitchen_counter](fail)
(6) [Go to, drawer](success)
(7) [Put, short_can, drawer](fail)
(8) [Go to, kitchen_counter](success)
(9) [Put, short_can, kitchen_counter](fail)
(10) [Go to, drawer](success)
(11) [Put, short_can, drawer](fail)
(12) [Go to, kitchen_counter](success)
(13) [Put, short_can, kitchen_counter](fail)
(14) [Go to, drawer](success)
(15) [Put, short_can, drawer](fail)
(16) [Go to, kitchen_counter](success)
(17) [Put, short_can, kitchen_counter](fail)
(18) [Go to, drawer](success)
(19) [Put, short_can, drawer](fail)
(20) [Go to, kitchen_counter](success)"""
"""The unfinished run of the paper's appendix C.1."""

APPENDIX_C_2 = """(1) [Go to, kitchen_counter](success)
(2) [Go to, yellow_box](success)
(3) [Pick, yellow_box](success)
(4) [Go to, fridge](success)
(5) [Put, yellow_box, fridge](fail)
(6) [Open, fridge](fail)
(7) [Go to, kitchen_counter](success)
(8) [Put, yellow_box, kitchen_counter](success)
(9) [Go to, fridge](success)
(10) [Open, fridge](success)
(11) [Go to, kitchen_counter](success)
(12) [Pick, yellow_box](success)
(13) [Go to, fridge](success)
(14) [Put, yellow_box, fridge](success)
(15) [Close, fridge](success)
(16) [End]"""
"""The finished run of the paper's appendix C.2, for "take a yellow box and put it into the fridge"."""

_LINE = re.compile(r"\(\d+\)\s*\[?(?P<inside>[^\[\]()]*)\]?\s*(?:\((?P<result>success|fail)\))?")


def steps_of(text: str) -> tuple[Step, ...]:
    """Read lines such as ``(3) [Pick, yellow_box](fail)``; a line without a result succeeded."""
    steps: list[Step] = []
    inventory: Inventory = ()
    for match in _LINE.finditer(text):
        success = match["result"] != "fail"
        subtask = parse_brackets(f"[{match['inside'].strip()}]")
        code = None if success else ErrorCode.TOO_DIFFICULT
        after = update(inventory, subtask, success, code)
        sentence = SUCCESS_FEEDBACK if code is None else feedback(code, subtask.action, subtask.target)
        steps.append(
            Step(
                index=len(steps) + 1,
                subtask=subtask,
                success=success,
                error_code=code,
                feedback=sentence,
                inventory_before=inventory,
                inventory_after=after,
            )
        )
        inventory = after
    return tuple(steps)


def info(episode_id: str = "e1", **fields: object) -> EpisodeInfo:
    """What an episode's announcement says, with any field replaced."""
    values: dict[str, object] = {
        "episode_id": episode_id,
        "benchmark": "emmoe",
        "task_id": "100_green_can_to_fridge",
        "instruction": "put the green_can on the brown_table to the fridge",
        "scene": "house_1",
        "seed": 7,
        "trial": 1,
        "planner": "replay:case_1",
        "setting": "background_information",
    }
    return EpisodeInfo(**{**values, **fields})  # type: ignore[arg-type]


def result(steps: tuple[Step, ...], outcome: Outcome = Outcome.ENDED) -> EpisodeResult:
    """How an episode with these steps stopped."""
    return EpisodeResult(outcome, len(steps))
