"""The plan of the paper's case 1 (appendix I): a full hand at a closed fridge, L3, then L1, and the recovery."""

import pytest

from homie_core.errors import ErrorCode
from homie_eval.bag import read_bag
from homie_eval.trajectory import Trajectory
from support.system_support import run_demo


@pytest.fixture(scope="module")
def case_1(tmp_path_factory: pytest.TempPathFactory) -> Trajectory:
    run = run_demo(tmp_path_factory.mktemp("case_1"), "--planner", "replay:case_1", "--video-fps", "0")
    assert run.code == 0, run.output
    (trajectory,) = read_bag(run.folder / "bag").trajectories
    return trajectory


def test_the_errors_are_those_of_the_paper(case_1: Trajectory) -> None:
    failed = {step.index: (step.error_code, step.feedback) for step in case_1.steps if not step.success}
    assert failed == {
        4: (ErrorCode.CONTAINER_CLOSED, "Unable to put, the fridge is closed, you should open it first"),
        5: (ErrorCode.HAND_FULL, "Unable to open, the hand is full"),
    }


def test_inventory_follows_the_paper(case_1: Trajectory) -> None:
    held = [" ".join(step.inventory_after) or "None" for step in case_1.steps]
    can = "green_can"
    assert held == ["None", can, can, can, can, can, "None", "None", "None", "None", can, can, "None", "None", "None"]


def test_it_recovers(case_1: Trajectory) -> None:
    assert case_1.steps[-1].subtask.is_end
    assert case_1.final_state is not None
    assert case_1.final_state["potted_meat_can_1"].parent.startswith("fridge")
    assert not case_1.final_state["fridge"].is_open
