"""The protocol: what a subtask, an error code, an inventory, a key path and an episode are. No ROS here."""
