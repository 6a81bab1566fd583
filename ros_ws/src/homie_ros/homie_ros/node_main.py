"""The ``main`` of every node's executable."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from homie_ros.errors import InfrastructureError
from homie_ros.homie_node import HomieNode
from homie_ros.node_host import NodeFailed, NodeHost
from homie_ros.parameters import ParameterError

EXIT_FAILED = 1
EXIT_BAD_PARAMETER = 2


def run_node(factory: Callable[..., HomieNode], args: Sequence[str] | None = None) -> int:
    """Run one node until SIGINT or SIGTERM, and return the process's exit code.

    0: stopped by a signal. 1: the node failed; the traceback is on stderr. 2: a parameter is wrong; one line says
    which. The first signal lets the node end what it does while it still spins; a second one kills it.
    """
    host = NodeHost(args=args)
    _stop_on_signals(host)
    try:
        host.add(factory)
        host.wait()
    except ParameterError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_BAD_PARAMETER
    except NodeFailed as failure:
        sys.stderr.write(f"{failure.details}{failure}\n")
        return EXIT_FAILED
    except InfrastructureError as error:  # the node can not start, and knows why
        sys.stderr.write(f"{error}\n")
        return EXIT_FAILED
    finally:
        host.close()
    return 0


def _stop_on_signals(host: NodeHost) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_DFL)
        host.stop()

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, stop)
