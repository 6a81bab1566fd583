"""Reset arm: fold the arm into a posture to drive with, keeping hold of what is in the hand."""

from __future__ import annotations

from homie_skills.manipulator import Manipulator


def reset_arm(manipulator: Manipulator) -> None:
    """Let go of a handle, leave furniture and fold the arm.

    Raises:
        NoMotion: the arm finds no way out.
    """
    manipulator.report("fold", 0.0)
    manipulator.stow()
