"""Native skills in a fresh world."""

from collections.abc import Callable

import pytest

from homie_core.skill import SkillOutcome, SkillTry
from homie_sim.native.skills import NativeSkills
from homie_sim.world import MujocoWorld

Do = Callable[..., SkillOutcome]


@pytest.fixture
def do(world: MujocoWorld) -> Do:
    """Does one try, or fails the test if it has to succeed and does not."""
    skills = NativeSkills(world)

    def act(skill: str, target: str = "", receptacle: str = "", *, must: bool = True) -> SkillOutcome:
        outcome = skills.execute(SkillTry(skill, target, receptacle))
        assert outcome.success or not must, f"{skill} {target}: {outcome.error_msg}"
        return outcome

    return act
