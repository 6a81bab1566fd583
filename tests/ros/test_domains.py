"""No two reservations share a domain id."""

from __future__ import annotations

import pytest

from homie_ros.domains import DomainReservation
from homie_ros.errors import InfrastructureError


def test_reservations_differ_and_are_given_back() -> None:
    with DomainReservation() as one, DomainReservation() as two:
        assert one.id != two.id
        with pytest.raises(InfrastructureError, match="no free ROS domain id"):
            DomainReservation([one.id, two.id])
        again = one.id
    with DomainReservation([again]) as three:
        assert three.id == again
