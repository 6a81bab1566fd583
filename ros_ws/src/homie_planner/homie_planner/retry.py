"""When a request to a model is sent again, and how long to wait before: pure functions of what has happened."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, *range(506, 600)})
"""HTTP statuses after which the same request may well succeed: all but wrong requests, 501 and 505."""


class RequestFault(Exception):
    """One request has failed. The text is one line.

    ``details`` is all that the server said, ``retry_after`` the seconds that it asks to wait.
    """

    def __init__(
        self,
        text: str,
        *,
        transient: bool,
        status: int | None = None,
        details: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(text)
        self.transient = transient
        self.status = status
        self.details = details
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter: the n-th wait is between half and all of ``base_seconds * 2 ** (n - 1)``.

    No such wait is longer than ``max_seconds``. Where the server says how long to wait, that is the least, and the
    jitter comes on top, so that those who were told the same moment do not all come back in it.
    """

    max_retries: int
    base_seconds: float
    max_seconds: float

    def wait(
        self, failures: int, retry_after: float | None, remaining: float, random_state: random.Random
    ) -> float | None:
        """Seconds to wait after so many ``failures`` (from 1); None if there is to be no other try.

        There is none after ``max_retries`` of them, or if the wait would last for the ``remaining`` seconds.
        """
        if failures > self.max_retries:
            return None
        if retry_after is None:
            doublings = min(failures - 1, 64)
            seconds = min(self.max_seconds, self.base_seconds * 2.0**doublings) * random_state.uniform(0.5, 1.0)
        else:
            seconds = retry_after + random_state.uniform(0.0, self.base_seconds)
        return seconds if seconds < remaining else None


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a response asks to wait, never below zero; None if it does not say so in a readable way.

    ``Retry-After`` holds seconds or a date (RFC 9110, 10.2.3), ``retry-after-ms`` milliseconds. The names of
    ``headers`` are in lower case; ``now`` is the time in seconds since 1970.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1e3
    text = headers.get("retry-after", "")
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:  # "-0000": UTC, says RFC 5322
            date = date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None
