"""Robot states out of a bag."""

from pathlib import Path

import numpy as np
import pytest

from homie_eval.bag import Bag
from homie_eval.robot_states import FINGERS, JOINTS, STATE_NAMES, RobotStateError, read_robot_states
from support.bags import BagFixture
from support.moving_bag import SECOND, write_moving_episode
from support.trajectories import info


def test_the_newest_state_at_a_time(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, joints=[*reversed(FINGERS), *reversed(JOINTS)])
    with Bag(tmp_path / "bag") as read:
        rows = read_robot_states(read, "e1").at([0, round(0.39 * SECOND), 99 * SECOND])
    assert rows.dtype == np.float32 and rows.shape == (3, len(STATE_NAMES))
    by_name = dict(zip(STATE_NAMES, rows[1], strict=True))
    # At 0.39 s the newest message is that of 0.3 s; joint number n of a message stands at time + n.
    assert by_name["head_tilt_joint"] == pytest.approx(0.3 + 2)
    assert by_name["torso_lift_joint"] == pytest.approx(0.3 + 11)
    assert by_name["gripper_opening"] == pytest.approx(0.3 + 0.3 + 1)
    assert [by_name[name] for name in ("base_x", "base_y", "base_yaw")] == pytest.approx([0.3, -0.3, 0.03])
    assert rows[2, -3] == pytest.approx(2.5)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        write_moving_episode(bag, joints=JOINTS)
        bag.info(info("e2"))
        bag.odometry(0, 0.0, 0.0)
    with Bag(tmp_path / "bag") as read:
        with pytest.raises(RobotStateError, match="/joint_states does not tell of l_gripper_finger_joint, r_gripper"):
            read_robot_states(read, "e1")
        with pytest.raises(RobotStateError, match="its bag holds no joint_states"):
            read_robot_states(read, "e2")
