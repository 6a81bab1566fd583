"""Small ROS graphs for node tests: a fresh domain, real nodes, real peers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from homie_ros.domains import DomainReservation
from homie_ros.node_host import NodeHost


@contextmanager
def fresh_host() -> Iterator[NodeHost]:
    """A host whose nodes see each other and nobody else."""
    with DomainReservation() as domain, NodeHost(domain_id=domain.id) as host:
        yield host
