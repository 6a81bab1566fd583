"""Settings of the transport under ROS, for Fast DDS; other middlewares ignore them."""

from __future__ import annotations

import os
from pathlib import Path

PROFILE_VARIABLE = "FASTRTPS_DEFAULT_PROFILES_FILE"
"""Environment variable that names the profile; it is read when a process enters the graph."""


def profile_path() -> Path:
    """The profile for processes of this stack.

    It gives shared memory room for an observation (four pictures are larger than the default segment of 512 kB, which
    costs 10 ms each time), and lets the others notice within seconds that a process was killed (20 s by default).
    """
    return Path(__file__).with_name("fastdds_profile.xml")


def set_transport_defaults() -> None:
    """Let the ROS nodes of this process, and of those it starts, use the profile and keep to this machine.

    What the environment says already stays.
    """
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault(PROFILE_VARIABLE, str(profile_path()))
