"""Settings are checked before anything starts."""

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


def test_a_person_has_time_of_their_own() -> None:
    assert check(planner="human", planner_options="options.seconds=60").reply_seconds == 60
    assert check().reply_seconds is None
