"""Commands keep to the robot's limits and say honestly how they ended."""

from __future__ import annotations

import math

import numpy as np
import pytest

from homie_core import fetch
from homie_sim.commands import (
    Code,
    FollowPathCommand,
    GripperCommand,
    JointTrajectoryCommand,
    NavigateCommand,
    TwistCommand,
    run,
)
from homie_sim.world import MujocoWorld

READY = [list(fetch.READY_ARM.values())]


def ready(world: MujocoWorld) -> None:
    world.set_joint_positions(fetch.READY_ARM)


class TestJointTrajectory:
    def test_follows_and_arrives_in_time(self, world: MujocoWorld) -> None:
        ready(world)
        goal = np.add(READY, [[0.05, 0.5, 0.3, -0.4, 0.2, 0.3, 0.2, 1.0]])
        (outcome,) = run(world, JointTrajectoryCommand(fetch.ARM_WITH_TORSO_JOINTS, goal, [2.0]))
        assert outcome.ok and 2.0 <= world.time < 2.3
        positions = world.joint_positions()
        reached = [positions[joint] for joint in fetch.ARM_WITH_TORSO_JOINTS]
        np.testing.assert_allclose(reached, goal[0], atol=0.02)

    def test_tracks_without_lag(self, world: MujocoWorld) -> None:
        ready(world)
        command = JointTrajectoryCommand(["shoulder_pan_joint"], [[1.0]], [1.0])
        assert command.start(world) is None
        for _ in range(50):
            command.update(world)
            world.tick()
        assert world.joint_positions()["shoulder_pan_joint"] == pytest.approx(0.5, abs=0.02)

    def test_velocities_make_it_smooth(self, world: MujocoWorld) -> None:
        ready(world)
        command = JointTrajectoryCommand(["wrist_roll_joint"], [[0.5], [1.0]], [0.5, 1.0], [[1.0], [0.0]])
        assert run(world, command)[0].ok

    def test_continuous_joints_take_the_short_way(self, world: MujocoWorld) -> None:
        world.set_joint_positions({**fetch.READY_ARM, "wrist_roll_joint": 3.0})
        (outcome,) = run(world, JointTrajectoryCommand(["wrist_roll_joint"], [[-3.0]], [0.5]))
        assert outcome.ok
        assert world.joint_positions()["wrist_roll_joint"] == pytest.approx(2 * math.pi - 3.0, abs=0.02)

    @pytest.mark.parametrize(
        ("joints", "positions", "times", "code", "words"),
        [
            (["knee_joint"], [[0]], [1], Code.INVALID_JOINTS, "'knee_joint'; allowed: torso_lift_joint"),
            ([], np.zeros((1, 0)), [1], Code.INVALID_JOINTS, "none"),
            (["head_pan_joint"], [[0, 1]], [1], Code.INVALID_GOAL, "positions: shape"),
            (["head_pan_joint"], [[math.nan]], [1], Code.INVALID_GOAL, "finite"),
            (["head_pan_joint"], [[0], [1]], [2, 1], Code.INVALID_GOAL, "times"),
            (["head_pan_joint"], [[2.0]], [9], Code.INVALID_GOAL, "allowed -1.570 to 1.570"),
            (["head_pan_joint"], [[1.0]], [0.1], Code.INVALID_GOAL, "speed 10.00; allowed up to 1.57"),
        ],
    )
    def test_refuses(
        self,
        world: MujocoWorld,
        joints: list[str],
        positions: list[list[float]],
        times: list[float],
        code: Code,
        words: str,
    ) -> None:
        (outcome,) = run(world, JointTrajectoryCommand(joints, positions, times))
        assert outcome.code is code and words in outcome.message
        assert world.time == 0

    def test_a_blocked_arm_ends_in_a_violated_tolerance(self, world: MujocoWorld) -> None:
        world.set_joint_positions({**fetch.READY_ARM, "base_x": 6.5, "base_y": 0.95, "base_yaw": math.pi / 2})
        down = [[0.0, 0.0, 0.6, 0.0, 0.6, 0.0, 0.6, 0.0]]
        (outcome,) = run(world, JointTrajectoryCommand(fetch.ARM_WITH_TORSO_JOINTS, down, [5.0]))
        assert outcome.code in (Code.PATH_TOLERANCE_VIOLATED, Code.GOAL_TOLERANCE_VIOLATED)
        assert "joint" in outcome.message

    def test_arm_and_head_at_once(self, world: MujocoWorld) -> None:
        ready(world)
        arm = JointTrajectoryCommand(["wrist_roll_joint"], [[1.0]], [1.0])
        head = JointTrajectoryCommand(fetch.HEAD_JOINTS, [[0.5, 0.5]], [1.0])
        assert all(outcome.ok for outcome in run(world, arm, head))
        assert world.time < 1.3


class TestGripper:
    def test_opens_and_closes_at_the_fingers_speed(self, world: MujocoWorld) -> None:
        (opened,) = run(world, GripperCommand(fetch.MAX_OPENING))
        assert opened.ok and world.opening() == pytest.approx(fetch.MAX_OPENING, abs=0.002)
        assert 1.0 <= world.time < 1.5
        (closed,) = run(world, GripperCommand(0.04))
        assert closed.ok and world.opening() == pytest.approx(0.04, abs=0.002)

    @pytest.mark.parametrize(("opening", "effort"), [(0.2, 0.0), (-0.1, 0.0), (0.05, 500.0)])
    def test_refuses(self, world: MujocoWorld, opening: float, effort: float) -> None:
        (outcome,) = run(world, GripperCommand(opening, effort))
        assert outcome.code is Code.INVALID_GOAL and "allowed" in outcome.message


