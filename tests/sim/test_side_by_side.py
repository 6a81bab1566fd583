"""Several worlds on one machine: bridges of different ROS domains are strangers, renderers do not block."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

import pytest
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from homie_msgs.srv import GetWorldState
from nav_msgs.msg import Odometry
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from homie_core.from_messages import stamp_from_msg
from homie_ros import qos
from homie_ros.homie_node import HomieNode
from homie_ros.waiting import call_service, require_success, send_goal, wait_until
from homie_sim.mujoco_bridge_node import MujocoBridgeNode
from homie_sim.rendering import RenderError, renderer_name
from support.graph import fresh_host

RENDERERS = 8
RENDER_SECONDS = 60.0
ARM = "arm_with_torso_controller/follow_joint_trajectory"
HEIGHT = 0.2

DRAW = """
from homie_sim.house import load_house
from homie_sim.world import MujocoWorld
world = MujocoWorld(load_house("house_1"), render=True)
pictures = [picture for _ in range(2) for picture in world.views().values() if picture.std() > 5]
world.close()
print(len(pictures), "pictures")
"""


class Neighbour(HomieNode):
    """Commands the bridge of its domain, and keeps the stamps that it hears."""

    def __init__(self, **options: Any) -> None:
        super().__init__("neighbour", **options)
        self.stamps: list[int] = []
        self._arm = ActionClient(self, FollowJointTrajectory, ARM)
        self._state = self.create_client(GetWorldState, "get_world_state")
        self.create_subscription(JointState, "joint_states", self._hear, qos.stream(1000))
        self.create_subscription(Odometry, "odom", self._hear, qos.stream(1000))

    def _hear(self, message: Any) -> None:
        self.stamps.append(stamp_from_msg(message))

    def raise_torso(self, height: float) -> None:
        point = JointTrajectoryPoint(positions=[height], time_from_start=Duration(sec=3))
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=["torso_lift_joint"], points=[point]))
        assert send_goal(self._arm, goal, 60).succeeded

    def clock(self) -> int:
        """Simulation time of the bridge that answers, nanoseconds."""
        response = call_service(self._state, GetWorldState.Request(), 60)
        return stamp_from_msg(require_success(response, "get_world_state").state)


def test_two_bridges_in_two_domains_do_not_see_each_other() -> None:
    with fresh_host() as one, fresh_host() as other:
        pairs = []
        for host in (one, other):
            bridge = host.add(MujocoBridgeNode, parameters={"render": False})
            pairs.append((bridge, host.add(Neighbour)))
        (_, mover), (_, idler) = pairs
        wait_until(lambda: bool(mover.stamps and idler.stamps), 10, "both bridges to be heard")
        mover.raise_torso(HEIGHT)
        assert mover.clock() >= 3_000_000_000
        assert idler.clock() == 0
        time.sleep(0.5)  # whatever might go astray has arrived by now
        assert max(mover.stamps) == mover.clock()
        assert set(idler.stamps) == {0}
        for _, node in pairs:
            assert node.count_publishers("joint_states") == 1
            names = [name for name, _ in node.get_node_names_and_namespaces()]
            assert sorted(names) == ["mujoco_bridge", "neighbour"]


def test_eight_renderers_do_not_block() -> None:
    try:
        renderer_name()
    except RenderError as error:
        pytest.skip(str(error))
    end = time.monotonic() + RENDER_SECONDS
    with ExitStack() as stack:
        processes = []
        for _ in range(RENDERERS):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", DRAW], stdout=subprocess.PIPE))
            stack.callback(process.kill)
            processes.append(process)
        said = [process.communicate(timeout=end - time.monotonic())[0] for process in processes]
    assert said == [b"8 pictures\n"] * RENDERERS
