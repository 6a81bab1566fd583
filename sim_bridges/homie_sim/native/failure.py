"""How a native skill says that a try fails."""

from __future__ import annotations

from homie_core.skill import SkillErrorCode


class SkillFailure(Exception):
    """A try fails. ``code`` is that of ExecuteSkill; the text says what was found."""

    def __init__(self, code: SkillErrorCode, text: str) -> None:
        super().__init__(text)
        self.code = code
