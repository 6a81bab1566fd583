"""What every skill server answers: one try of a skill, and how it ended. Mirrors homie_msgs/action/ExecuteSkill."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class SkillErrorCode(IntEnum):
    """Error codes of a skill; the numbers are those of homie_msgs/action/ExecuteSkill."""

    NONE = 0
    UNKNOWN_SKILL = 700
    UNKNOWN_TARGET = 701
    NO_PATH = 710
    NO_GRASP = 711
    NO_MOTION = 712
    GRASP_FAILED = 713
    OBJECT_LOST = 714
    STALLED = 715
    TIMEOUT = 716
    ROBOT_FAILURE = 717


@dataclass(frozen=True, slots=True)
class SkillTry:
    """One try of a skill. ``seed``, ``step``, ``attempt`` and ``skill`` fix every random choice of it.

    ``timeout`` is simulation seconds; ``step`` and ``attempt`` count from 1.
    """

    skill: str
    target: str = ""
    receptacle: str = ""
    timeout: float = 180.0
    seed: int = 0
    step: int = 1
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class SkillOutcome:
    """How a try ended; the shape of homie_msgs/action/ExecuteSkill's result.

    ``fingers_shut``: the gripper's joints say that nothing is between the fingers; False: they do not tell.
    """

    success: bool
    error_code: SkillErrorCode
    error_msg: str
    fingers_shut: bool = False
