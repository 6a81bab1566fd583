"""What every skill is made of: look, plan, move torso and arm, open and close the hand, drive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from homie_core import fetch
from homie_core.world_state import WorldState
from homie_skills import cartesian, looking, motion_planning
from homie_skills.floor_map import COMFORTABLE_GAP, RESOLUTION, FloorMap
from homie_skills.geometry import inverse, translation, wrap
from homie_skills.inverse_kinematics import ArmKinematics
from homie_skills.planning_scene import PlanningScene
from homie_skills.postures import CARRYING, FORWARD, READY, STOWED
from homie_skills.robot import (
    CommandRejected,
    FloatArray,
    GripperOutcome,
    NoMotion,
    ObjectLost,
    Robot,
    SkillCancelled,
    SkillTimeout,
    Stalled,
)
from homie_skills.time_parametrisation import SPEED_SHARE, round_corners, time_path

BasePose = tuple[float, float, float]

RANDOM_SEEDS = 3
VIA = (READY, FORWARD)
QUICK_ITERATIONS = 1500
BACK_OFF = 0.35
GRIP_EFFORT = 25.0
"""Newtons: enough to hold a kilogram by friction, and gentle on light things."""
STANDING_TOLERANCE = (0.03, 0.05)
"""Metres and radians within which the base counts as standing where it should."""

_HIGH_TORSO = 0.36
_SAME_POSTURE = 0.08
_SAME_SOLUTION = 0.3
_SAME_LOOK = 0.05
_BACK_OFF_STEP = 0.05
_TILT_LIMIT = 0.5


@dataclass(frozen=True, slots=True)
class Watch:
    """How a skill reports, and how it is stopped. ``deadline`` is simulation time in nanoseconds."""

    progress: Callable[[str, float], None]
    cancelled: Callable[[], bool]
    deadline: int


class Manipulator:
    """One robot, and the model in which its motions are tried first.

    Call :meth:`refresh` after anything that may have changed the world; commands of this class do.
    """

    def __init__(
        self, robot: Robot, scene: PlanningScene, arm: ArmKinematics, rng: np.random.Generator, watch: Watch
    ) -> None:
        self.robot = robot
        self.scene = scene
        self.arm = arm
        self.rng = rng
        self._watch = watch
        self.state: WorldState = robot.world_state()
        self._joints = np.zeros(len(fetch.ARM_WITH_TORSO_JOINTS))
        self.refresh()

    # ---- looking ---------------------------------------------------------------------------------------------------

    def refresh(self) -> WorldState:
        """Take over the state of the world and of the robot.

        Raises:
            ObjectLost: what was in the hand at the last look is no longer there.
            SkillCancelled: the caller wants no more.
            SkillTimeout: the time is used up.
        """
        held = self.state.held
        self._look()
        if held and self.state.held != held:
            raise ObjectLost(f"{held} fell out of the hand by {self.state.stamp * 1e-9:.2f} s")
        return self.state

    def _look(self) -> None:
        if self._watch.cancelled():
            raise SkillCancelled("cancelled by the caller")
        self.state = self.robot.world_state()
        if self.state.stamp > self._watch.deadline:
            late = (self.state.stamp - self._watch.deadline) * 1e-9
            raise SkillTimeout(f"{late:.1f} s of simulation time past the deadline")
        self.scene.update(self.state, self.robot.joint_positions(), self.robot.base_pose())
        self._joints = self.scene.arm

    def report(self, phase: str, progress: float) -> None:
        """Tell the caller how far the skill is, 0 to 1."""
        self._watch.progress(phase, progress)

    @property
    def joints(self) -> FloatArray:
        """Torso and arm of the real robot at the last look, (8,)."""
        return self._joints.copy()

    @property
    def stowed(self) -> bool:
        """Whether the arm is in one of the postures to drive with."""
        return any(
            bool(np.max(np.abs(motion_planning.nearest_turn(posture, self._joints) - self._joints)) < _SAME_POSTURE)
            for posture in (STOWED, *CARRYING)
        )

    def look_at(self, point: FloatArray, path: FloatArray) -> None:
        """Turn the head towards ``point`` (3,) in the map frame, so that its camera sees what the hand does.

        The head stays as it is where it would be in the way of the arm along ``path`` (n, 8).
        """
        in_base = inverse(self.scene.base_matrix) @ np.append(point, 1.0)
        angles = looking.head_angles(in_base[:3], float(self._joints[0]))
        with self.scene.trying():
            self.scene.place_head(*angles)
            free = all(self.is_free(joints) for joints in path)
        if free:
            self._turn_head(angles)

    def look_ahead(self) -> None:
        """Turn the head forwards."""
        self._turn_head(looking.AHEAD)

    def _turn_head(self, angles: tuple[float, float]) -> None:
        joints = self.robot.joint_positions()
        present = [joints[name] for name in fetch.HEAD_JOINTS]
        if np.max(np.abs(np.subtract(angles, present))) > _SAME_LOOK:
            with self._losing():
                self.robot.point_head(*angles)
            self.refresh()

    # ---- trying ----------------------------------------------------------------------------------------------------

    def is_free(self, joints: FloatArray) -> bool:
        """Whether ``joints`` (8,) hit nothing in the scene as it is, and spill nothing."""
        return not self.scene.in_collision(joints) and not self.scene.spills

    def seeds(self) -> Iterator[FloatArray]:
        """Where inverse kinematics starts from: known postures, then a few random ones."""
        yield FORWARD
        yield READY
        yield np.concatenate([[_HIGH_TORSO], READY[1:]])
        yield np.concatenate([[_HIGH_TORSO], FORWARD[1:]])
        for _ in range(RANDOM_SEEDS):
            yield self.rng.uniform(self.arm.lower, self.arm.upper)

    def solutions(self, hand: FloatArray, seeds: Iterable[FloatArray] | None = None) -> Iterator[FloatArray]:
        """Different joints (8,) without collision that bring the hand to ``hand`` (4, 4, map) from the scene's base."""
        target = inverse(self.scene.base_matrix) @ hand
        if not self.arm.may_reach(target):
            return
        found: list[FloatArray] = []
        for seed in self.seeds() if seeds is None else seeds:
            joints = self.arm.solve(target, [seed])
            if joints is None or any(np.max(np.abs(joints - other)) < _SAME_SOLUTION for other in found):
                continue
            found.append(joints)
            if self.is_free(joints):
                yield joints
            elif self.scene.hand_in_collision():
                return

    def reach(self, hand: FloatArray) -> FloatArray | None:
        """The first of :meth:`solutions`, or None."""
        return next(self.solutions(hand), None)

    def line(self, start: FloatArray, *hands: FloatArray) -> FloatArray | None:
        """Joints (n, 8) that lead the hand from ``start`` (8,) straight to each of ``hands`` (4, 4, map), or None."""
        base = self.scene.base_matrix
        pose = base @ self.arm.hand_pose(start)
        poses: list[FloatArray] = []
        for hand in hands:
            poses.extend(cartesian.line(pose, hand))
            pose = hand
        path = cartesian.follow(self.arm, base, start, poses, self.is_free)
        return path if len(path) == len(poses) + 1 else None

    @contextmanager
    def standing_at(self, base: BasePose) -> Iterator[None]:
        """Inside, the scene's robot stands at ``base``."""
        with self.scene.trying():
            self.scene.place_base(base)
            yield

    # ---- moving the arm --------------------------------------------------------------------------------------------

    def run(self, path: FloatArray, speed_share: float = SPEED_SHARE, smooth: bool = True) -> None:
        """Move torso and arm along ``path`` (n, 8), then look again.

        Raises:
            ObjectLost: what was in the hand is no longer there.
        """
        if smooth:
            path = round_corners(path, self.is_free)
        positions, times = time_path(path, speed_share)
        if len(times) > 1:
            with self._losing():
                self.robot.follow_joint_trajectory(fetch.ARM_WITH_TORSO_JOINTS, positions, times)
        self.refresh()

    @contextmanager
    def _losing(self) -> Iterator[None]:
        """Inside, a motion that was stopped because the object was lost raises ObjectLost.

        The fingers, which close on what is left between them, find out.
        """
        try:
            yield
        except Stalled:
            if self.state.held:
                self.close_hand(GRIP_EFFORT)
            self.refresh()
            raise

    def move_to(self, goals: Sequence[FloatArray]) -> None:
        """Move to one of ``goals`` (8,) each, best first, round whatever is in the way.

        Where no path leads there from the posture that the arm is in, it is folded first.

        Raises:
            NoMotion: no path was found.
        """
        if self._try_plan(goals):
            return
        if not self.stowed:
            self.stow()
            if self._try_plan(goals):
                return
        raise NoMotion("no collision-free arm motion was found")

    def _try_plan(self, goals: Sequence[FloatArray], iterations: int = motion_planning.RRT_ITERATIONS) -> bool:
        with self.scene.tolerating_start():
            path = motion_planning.plan(self.joints, goals, self.is_free, self.rng, VIA, iterations)
            if path is not None:
                self.run(path)
                return True
        self.scene.place_arm(self.joints)
        return False

    def stow(self) -> None:
        """Bring the arm to a posture to drive with, from wherever it is.

        An empty hand is opened first: it may still be round a handle.

        Raises:
            NoMotion: there is no way out.
        """
        if self.stowed:
            return
        if not self.state.held and self.opening < fetch.MAX_OPENING / 2:
            self.open_hand()
        level, tilted = self._stow_goals()
        for escape, effort in self._escapes():
            escape()
            if self._try_plan(level, effort) or self._try_plan(tilted, effort):
                return
        raise NoMotion("the arm finds no way out to a posture to drive with")

    def _escapes(self) -> tuple[tuple[Callable[[], None], int], ...]:
        """What to do before planning again, and how many iterations to plan for; little ones first."""
        return (
            (lambda: None, QUICK_ITERATIONS),
            (lambda: self._back_hand(0.10), QUICK_ITERATIONS),
            (lambda: self.back_off(BACK_OFF), QUICK_ITERATIONS),
            (lambda: self.try_line(translation(0, 0, 0.1) @ self.scene.hand_pose), QUICK_ITERATIONS),
            (lambda: self._back_hand(0.25), motion_planning.RRT_ITERATIONS),
        )

    def _stow_goals(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Postures to fold into: those that keep a held object upright, and the others."""
        if not self.state.held:
            return [STOWED], []
        tilt = self.scene.hand_pose[2, :3]
        turns = {
            index: float(np.abs(self.arm.hand_pose(joints)[2, :3] - tilt).sum())
            for index, joints in enumerate(CARRYING)
        }
        order = sorted(turns, key=lambda index: turns[index])
        level = [CARRYING[index] for index in order if turns[index] < _TILT_LIMIT]
        return level, [CARRYING[index] for index in order if turns[index] >= _TILT_LIMIT]

    def _back_hand(self, distance: float) -> None:
        self.try_line(self.scene.hand_pose @ translation(-distance, 0, 0))

    def step_back(self) -> None:
        """Leave some room between the base and what it stands at, so that the next skill can begin."""
        here = np.array([self.scene.base[:2]])
        gap = float(FloorMap(self.scene).clearance(here)[0]) - fetch.BASE_RADIUS
        if gap < COMFORTABLE_GAP - 0.5 * RESOLUTION:
            self.back_off(COMFORTABLE_GAP - gap + RESOLUTION)

    def try_line(self, hand: FloatArray) -> None:
        """Move the hand straight to ``hand`` (4, 4, map) if nothing is in the way; else stay."""
        with self.scene.tolerating_start():
            path = self.line(self.joints, hand)
            if path is not None:
                self.run(path, speed_share=0.5)
        self.scene.place_arm(self.joints)

    # ---- hand ------------------------------------------------------------------------------------------------------

    def open_hand(self, opening: float = fetch.MAX_OPENING) -> None:
        """Open the hand, which lets go of what is in it, and look again."""
        self.robot.gripper(opening, fetch.MAX_GRIP_EFFORT)
        self._look()

    def close_hand(self, effort: float = fetch.MAX_GRIP_EFFORT) -> GripperOutcome:
        """Close the hand, with ``effort`` newtons, until it is shut or something is in it, and look again."""
        try:
            outcome = self.robot.gripper(0.0, effort)
        except CommandRejected:
            # The driver gives up when the fingers creep on; what counts is what is between them then.
            outcome = GripperOutcome(self.opening, stalled=True)
        self.refresh()
        return outcome

    @property
    def opening(self) -> float:
        """Distance between the finger pads now, metres."""
        joints = self.robot.joint_positions()
        return sum(joints[name] for name in fetch.GRIPPER_JOINTS)

    # ---- driving ---------------------------------------------------------------------------------------------------

    def stands_at(self, pose: BasePose) -> bool:
        """Whether the base stands at ``pose``, nearly enough."""
        x, y, yaw = self.scene.base
        near, aligned = STANDING_TOLERANCE
        return float(np.hypot(pose[0] - x, pose[1] - y)) < near and abs(wrap(pose[2] - yaw)) < aligned

    def drive_to(self, pose: BasePose) -> None:
        """Stow the arm and drive to ``pose``, unless the robot is there, then look again.

        Raises:
            NavigationFailed: there is no way.
            ObjectLost: what was in the hand fell on the way.
        """
        if self.stands_at(pose):
            return
        self.stow()
        self.look_ahead()
        with self._losing():
            self.robot.navigate_to(*pose)
        self.refresh()

    def back_off(self, distance: float) -> None:
        """Drive straight back by up to ``distance`` metres, as far as nothing is in the way, then look again."""
        x, y, yaw = self.scene.base
        steps = np.arange(int(distance / _BACK_OFF_STEP) + 1) * _BACK_OFF_STEP
        poses = np.column_stack([x - steps * np.cos(yaw), y - steps * np.sin(yaw), np.full(len(steps), yaw)])
        free = 1
        with self.scene.tolerating_start(), self.scene.trying():
            for pose in poses[1:]:
                self.scene.place_base((float(pose[0]), float(pose[1]), float(pose[2])))
                if self.scene.in_collision():
                    break
                free += 1
        if free > 1:
            with self._losing():
                self.robot.follow_path(poses[:free])
            self.refresh()
