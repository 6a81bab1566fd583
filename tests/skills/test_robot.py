from __future__ import annotations

import re
from pathlib import Path

import pytest

from homie_core.skill import SkillErrorCode
from homie_skills import robot
from homie_skills.robot import SkillError

ACTION = Path(__file__).parents[2] / "msgs" / "action" / "ExecuteSkill.action"


def test_error_codes_are_those_of_the_action() -> None:
    constants = dict(re.findall(r"^uint16 (\w+) = (\d+)", ACTION.read_text(), flags=re.MULTILINE))
    assert {code.name: str(code.value) for code in SkillErrorCode} == constants


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (robot.UnknownSkill, SkillErrorCode.UNKNOWN_SKILL),
        (robot.NoPath, SkillErrorCode.NO_PATH),
        (robot.NavigationFailed, SkillErrorCode.NO_PATH),
        (robot.ToleranceViolated, SkillErrorCode.STALLED),
        (robot.BaseBlocked, SkillErrorCode.STALLED),
        (robot.CommandTimeout, SkillErrorCode.ROBOT_FAILURE),
        (robot.SkillTimeout, SkillErrorCode.TIMEOUT),
        (robot.Stalled, SkillErrorCode.STALLED),
    ],
)
def test_errors_carry_their_code(error: type[SkillError], code: SkillErrorCode) -> None:
    assert error("why").code is code
