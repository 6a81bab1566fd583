"""The versions that an episode's record names, so that a changed score can be traced to a changed library."""

from __future__ import annotations

import platform
from importlib import metadata

PACKAGES = (
    "homie_core",
    "homie_msgs",
    "homie_planner",
    "homie_skills",
    "homie_monitor",
    "homie_referee",
    "homie_sim",
    "homie_eval",
    "mujoco",
    "numpy",
    "rclpy",
)


def versions() -> dict[str, str]:
    """Python's version and that of each package that is installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed as a package"
    return found
