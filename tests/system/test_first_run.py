"""``homie demo``: the paper's case 1, done physically, from instruction to report."""

import json
import subprocess
import sys

import av

from homie_core.episode import Outcome
from homie_core.world_state import WorldState
from homie_eval.bag import read_bag
from support.system_support import Finished


def test_the_task_is_done(expert_run: Finished) -> None:
    assert expert_run.code == 0, expert_run.output
    (trajectory,) = read_bag(expert_run.folder / "bag").trajectories
    assert trajectory.result is not None
    assert trajectory.result.outcome is Outcome.ENDED
    assert trajectory.steps[-1].subtask.is_end
    world = trajectory.final_state
    assert isinstance(world, WorldState)
    assert world["potted_meat_can_1"].parent.startswith("fridge")
    assert world.held == ""


def test_the_summary_tells_the_score(expert_run: Finished) -> None:
    summary = json.loads((expert_run.folder / "run.json").read_text())
    assert summary["outcome"] == "ended"
    assert summary["score"]["TP"] == 1.0
    assert summary["score"]["SR"] == 1.0
    assert summary["score"]["GC"] == 1.0


def test_scoring_the_bag_prints_the_live_numbers(expert_run: Finished) -> None:
    offline = subprocess.run(
        [sys.executable, "-m", "homie_bringup.cli", "score", str(expert_run.folder / "bag")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    numbers = [line for line in offline.splitlines() if line.strip()]
    assert numbers
    missing = [line for line in numbers[1:] if line not in expert_run.output]
    assert missing == []


def test_the_terminal_shows_each_step_and_where_things_are(expert_run: Finished) -> None:
    for text in ("(1) [", "[End]", "success", str(expert_run.folder / "bag"), "report.html", ".mp4"):
        assert text in expert_run.output


def test_videos_can_be_played(expert_run: Finished) -> None:
    for name in ("head.mp4", "third_person.mp4"):
        with av.open(str(expert_run.folder / name)) as video:
            stream = video.streams.video[0]
            assert stream.codec_context.name == "h264"
            assert sum(1 for _ in video.decode(stream)) > 50


def test_the_report_is_self_contained(expert_run: Finished) -> None:
    (trajectory,) = read_bag(expert_run.folder / "bag").trajectories
    html = (expert_run.folder / "report.html").read_text()
    whole_world = 4  # from above and from aside, at the start and at the end
    assert html.count("data:image/") == 4 * len(trajectory.steps) + whole_world
    assert html.count('class="floor"') == len(trajectory.steps) + 1
    for outside in ("http://", "https://", 'src="/'):
        assert outside not in html.replace("http://www.w3.org", "")
