"""The transport's profile is there, and has room for an observation."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from homie_ros.fastdds import profile_path

OBSERVATION_BYTES = 4 * 256 * 256 * 3


def test_an_observation_fits_into_shared_memory() -> None:
    names = {"dds": "http://www.eprosima.com"}
    profile = ET.parse(profile_path())
    size = {name: int(profile.findtext(f".//dds:{name}", "0", names)) for name in ("segment_size", "maxMessageSize")}
    assert size["maxMessageSize"] > OBSERVATION_BYTES
    assert size["segment_size"] > 8 * OBSERVATION_BYTES
