"""The stand-in interfaces are, on the wire, the real ones of ROS 2 Jazzy.

A node of ours and one of Nav2 or ros2_control understand each other if the type hashes agree. The hashes below are
those of the definitions in control_msgs 5.8.0, navigation2 1.3.12 and geometry2 0.36 (their jazzy branches).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HASHES = {
    "control_msgs/action/FollowJointTrajectory": "738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6",
    "control_msgs/action/GripperCommand": "e17c0e644eccf14bea84a0a93e0977182872c2eb7873ca6694900059b46dbc84",
    "control_msgs/msg/GripperCommand": "57eb8f326c9889ca8bb34ead82cc94cc09bf6bc5c3b6c09546dca3a00b589890",
    "control_msgs/msg/JointComponentTolerance": "739ea7566931944d33830fa10f1bf5e7a7fbdc3172bce7a7eaac642bd6e3ffa4",
    "control_msgs/msg/JointTolerance": "c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648",
    "nav2_msgs/action/FollowPath": "9d95513552fb578cfb933d7e0160273911269cbdf4b348f1acb87d8a903b13cf",
    "nav2_msgs/action/NavigateToPose": "a56dba8a3234a1215e610180dc703ae25bbf406dded8b54887891c9732857eab",
    "tf2_msgs/msg/TF2Error": "db2485e7d6a0ec75bf087e058ee45df682acc3a621ca7780503d10aac141809a",
    "tf2_msgs/msg/TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
}


@pytest.mark.parametrize(("interface", "expected"), HASHES.items())
def test_type_hash(interface: str, expected: str) -> None:
    packages = pytest.importorskip("ament_index_python.packages")
    package, kind, name = interface.split("/")
    description = Path(packages.get_package_share_directory(package)) / kind / f"{name}.json"
    (entry, *_) = (
        entry for entry in json.loads(description.read_text())["type_hashes"] if entry["type_name"] == interface
    )
    assert entry["hash_string"] == f"RIHS01_{expected}"
