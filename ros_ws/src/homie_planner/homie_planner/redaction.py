"""Keeps keys out of everything that is written down, whoever repeats them."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST_SECRET = 8
"""What is shorter is no secret but a filler ("none", "EMPTY"), and would be found inside words."""


class Redaction:
    """Replaces secrets in texts. Has to see a text before it is cut: half a key is no longer found."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first: one secret may hold another.
        self._secrets = sorted((secret for secret in secrets if len(secret) >= SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """``text`` with ``***`` in the place of each secret."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
