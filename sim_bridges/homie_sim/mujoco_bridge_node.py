"""The embedded world as a node: MuJoCo behind the robot interface of a Fetch and the services of an episode.

The simulation thread owns the world; simulation time advances only while a command runs. Everything that is published
is stamped with simulation time. After a command or a reset the new state is published before anybody gets an answer.
While nothing runs, the last state is published again ten times a second of wall time, unchanged.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Hashable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from homie_msgs.msg import Observation, WorldState
from homie_msgs.srv import GetObservation, GetWorldState, ResetEpisode
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from pydantic import BaseModel, Field, field_validator
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from homie_ros import qos
from homie_ros.conversions import time_to_msg, world_state_to_msg
from homie_ros.errors import InfrastructureError
from homie_ros.homie_node import HomieNode
from homie_ros.images import image_to_msg, observation_to_msg
from homie_ros.node_main import run_node
from homie_ros.parameters import ParameterError, read_parameters
from homie_ros.worker_service import WorkerService
from homie_sim import robot_messages
from homie_sim.commands import TwistCommand
from homie_sim.house import House, HouseError, load_house
from homie_sim.lockstep import LockstepLoop, LoopDeadlineError, LoopError
from homie_sim.native.server import NativeSkillServer
from homie_sim.native.success_rates import SuccessRates
from homie_sim.path_planner import Point
from homie_sim.physics import PhysicsError
from homie_sim.rendering import Image as Picture
from homie_sim.rendering import RenderError
from homie_sim.robot_actions import RobotActions
from homie_sim.robot_messages import BASE_FRAME, CAMERA_FRAME
from homie_sim.video import PictureSender
from homie_sim.world import MujocoWorld, WorldError

STATE_PERIOD = 0.1
"""Simulation seconds between two joint_states, odom, tf, clock and feedback messages during a command."""

WORLD_STATE_PERIOD = 0.5

IDLE_PERIOD = 0.1
"""Wall seconds between two repetitions of the last state while nothing runs."""

CALL_SECONDS = 60.0
"""Wall seconds for a picture, a state or a reset."""

THIRD_PERSON_FRAME = "third_person_camera"
TOP_DOWN_FRAME = "top_down_camera"


class MujocoBridgeSettings(BaseModel):
    """Parameters of the node."""

    house: str = Field("house_1", description="Name of a house, or path of a YAML file.")
    seed: int = Field(0, ge=0, description="Seed of the world's first state, before any reset.")
    render: bool = Field(True, description="Whether pictures can be asked for; without, no OpenGL is needed.")
    views: bool = Field(True, description="Whether observations hold the four views; without, only their time.")
    describe: bool = Field(False, description="Whether observations hold a text about what the four views show.")
    video_fps: float = Field(
        5.0, ge=0, le=50, description="Pictures per simulated second while somebody watches; 0: none."
    )
    native_skills: bool = Field(
        False, description="Whether skills/oracle/execute is offered: skills without motion, done by the simulator."
    )
    success_rates: str = Field(
        "",
        description="Chance of each try of a native skill, as go_to=0.9,pick=0.5, or table_4; 1 where none is given.",
    )

    @field_validator("success_rates")
    @classmethod
    def _readable(cls, value: str) -> str:
        SuccessRates.parse(value)
        return value


class MujocoBridgeNode(HomieNode):
    """See the head of this file."""

    def __init__(self, **options: Any) -> None:
        super().__init__("mujoco_bridge", **options)
        self._settings = read_parameters(self, MujocoBridgeSettings)
        self._house = self._load_house()
        self._state_lock = threading.Lock()
        self._last: robot_messages.RobotMessages | None = None
        self._last_published = 0.0
        self._state: tuple[int, WorldState] | None = None
        self._told: Hashable = None
        self._leaving = False
        self._advertise()
        self._loop = self._start_loop()
        self._pictures = PictureSender()
        self._actions = RobotActions(self, self._loop, self._on_loop_error, self._publish_plan)
        if self._settings.native_skills:
            rates = SuccessRates.parse(self._settings.success_rates)
            NativeSkillServer(self, self._loop, rates, self._on_loop_error)
        self._loop.observe(self._publish_motion, STATE_PERIOD)
        self._loop.observe(self._publish_world_state, WORLD_STATE_PERIOD)
        if self._settings.render and self._settings.video_fps > 0:
            self._loop.observe(self._send_frame, 1 / self._settings.video_fps)
        self._loop.observe_ends(self._publish_end)
        self._loop.call(self._publish_beginning, CALL_SECONDS, "the first state")
        self.create_subscription(Twist, "cmd_vel", self._on_twist, qos.stream())
        WorkerService(self, ResetEpisode, "reset_episode", self._reset)
        WorkerService(self, GetObservation, "get_observation", self._observe)
        WorkerService(self, GetWorldState, "get_world_state", self._world_state)
        self.create_timer(IDLE_PERIOD, self._repeat, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def close(self) -> None:
        """Stop the robot and the simulation."""
        self._leaving = True
        self._loop.close()
        self._pictures.close()
        super().close()

    def _load_house(self) -> House:
        try:
            return load_house(self._settings.house)
        except HouseError as error:
            raise ParameterError(f"parameter house of node {self.get_name()}: {error}") from error

    def _start_loop(self) -> LockstepLoop:
        """The world in its first state, drawing if it is to draw.

        Raises:
            InfrastructureError: there is no OpenGL, no mesh of the Fetch, or the world cannot be set up.
        """
        settings = self._settings
        try:
            world = MujocoWorld(self._house, render=settings.render)
        except (FileNotFoundError, PhysicsError, WorldError) as error:
            raise InfrastructureError(str(error)) from error
        loop = LockstepLoop(world)
        try:
            loop.reset(settings.seed, [], CALL_SECONDS)
            if settings.render:
                loop.call(lambda world: world.viewer, CALL_SECONDS, "the renderer")
        except (RenderError, PhysicsError, WorldError) as error:
            loop.close()
            raise InfrastructureError(str(error)) from error
        return loop

    def _advertise(self) -> None:
        self._joint_states = self.create_publisher(JointState, "joint_states", qos.stream())
        self._odometry = self.create_publisher(Odometry, "odom", qos.stream())
        self._tf = self.create_publisher(TFMessage, "tf", qos.stream(100))
        self._tf_static = self.create_publisher(TFMessage, "tf_static", qos.state())
        self._clock_messages = self.create_publisher(ClockMessage, "clock", qos.stream())
        self._states = self.create_publisher(WorldState, "world_state", qos.state())
        self._descriptions = self.create_publisher(String, "world_description", qos.state())
        self._maps = self.create_publisher(OccupancyGrid, "map", qos.state())
        self._plans = self.create_publisher(Path, "plan", qos.stream())
        self._diagnostics = self.create_publisher(DiagnosticArray, "diagnostics", qos.stream())
        self._observations = self.create_publisher(Observation, "observation", qos.stream())
        self._head_pictures = self.create_publisher(
            CompressedImage, "head_camera/rgb/image_raw/compressed", qos.stream()
        )
        self._camera_info = self.create_publisher(CameraInfo, "head_camera/rgb/camera_info", qos.stream())
        self._depth = self.create_publisher(Image, "head_camera/depth_registered/image_raw", qos.stream())
        self._third_person = self.create_publisher(CompressedImage, "third_person/image_raw/compressed", qos.stream())
        self._top_down = self.create_publisher(CompressedImage, "top_down/image_raw/compressed", qos.state())

    # --- in the simulation thread

    def _publish_beginning(self, world: MujocoWorld) -> None:
        """What stays, and the first state of an episode."""
        self._descriptions.publish(String(data=world.world_description()))
        self._tf_static.publish(robot_messages.static_transforms())
        self._publish_reset(world)

    def _publish_reset(self, world: MujocoWorld) -> None:
        self._maps.publish(robot_messages.occupancy_message(world.occupancy(), world.stamp))
        self._publish_all(world)
        if self._settings.render:
            self._send_top_down(world)

    def _publish_end(self, world: MujocoWorld) -> None:
        """The state after a command, unless the command has changed nothing since it was published."""
        if world.moment != self._told:
            self._publish_all(world)

    def _publish_all(self, world: MujocoWorld) -> None:
        self._told = world.moment
        self._publish_robot(world)
        self._publish_world_state(world)
        self._diagnostics.publish(robot_messages.diagnostics(world, self.get_fully_qualified_name()))

    def _publish_motion(self, world: MujocoWorld) -> None:
        self._publish_robot(world)
        self._actions.publish_feedback(world)

    def _publish_robot(self, world: MujocoWorld) -> None:
        messages = robot_messages.robot_messages(world)
        with self._state_lock:
            self._last = messages
            self._publish_messages(messages)

    def _publish_messages(self, messages: robot_messages.RobotMessages) -> None:
        """With the state's lock held, so that an older state never follows a newer one."""
        self._last_published = time.monotonic()
        self._clock_messages.publish(messages.clock)
        self._tf.publish(messages.transforms)
        self._odometry.publish(messages.odometry)
        self._joint_states.publish(messages.joints)

    def _publish_world_state(self, world: MujocoWorld) -> None:
        self._state = (world.stamp, world_state_to_msg(world.world_state()))
        self._states.publish(self._state[1])

    def _current_state(self, world: MujocoWorld) -> WorldState:
        """The state now; what was published last serves while time stands still, as every change is published."""
        if self._state is None or self._state[0] != world.stamp:
            self._state = (world.stamp, world_state_to_msg(world.world_state()))
        return self._state[1]

    def _publish_plan(self, world: MujocoWorld, path: list[Point]) -> None:
        self._plans.publish(robot_messages.path_message(path, world.stamp))

    def _send_frame(self, world: MujocoWorld) -> None:
        """One picture of each camera that somebody watches."""
        stamp = world.stamp
        self._camera_info.publish(robot_messages.camera_info(stamp))
        if self._head_pictures.get_subscription_count():
            self._pictures.send(world.head_camera(), stamp, CAMERA_FRAME, self._head_pictures.publish)
        if self._third_person.get_subscription_count():
            self._pictures.send(world.third_person(), stamp, THIRD_PERSON_FRAME, self._third_person.publish)
        if self._depth.get_subscription_count():
            self._depth.publish(image_to_msg(world.head_depth(), "32FC1", stamp, CAMERA_FRAME))

    def _send_top_down(self, world: MujocoWorld) -> None:
        self._pictures.send(world.top_down(), world.stamp, TOP_DOWN_FRAME, self._top_down.publish)

    def _send_overview(self, world: MujocoWorld) -> None:
        """Pictures for people, of the moment of an observation, if somebody watches; nothing moves in many skills."""
        if self._top_down.get_subscription_count():
            self._send_top_down(world)
        if self._settings.video_fps > 0 and self._third_person.get_subscription_count():
            self._pictures.send(world.third_person(), world.stamp, THIRD_PERSON_FRAME, self._third_person.publish)

    def _look(self, world: MujocoWorld) -> tuple[dict[str, Picture], str, int]:
        """The four views and a text about them, as far as observations are to hold them, and when that was seen."""
        views = world.views() if self._settings.views else {}
        text = world.description() if self._settings.describe else ""
        return views, text, world.stamp

    # --- services, in worker threads

    def _reset(self, request: ResetEpisode.Request) -> ResetEpisode.Response:
        if request.scene not in ("", self._house.name, self._settings.house):
            return ResetEpisode.Response(message=f"scene: {request.scene!r}; allowed: {self._house.name}")
        try:
            placements = _placements(request.placements_json)
            self._loop.reset(request.seed, placements, CALL_SECONDS)
            self._loop.call(self._publish_reset, CALL_SECONDS, "the state after a reset")
        except (HouseError, PhysicsError, WorldError, LoopDeadlineError) as error:
            return ResetEpisode.Response(message=str(error))
        except LoopError as error:
            self._on_loop_error(error)
            return ResetEpisode.Response(message=str(error))
        return ResetEpisode.Response(success=True, stamp=time_to_msg(0))

    def _observe(self, _: GetObservation.Request) -> GetObservation.Response:
        try:
            views, text, stamp = self._loop.call(self._look, CALL_SECONDS, "the four views")
            if self._settings.render:
                self._loop.post(self._send_overview)
        except (LoopDeadlineError, WorldError) as error:
            return GetObservation.Response(message=str(error))
        except LoopError as error:
            self._on_loop_error(error)
            return GetObservation.Response(message=str(error))
        observation = observation_to_msg(views, stamp, BASE_FRAME, text)
        self._observations.publish(observation)
        return GetObservation.Response(success=True, observation=observation)

    def _world_state(self, _: GetWorldState.Request) -> GetWorldState.Response:
        try:
            state = self._loop.call(self._current_state, CALL_SECONDS, "the world state")
        except LoopDeadlineError as error:
            return GetWorldState.Response(message=str(error))
        except LoopError as error:
            self._on_loop_error(error)
            return GetWorldState.Response(message=str(error))
        return GetWorldState.Response(success=True, state=state)

    # --- in the executor's thread

    def _on_twist(self, message: Twist) -> None:
        if not self._leaving:
            self._loop.submit(TwistCommand(message.linear.x, message.angular.z))

    def _repeat(self) -> None:
        """Publish the last state again if nothing moves; and notice a simulation that has stopped."""
        if self._leaving:
            return
        self._loop.post(lambda world: None)
        with self._state_lock:
            if self._last is not None and time.monotonic() - self._last_published >= IDLE_PERIOD:
                self._publish_messages(self._last)

    def _on_loop_error(self, error: LoopError) -> None:
        """The simulation has stopped: so does this node, unless it was told to."""
        if not self._leaving:
            self.fail(error)


def _placements(text: str) -> list[object]:
    """The list in ``placements_json``; empty for an empty text.

    Raises:
        HouseError: it is no JSON list.
    """
    if not text:
        return []
    try:
        placements = json.loads(text)
    except json.JSONDecodeError as error:
        raise HouseError(f"placements_json: {error}") from error
    if not isinstance(placements, list):
        raise HouseError(f"placements_json: must be a list, not {type(placements).__name__}")
    return placements


def main() -> None:
    """Run the bridge as a process."""
    sys.exit(run_node(MujocoBridgeNode))
