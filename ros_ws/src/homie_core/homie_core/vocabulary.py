"""What a planner may say: verbs, their arity, and the low-level models.

A vocabulary is data. EMMOE's is built in (paper, sections 3.2 and 3.3, tables E1 and E2).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """One action that a planner may choose.

    ``name`` is the canonical spelling; ``arguments`` are the names of what follows it in a subtask.
    """

    name: str
    arguments: tuple[str, ...]
    skill: str | None
    """Name of the skill that carries it out, or None when nothing is executed (End)."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Verbs and models of one benchmark and setting."""

    name: str
    verbs: tuple[Verb, ...]
    models: tuple[str, ...]

    def verb(self, text: str) -> Verb | None:
        """The verb that ``text`` names, whatever its case and spacing, or None."""
        wanted = " ".join(text.replace("_", " ").lower().split())
        return next((verb for verb in self.verbs if verb.name.lower() == wanted), None)

    def model(self, text: str) -> str | None:
        """The canonical spelling of the model that ``text`` names, whatever its case, or None."""
        wanted = text.strip().lower()
        return next((model for model in self.models if model.lower() == wanted), None)


GO_TO = Verb("Go to", ("target",), "go_to")
PICK = Verb("Pick", ("target",), "pick")
PUT = Verb("Put", ("target", "destination"), "put")
OPEN = Verb("Open", ("target",), "open")
CLOSE = Verb("Close", ("target",), "close")
END = Verb("End", (), None)

EMMOE_VERBS = (GO_TO, PICK, PUT, OPEN, CLOSE, END)

EMMOE = Vocabulary("emmoe", EMMOE_VERBS, ("NoMaD", "PixNav", "octo", "RT-1-X", "M3"))
"""Both settings of the paper. With background information M3 carries out whatever model is named."""
