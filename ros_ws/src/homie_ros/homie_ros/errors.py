"""Failures of the machinery around an episode. None of them says anything about the planner or the skill."""

from __future__ import annotations


class InfrastructureError(RuntimeError):
    """A neighbour did not do its part. ``str(error)`` is the cause in one line."""


class DeadlineExceeded(InfrastructureError):
    """Something did not happen in time (wall clock)."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"waited {seconds:.1f} s for {what}")
        self.what = what
        self.seconds = seconds


class PeerLost(InfrastructureError):
    """The server that should answer is gone."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the server went away during {what}")
        self.what = what


class GoalRejected(InfrastructureError):
    """The action server refused the goal."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the server rejected {what}")
        self.what = what


class CallFailed(InfrastructureError):
    """A service answered that it failed."""

    def __init__(self, what: str, message: str) -> None:
        super().__init__(f"{what} failed: {message}")
        self.what = what
        self.message = message


class NodeStopped(InfrastructureError):
    """This node is being shut down, or does not spin."""

    def __init__(self, what: str) -> None:
        super().__init__(f"this node stopped during {what}")
        self.what = what


class Interrupted(InfrastructureError):
    """The caller asked to stop waiting: its own goal was cancelled."""

    def __init__(self, what: str) -> None:
        super().__init__(f"cancelled during {what}")
        self.what = what
