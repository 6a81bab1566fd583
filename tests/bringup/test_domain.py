"""Each run gets a domain of its own, unless its user names one."""

import pytest

from homie_bringup.domain import DomainError, run_domain


def test_two_at_once_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)
    with run_domain() as first, run_domain() as second:
        assert first != second


def test_the_users_wish_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "150")
    with run_domain() as domain:
        assert domain == 150


@pytest.mark.parametrize("wish", ["x", "-1", "233", "1.5"])
def test_a_wrong_wish_is_named(monkeypatch: pytest.MonkeyPatch, wish: str) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", wish)
    with pytest.raises(DomainError, match="ROS_DOMAIN_ID"), run_domain():
        pass
