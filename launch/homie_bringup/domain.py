"""The ROS domain of a run: the user's, or one of its own so that runs on one machine do not see each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from homie_ros.domains import DomainReservation

HIGHEST_DOMAIN = 232
"""Above it, the ports that DDS derives from the id do not exist."""


class DomainError(ValueError):
    """``ROS_DOMAIN_ID`` is not a domain id."""


@contextmanager
def run_domain() -> Iterator[int]:
    """The domain id of ``ROS_DOMAIN_ID`` if it is set, else one that no other run on this machine has.

    Raises:
        DomainError: ``ROS_DOMAIN_ID`` is not a domain id.
        InfrastructureError: all domains are taken.
    """
    wanted = os.environ.get("ROS_DOMAIN_ID")
    if not wanted:
        with DomainReservation() as reservation:
            yield reservation.id
        return
    if not wanted.isdecimal() or int(wanted) > HIGHEST_DOMAIN:
        raise DomainError(f"ROS_DOMAIN_ID {wanted!r}: must be a whole number from 0 to {HIGHEST_DOMAIN}")
    yield int(wanted)
