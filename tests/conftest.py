"""Every test process has a ROS domain of its own, on this machine only."""

from collections.abc import Iterator

import hypothesis
import pytest

from homie_ros.domains import DomainReservation

# The time of one example says how busy the machine is, and nothing about the code.
hypothesis.settings.register_profile("homie", deadline=None)
hypothesis.settings.load_profile("homie")


@pytest.fixture(scope="session", autouse=True)
def ros_domain() -> Iterator[int]:
    """Keep the graphs of this process and of those it starts apart from all others, parallel runs of the tests too."""
    with DomainReservation() as reservation, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(reservation.id))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        yield reservation.id
