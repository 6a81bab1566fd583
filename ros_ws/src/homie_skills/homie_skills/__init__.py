"""Low-level skills: the executor of subtasks, and the skills that move the robot.

Only ``*_node.py`` and ``ros_robot.py`` know ROS.
"""
