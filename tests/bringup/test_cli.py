"""Bad input is one clear line and exit code 2, and starts nothing."""

import subprocess
import sys
from pathlib import Path

import pytest


def homie(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "homie_bringup.cli", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "--task", "no_such_task"], ["no_such_task"]),
        (["demo", "--house", "no_such_house"], ["house", "no_such_house", "house_1"]),
        (["demo", "--planner", "oracle9"], ["planner", "oracle9", "expert", "replay"]),
        (["demo", "--planner", "replay:/no/such/plan.json"], ["/no/such/plan.json"]),
        (["demo", "--setting", "psychic"], ["setting", "psychic", "background_information"]),
        (["demo", "--skills", "magic"], ["skills", "magic", "m3", "oracle"]),
        (["demo", "--success-rates", "pick=0.5"], ["success_rates", "oracle"]),
        (["demo", "--skills", "oracle", "--success-rates", "pick=2"], ["success_rates", "pick=2", "0 to 1"]),
        (["demo", "--server", "RT-2=arm"], ["servers", "RT-2=arm", "RT-1-X"]),
        (
            ["demo", "--planner-option", "instruction.retrieve=1", "--planner-option", "instruction.memory=runs"],
            ["memory", "'runs'", "folder"],
        ),
        (["demo", "--views", "never"], ["views", "never", "always", "needed"]),
        (["demo", "--seed", "-1"], ["seed", "-1", "0"]),
        (["demo", "--seed", "many"], ["seed", "many"]),
        (["demo", "--max-steps", "0"], ["max_steps", "0", "1"]),
        (["demo", "--runs", "/proc/no"], ["/proc/no"]),
        (["demo", "--processes", "--attach"], ["--processes", "--attach"]),
        (["demo", "--colour"], ["--colour"]),
        (["demo", "--planner-option", "repair"], ["repair", "NAME=VALUE"]),
        (["demo", "--planner-option", "options.speed=3"], ["speed", "forget"]),
        (["eval"], ["suite", "emmoe", "--resume"]),
        (["eval", "olympics"], ["suite", "olympics", "emmoe"]),
        (["eval", "emmoe", "--planner", "gpt"], ["planner", "gpt", "expert"]),
        (["eval", "emmoe", "--planner", "a=expert", "--planner", "a=expert"], ["planner", "'a'", "twice"]),
        (["eval", "emmoe", "--planner", "../up=expert"], ["../up", "label"]),
        (["eval", "emmoe", "--tasks", "999"], ["999"]),
        (["eval", "emmoe", "--tasks", "400-500"], ["400-500"]),
        (["eval", "emmoe", "--trials", "0"], ["trials", "0", "1"]),
        (["eval", "emmoe", "--shard", "3/2"], ["shard 3/2", "1 to 2"]),
        (["eval", "emmoe", "--shard", "half"], ["shard", "half", "NUMBER/COUNT"]),
        (["eval", "emmoe", "--skills", "magic"], ["skills", "magic", "m3", "oracle"]),
        (["eval", "emmoe", "--runs", "/proc/no"], ["/proc/no"]),
        (["eval", "--resume", "no_such_run"], ["no_such_run"]),
        (["eval", "emmoe", "--resume", "."], ["--resume", "suite"]),
        (["eval", "emmoe", "--retry-failed"], ["--retry-failed", "--resume"]),
        (["merge", "out", "no_such_run"], ["no_such_run"]),
        (["dance"], ["dance"]),
        (["score", "no_such_bag"], ["no_such_bag"]),
        (["report", "no_such_bag"], ["no_such_bag"]),
        (["report", "no_such_bag", "--pages", "some"], ["--pages", "some", "all", "failed", "none"]),
        (["eval", "emmoe", "--pages", "some"], ["--pages", "some", "all", "failed", "none"]),
        (["tasks", "no_such_task"], ["no_such_task", "100_green_can_to_fridge"]),
    ],
)
def test_bad_input(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    result = homie(*arguments, cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("homie: ")
    for word in words:
        assert word in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["a: [", "name: x\nrooms: []\n", "[]", "\xff"])
def test_a_house_file_that_is_wrong(text: str, tmp_path: Path) -> None:
    house = tmp_path / "house.yaml"
    house.write_text(text, encoding="latin-1")
    result = homie("demo", "--house", str(house), cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("homie: ") and "house.yaml" in line
    assert list(tmp_path.iterdir()) == [house]


def test_help_needs_no_ros(tmp_path: Path) -> None:
    result = homie("--help", cwd=tmp_path)
    assert result.returncode == 0
    assert "demo" in result.stdout
    assert "score" in result.stdout


def test_tasks_are_listed_and_checked(tmp_path: Path) -> None:
    listed = homie("tasks", "100", "--check", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.split() == ["100_green_can_to_fridge", "house_1", "train", "7", "steps", "short_horizon"]
    broken = tmp_path / "7_mine.yaml"
    broken.write_text(
        "{id: 7_mine, instruction: pick the unicorn, scene: house_1, attributes: [short_horizon], expert_length: 3,"
        " key_paths: [['[Pick, mug_7]', '[End]']]}"
    )
    assert homie("tasks", str(broken), cwd=tmp_path).returncode == 0
    refused = homie("tasks", "--check", str(broken), cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.strip() == "homie: task 7_mine: key_paths: [Pick, mug_7]: no mug number 7 in house_1"
