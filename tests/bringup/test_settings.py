"""Settings are checked before anything starts."""

from pathlib import Path

import pytest

from homie_bringup.settings import Settings, SettingsError, check


def test_the_defaults_run_the_papers_first_case() -> None:
    run = check()
    assert run.task.instruction == "put the green_can on the brown_table to the fridge"
    assert run.house == run.task.scene


def test_texts_are_taken_as_a_launch_file_gives_them() -> None:
    assert check(seed="3", video_fps="0").settings == Settings(seed=3, video_fps=0.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", -1),
        ("skills", "magic"),
        ("success_rates", "fly=0.5"),
        ("views", "never"),
        ("max_steps", 0),
        ("video_fps", 1e9),
        ("colour", "red"),
        ("servers", ("RT-2=arm",)),
        ("servers", ("M3",)),
        ("servers", ("M3=../x",)),
        ("servers", ("M3=a", "M3=b")),
    ],
)
def test_a_wrong_value_names_its_field(field: str, value: object) -> None:
    with pytest.raises(SettingsError, match=field) as caught:
        check(**{field: value})
    assert "\n" not in str(caught.value)


def test_success_rates_are_for_instant_skills() -> None:
    assert check(skills="oracle", success_rates="table_4").settings.success_rates == "table_4"
    with pytest.raises(SettingsError, match="oracle") as caught:
        check(success_rates="pick=0.5")
    assert "\n" not in str(caught.value)


def test_every_model_has_a_server_and_the_users_own_come_first() -> None:
    assert check(skills="oracle", servers=("octo=mine",)).servers == {
        "NoMaD": "oracle", "PixNav": "oracle", "octo": "mine", "RT-1-X": "oracle", "M3": "oracle"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("instruction.retrieve=2",), "retrieve needs memory"),
        (("instruction.retrieve=2", "instruction.memory=/nowhere/runs"), "memory '/nowhere/runs' is no folder"),
        (("instruction.observation=smells",), "instruction.observation 'smells'"),
    ],
)
def test_a_wrong_instruction_shows_before_anything_starts(options: tuple[str, ...], reason: str) -> None:
    with pytest.raises(SettingsError, match=reason) as caught:
        check(planner_options=options)
    assert "\n" not in str(caught.value)


def test_a_memory_without_a_bag_shows_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no bag"):
        check(planner_options=("instruction.retrieve=2", f"instruction.memory={tmp_path}"))


def test_a_person_has_time_of_their_own() -> None:
    assert check(planner="human", planner_options="options.seconds=60").reply_seconds == 60
    assert check().reply_seconds is None
