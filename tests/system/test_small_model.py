"""``make demo-llm``: a task planned by a small language model on the CPU."""

from pathlib import Path

import pytest

from homie_core.episode import Outcome
from homie_core.vocabulary import EMMOE
from homie_eval.bag import read_bag
from support.system_support import run_demo

pytest.importorskip("xllamacpp")

CONFIGURATION = Path(__file__).resolve().parents[2] / "ros_ws/src/homie_planner/examples/smollm2.yaml"


def test_the_example_runs_from_start_to_report(tmp_path: Path) -> None:
    planner = ("--planner", str(CONFIGURATION), "--planner-option", "options.threads=1")
    run = run_demo(tmp_path, *planner, "--skills", "oracle", "--max-steps", "2", "--video-fps", "0")
    assert run.code == 0, run.output
    (trajectory,) = read_bag(run.folder / "bag").trajectories
    assert trajectory.result is not None
    assert trajectory.result.outcome in (Outcome.STEP_LIMIT, Outcome.ENDED), trajectory.result.cause
    assert trajectory.info.planner == "gguf:smollm2"
    for step in trajectory.steps:
        assert step.prompt and step.raw_output
        assert step.tokens_in > 0 and step.tokens_out > 0
    assert {step.subtask.action for step in trajectory.steps} <= {verb.name for verb in EMMOE.verbs}
    assert "report.html" in run.output
