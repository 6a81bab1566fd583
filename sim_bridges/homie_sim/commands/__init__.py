"""Commands that steer the robot, with its real limits. They live in simulation time and know no ROS."""

from homie_sim.commands.base import CANCELLED, Code, Command, GripperOutcome, Outcome, Part, run
from homie_sim.commands.follow_path import FollowPathCommand
from homie_sim.commands.gripper import GripperCommand
from homie_sim.commands.guard import Guarded
from homie_sim.commands.navigate import NavigateCommand
from homie_sim.commands.trajectory import JointTrajectoryCommand
from homie_sim.commands.twist import TwistCommand

__all__ = [
    "CANCELLED",
    "Code",
    "Command",
    "FollowPathCommand",
    "GripperCommand",
    "GripperOutcome",
    "Guarded",
    "JointTrajectoryCommand",
    "NavigateCommand",
    "Outcome",
    "Part",
    "TwistCommand",
    "run",
]
