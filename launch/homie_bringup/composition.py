"""All nodes of a graph in this process, each in a thread of its own."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Self

from homie_bringup.graph import NodeSpec
from homie_ros.node_host import NodeHost


class Composition:
    """Starts every node of a graph in one process. The counterpart of `homie_bringup.processes.Processes`."""

    def __init__(self, specs: Sequence[NodeSpec], domain: int) -> None:
        self._specs = specs
        self._host = NodeHost(domain_id=domain)

    def __enter__(self) -> Self:
        try:
            for spec in self._specs:
                node_class = getattr(importlib.import_module(spec.module), spec.node_class)
                self._host.add(
                    node_class,
                    parameters=spec.parameters,
                    use_global_arguments=False,
                    start_parameter_services=False,
                )
        except BaseException:
            self._host.close()
            raise
        return self

    def __exit__(self, *details: object) -> None:
        self._host.close()

    def failure(self) -> str:
        """The cause of the first node's failure; empty while all run."""
        return "" if self._host.failure is None else str(self._host.failure)