class TestNavigate:
    @pytest.mark.parametrize(
        "goal",
        [
            (1.9, 3.1, math.pi / 2),
            (6.5, 0.95, math.pi / 2),
            (8.9, 2.3, 0.0),
            (7.2, 3.2, math.pi / 2),
            (6.5, 2.6, -math.pi / 2),
        ],
    )
    def test_reaches_the_pose(self, world: MujocoWorld, goal: tuple[float, float, float]) -> None:
        (outcome,) = run(world, NavigateCommand(*goal))
        assert outcome.ok, outcome.message
        x, y, yaw = world.base_pose()
        assert math.hypot(x - goal[0], y - goal[1]) < 0.005
        assert abs(math.remainder(yaw - goal[2], 2 * math.pi)) < 0.005

    def test_never_moves_sideways(self, world: MujocoWorld) -> None:
        command = NavigateCommand(6.5, 2.6, math.pi)
        assert command.start(world) is None
        fastest = 0.0
        while command.update(world) is None:
            world.tick()
            yaw = world.base_pose()[2]
            vx, vy = (float(world.data.joint(f"fetch/{name}").qvel[0]) for name in ("base_x", "base_y"))
            assert abs(vy * math.cos(yaw) - vx * math.sin(yaw)) < 0.02
            fastest = max(fastest, math.hypot(vx, vy))
        assert 0.5 < fastest <= fetch.MAX_BASE_SPEED

    @pytest.mark.parametrize("goal", [(2.9, 4.3, 0.0), (-3.0, 2.0, 0.0), (6.5, 1.75, 0.0), (math.nan, 0.0, 0.0)])
    def test_no_way(self, world: MujocoWorld, goal: tuple[float, float, float]) -> None:
        (outcome,) = run(world, NavigateCommand(*goal))
        assert outcome.code is Code.NO_VALID_PATH and world.time == 0

    def test_an_open_door_is_in_the_way(self, world: MujocoWorld) -> None:
        door = world.data.joint("fridge/joint")
        goal = (1.45, 3.45, math.pi / 2)
        assert world.occupancy().clearance_at(*goal[:2]) > fetch.BASE_RADIUS
        door.qpos[0] = 1.4
        world.set_joint_positions({})
        assert run(world, NavigateCommand(*goal))[0].code is Code.NO_VALID_PATH

    def test_time_is_limited(self, world: MujocoWorld) -> None:
        (outcome,) = run(world, NavigateCommand(6.5, 0.95, 0.0, timeout=1.0))
        assert outcome.code is Code.TIMEOUT and world.time < 1.1

    def test_an_unforeseen_obstacle_blocks(self, world: MujocoWorld) -> None:
        command = FollowPathCommand([[3.4 - 0.2 * i, 1.6, 0.0] for i in range(17)], speed=0.8)
        (outcome,) = run(world, command)
        assert outcome.code is Code.FAILED_TO_MAKE_PROGRESS and "blocked" in outcome.message


class TestFollowPath:
    def test_a_backward_arc_is_followed_within_millimetres(self, world: MujocoWorld) -> None:
        x, y, yaw = world.base_pose()
        angles = np.linspace(0, 1.2, 40)
        radius = 0.8
        poses = np.column_stack([x - radius * np.sin(angles), y + radius * (1 - np.cos(angles)), yaw - angles])
        command = FollowPathCommand(poses)
        assert command.start(world) is None
        center = np.array([x, y + radius])
        while (outcome := command.update(world)) is None:
            world.tick()
            assert abs(np.linalg.norm(np.array(world.base_pose()[:2]) - center) - radius) < 0.005
        assert outcome.ok
        np.testing.assert_allclose(world.base_pose(), poses[-1], atol=0.005)

    def test_a_small_offset_at_the_start_is_driven_out(self, world: MujocoWorld) -> None:
        x, y, yaw = world.base_pose()
        poses = np.column_stack([x + np.linspace(0, 1.0, 30), np.full(30, y + 0.02), np.full(30, yaw)])
        assert run(world, FollowPathCommand(poses))[0].ok
        np.testing.assert_allclose(world.base_pose(), poses[-1], atol=0.006)

    def test_times_are_kept(self, world: MujocoWorld) -> None:
        x, y, yaw = world.base_pose()
        command = FollowPathCommand([[x, y, yaw], [x + 0.1, y, yaw], [x + 0.2, y, yaw]], times=[0, 2, 3])
        assert run(world, command)[0].ok
        assert 3.0 <= world.time < 3.7

    @pytest.mark.parametrize(
        ("offsets", "words"),
        [
            ([[0, 0, 0], [0, 0.2, 0]], "sideways"),
            ([[0.5, 0, 0], [0.6, 0, 0]], "starts 0.500 m"),
            ([[0, 0, 0]], "n at least 2"),
        ],
    )
    def test_refuses(self, world: MujocoWorld, offsets: list[list[float]], words: str) -> None:
        (outcome,) = run(world, FollowPathCommand(np.array(world.base_pose()) + offsets))
        assert outcome.code is Code.INVALID_PATH and words in outcome.message


class TestTwist:
    def test_moves_for_a_tenth_of_a_second(self, world: MujocoWorld) -> None:
        (outcome,) = run(world, TwistCommand(0.5, 0.0))
        assert outcome.ok and world.time == pytest.approx(0.1)

    def test_messages_in_a_row_speed_up_to_the_limit(self, world: MujocoWorld) -> None:
        start = world.base_pose()[0]
        for _ in range(15):
            command = TwistCommand(5.0, 0.0)
            assert command.start(world) is None
            for _ in range(10):
                command.update(world)
                world.tick()
        assert world.base_velocity()[0] == pytest.approx(fetch.MAX_BASE_SPEED, abs=0.05)
        assert 0.5 < world.base_pose()[0] - start < 1.2
