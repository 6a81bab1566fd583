"""Whether and when a request is sent again."""

import math
import random
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homie_planner.retry import TRANSIENT_STATUSES, RetryPolicy, retry_after_seconds

NOW = 1_700_000_000.0
POLICY = RetryPolicy(max_retries=5, base_seconds=1.0, max_seconds=10.0)


@pytest.mark.parametrize("status", [200, 307, 400, 401, 403, 404, 422, 501, 505])
def test_permanent_statuses(status: int) -> None:
    assert status not in TRANSIENT_STATUSES


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_transient_statuses(status: int) -> None:
    assert status in TRANSIENT_STATUSES


@pytest.mark.parametrize(("failures", "least", "most"), [(1, 0.5, 1), (2, 1, 2), (3, 2, 4), (4, 4, 8), (5, 5, 10)])
@given(seed=st.integers())
def test_the_wait_doubles_up_to_its_limit(failures: int, least: float, most: float, seed: int) -> None:
    seconds = POLICY.wait(failures, None, math.inf, random.Random(seed))
    assert seconds is not None
    assert least <= seconds <= most


@given(
    failures=st.integers(1, 10_000),
    retries=st.integers(0, 10_000),
    base=st.floats(1e-3, 1e3),
    longest=st.floats(1e-3, 1e4),
    asked=st.none() | st.floats(0, 1e5),
    remaining=st.floats(0, 1e5),
    seed=st.integers(),
)
def test_a_wait_is_bounded(
    failures: int, retries: int, base: float, longest: float, asked: float | None, remaining: float, seed: int
) -> None:
    policy = RetryPolicy(retries, base, longest)
    seconds = policy.wait(failures, asked, remaining, random.Random(seed))
    again = policy.wait(failures, asked, remaining, random.Random(seed))
    assert seconds == again
    if seconds is None:
        assert failures > retries or (asked or 0.0) + base >= remaining or longest >= remaining
        return
    assert failures <= retries
    assert 0 <= seconds < remaining
    if asked is None:
        assert seconds <= longest
    else:
        assert asked <= seconds <= asked + base


def test_those_who_were_told_the_same_moment_spread() -> None:
    waits = {POLICY.wait(1, 2.0, 60.0, random.Random(seed)) for seed in range(20)}
    assert len(waits) == 20


def test_no_other_try_after_the_last() -> None:
    assert POLICY.wait(6, None, math.inf, random.Random(0)) is None
    assert RetryPolicy(0, 1.0, 1.0).wait(1, 0.0, math.inf, random.Random(0)) is None


@given(st.integers(0, 10**9))
def test_seconds(seconds: int) -> None:
    assert retry_after_seconds({"retry-after": str(seconds)}, NOW) == seconds
    assert retry_after_seconds({"retry-after-ms": str(seconds)}, NOW) == pytest.approx(seconds / 1000)


@given(st.integers(-(10**8), 10**8))
def test_a_date(ahead: int) -> None:
    date = format_datetime(datetime.fromtimestamp(NOW + ahead, tz=UTC), usegmt=True)
    assert retry_after_seconds({"retry-after": date}, NOW) == max(0, ahead)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Tue, 14 Nov 2023 22:13:30 GMT", 10.0),  # NOW is 22:13:20
        ("Tuesday, 14-Nov-23 22:13:30 GMT", 10.0),
        ("Tue, 14 Nov 2023 22:13:30 -0000", 10.0),
        ("Wed, 15 Nov 2023 00:13:30 +0200", 10.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        (" 7 ", 7.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("99 Foo 9999 99:99:99", None),
    ],
)
def test_forms_of_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after_seconds({"retry-after": text}, NOW) == seconds


DATE_LIKE = r"[A-Z][a-z]{2}, \d{1,4} (Jan|Dec) \d{1,12} \d\d:\d\d:\d\d( [-+]\d{1,9}| GMT)?"


@given(st.text(max_size=60) | st.from_regex(DATE_LIKE))
def test_nonsense_is_never_an_error(text: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = retry_after_seconds({name: text}, NOW)
        assert seconds is None or (seconds >= 0 and math.isfinite(seconds))


def test_neither_header() -> None:
    assert retry_after_seconds({"content-type": "text/html"}, NOW) is None
