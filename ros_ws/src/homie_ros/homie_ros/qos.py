"""The three ways in which topics are delivered here."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

EVENT_DEPTH = 100
"""Events of one episode that a late subscriber still gets; an episode has at most a few per step."""


def events() -> QoSProfile:
    """What happens once and must not be missed: episode/*, monitor/error, referee/*/score."""
    return _profile(EVENT_DEPTH, DurabilityPolicy.TRANSIENT_LOCAL)


def state() -> QoSProfile:
    """The latest value, also for who comes late: world_state, world_description, map."""
    return _profile(1, DurabilityPolicy.TRANSIENT_LOCAL)


def stream(depth: int = 10) -> QoSProfile:
    """A flow of measurements: joint_states, odom, tf, images. Reliable, because simulated time waits for no one."""
    return _profile(depth, DurabilityPolicy.VOLATILE)


def _profile(depth: int, durability: DurabilityPolicy) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=durability,
    )
