"""Definitions from the installed interfaces are those that readers of bags compute."""

from __future__ import annotations

import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from homie_referee.message_definitions import DefinitionError, message_definition

TYPES = ["std_msgs/msg/String", "homie_msgs/msg/WorldState", "homie_msgs/msg/Observation", "sensor_msgs/msg/JointState"]


@pytest.mark.parametrize("type_name", TYPES)
def test_text_and_hash_agree(type_name: str) -> None:
    definition = message_definition(type_name)
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition.text, type_name))
    assert store.hash_rihs01(type_name) == definition.type_hash


@pytest.mark.parametrize("type_name", ["homie_msgs/msg/Nothing", "no_package/msg/Nothing"])
def test_unknown_types(type_name: str) -> None:
    with pytest.raises(DefinitionError, match=f"the definition of {type_name} is not installed"):
        message_definition(type_name)
