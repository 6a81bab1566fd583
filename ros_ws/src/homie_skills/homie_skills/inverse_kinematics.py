"""Inverse kinematics of the Fetch's torso and arm (8 joints), with mink on a model of the robot alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import mink
import mujoco
import numpy as np

from homie_core import fetch
from homie_skills.robot import FloatArray

POSITION_TOLERANCE = 1e-3
ANGLE_TOLERANCE = 0.01
ITERATIONS = 50
SOLVER = "daqp"

# Lengths of the Fetch (its URDF), for the quick test of reach.
_PAN_AXIS_X = 0.0326
_PAN_TO_LIFT = 0.117
_LIFT_HEIGHT = 0.796
_LIFT_TO_WRIST = 0.6735
_WRIST_TO_GRIP = 0.3249

_LIMIT_MARGIN = 0.01
_STALL_ITERATIONS = 12
_POSTURE_COST = np.array([0.05, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3])
"""The torso is ten times slower than the arm, so it holds to its posture most."""


def joint_limits() -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits, (8,) each, of torso and arm; continuous joints get -pi and pi."""
    limits = np.array([fetch.JOINT_LIMITS[name] for name in fetch.ARM_WITH_TORSO_JOINTS])
    return np.maximum(limits[:, 0], -math.pi), np.minimum(limits[:, 1], math.pi)


class ArmKinematics:
    """Forward and inverse kinematics of the hand (site ``fetch/grip``) in the frame of the robot's base.

    Joint vectors are (8,) in the order of ``homie_core.fetch.ARM_WITH_TORSO_JOINTS``.
    """

    def __init__(self, mjcf: str, assets: Mapping[str, bytes]) -> None:
        self._configuration = mink.Configuration(_arm_model(mjcf, assets))
        model = self._configuration.model
        self.lower, self.upper = joint_limits()
        limits = np.array([fetch.JOINT_LIMITS[name] for name in fetch.ARM_WITH_TORSO_JOINTS])
        self._lowest, self._highest = limits[:, 0] + _LIMIT_MARGIN, limits[:, 1] - _LIMIT_MARGIN
        self._limits = [mink.ConfigurationLimit(model, min_distance_from_limits=_LIMIT_MARGIN)]
        self._posture = mink.PostureTask(model, cost=_POSTURE_COST)
        self._hand = mink.FrameTask(fetch.GRIP_SITE, "site", position_cost=1.0, orientation_cost=0.3, lm_damping=1e-3)

    def hand_pose(self, joints: FloatArray) -> FloatArray:
        """The (4, 4) pose of the hand in the base frame at ``joints`` (8,)."""
        self._configuration.update(joints)
        return self._configuration.get_transform_frame_to_world(fetch.GRIP_SITE, "site").as_matrix()

    def may_reach(self, target: FloatArray) -> bool:
        """Whether the wrist of a hand at ``target`` (4, 4, base frame) is near enough; cheap, never wrongly False."""
        wrist = target[:3, 3] - _WRIST_TO_GRIP * target[:3, 0]
        across = math.hypot(wrist[0] - _PAN_AXIS_X, wrist[1]) - _PAN_TO_LIFT
        height = wrist[2] - _LIFT_HEIGHT
        rise = height - min(max(height, self.lower[0]), self.upper[0])
        return math.hypot(across, rise) < _LIFT_TO_WRIST

    def solve(
        self,
        target: FloatArray,
        seeds: Iterable[FloatArray],
        free_axis: int | None = None,
        iterations: int = ITERATIONS,
    ) -> FloatArray | None:
        """Joints (8,) that bring the hand to ``target``, from the first seed that leads there, or None.

        Args:
            target: (4, 4) pose of the hand in the base frame.
            seeds: joint vectors (8,) to start from; each is also the posture that its solution stays close to.
            free_axis: axis of the hand (0, 1, 2) about which it may turn freely.
            iterations: bound on the iterations from each seed.
        """
        orientation_cost = np.full(3, 0.3)
        if free_axis is not None:
            orientation_cost[free_axis] = 0.0
        self._hand.set_orientation_cost(orientation_cost)
        self._hand.set_target(mink.SE3.from_matrix(target))
        for seed in seeds:
            solution = self._descend(seed, free_axis, iterations)
            if solution is not None:
                return solution
        return None

    def _descend(self, seed: FloatArray, free_axis: int | None, iterations: int) -> FloatArray | None:
        configuration = self._configuration
        configuration.update(np.clip(seed, self._lowest, self._highest))
        self._posture.set_target(configuration.q)
        best, since_best = math.inf, 0
        for _ in range(iterations):
            position_error, angle_error = self._errors(free_axis)
            if position_error < POSITION_TOLERANCE and angle_error < ANGLE_TOLERANCE:
                return configuration.q.copy()
            error = position_error + 0.3 * angle_error
            since_best = 0 if error < 0.9 * best else since_best + 1
            best = min(best, error)
            if since_best > _STALL_ITERATIONS:
                return None
            velocity = mink.solve_ik(
                configuration, [self._hand, self._posture], 1.0, SOLVER, damping=1e-6, limits=self._limits
            )
            configuration.integrate_inplace(np.clip(velocity, -0.5, 0.5), 1.0)
        return None

    def _errors(self, free_axis: int | None) -> tuple[float, float]:
        error = self._hand.compute_error(self._configuration)
        turn = error[3:].copy()
        if free_axis is not None:
            turn[free_axis] = 0.0
        return float(np.linalg.norm(error[:3])), float(np.linalg.norm(turn))


def _arm_model(mjcf: str, assets: Mapping[str, bytes]) -> mujoco.MjModel:
    """A model of the robot alone, standing at the origin, whose only joints are torso and arm."""
    spec = mujoco.MjSpec.from_string(mjcf, assets=dict(assets))
    moving = {fetch.mjcf_name(name) for name in fetch.ARM_WITH_TORSO_JOINTS}
    for element in (*spec.equalities, *spec.actuators, *spec.sensors, *spec.excludes, *spec.pairs, *spec.keys):
        spec.delete(element)
    for body in list(spec.worldbody.bodies):
        if body.name != fetch.BASE_BODY:
            spec.delete(body)
    for geom in list(spec.geoms):
        spec.delete(geom)
    for joint in list(spec.joints):
        if joint.name not in moving:
            spec.delete(joint)
    return spec.compile()
