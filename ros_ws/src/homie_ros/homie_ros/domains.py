"""Domain ids: graphs under different ids do not see each other."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Self

from homie_ros.errors import InfrastructureError

DOMAIN_IDS = range(20, 102)
"""Ids that are handed out. The ones below are left to people; above 101 the ports may be in use by others."""

_BASE_PORT = 22000


class DomainReservation:
    """A domain id that no other reservation on this machine has, until it is closed or its process ends.

    The id is held by a listening TCP port on the loopback interface, so that a crash gives it back. Use as a context
    manager, or call `close`.

    Raises:
        InfrastructureError: all ids are taken.
    """

    def __init__(self, candidates: Iterable[int] = DOMAIN_IDS) -> None:
        for domain_id in candidates:
            lock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                lock.bind(("127.0.0.1", _BASE_PORT + domain_id))
                lock.listen(1)
            except OSError:
                lock.close()
                continue
            self.id = domain_id
            self._lock = lock
            return
        raise InfrastructureError("no free ROS domain id on this machine")

    def close(self) -> None:
        """Give the id back."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
