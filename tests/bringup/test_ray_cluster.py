"""Which clusters can be named, and what is said where Ray is missing."""

from __future__ import annotations

import sys

import pytest

from homie_bringup.ray_cluster import RayOptions
from homie_bringup.settings import SettingsError


@pytest.mark.parametrize(
    ("address", "endpoint"),
    [
        ("auto", None),
        ("local", None),
        ("10.0.0.1:6379", ("10.0.0.1", 6379)),
        ("head.example:6379", ("head.example", 6379)),
        ("[fd00::1]:6379", ("fd00::1", 6379)),
    ],
)
def test_addresses(address: str, endpoint: tuple[str, int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", sys)  # whatever it is: it can be imported
    options = RayOptions(address)
    options.check()
    assert options.endpoint == endpoint


@pytest.mark.parametrize(
    "address",
    ["head.example", "head.example:", ":6379", "http://head:1", "ray://head:1", "a b:1", "local:x", "head:65536"],
)
def test_what_is_no_address_is_refused_with_what_is_allowed(address: str) -> None:
    with pytest.raises(SettingsError, match=r"is no address of a cluster; allowed: auto, local, HOST:PORT$"):
        RayOptions(address).check()


def test_where_ray_is_missing_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SettingsError, match="ray is not installed; install it with: make extra-ray"):
        RayOptions("auto").check()
