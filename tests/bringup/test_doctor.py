"""The doctor: what it finds, what it lists, and its exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from homie_bringup import doctor
from homie_bringup.doctor import DoctorError, Finding, check_house_file, check_python, contents, run_doctor
from homie_sim.house import house_names, load_house


def test_python_versions() -> None:
    assert check_python("3.12.4").fine
    old = check_python("3.9.2")
    assert not old.fine and "3.12" in old.remedy and old.found.startswith("3.9.2")


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISTRIBUTIONS", ("numpy", "no-such-library"))
    fine, missing = doctor.check_libraries()
    assert fine.fine and fine.found[0].isdecimal()
    assert not missing.fine and missing.name == "no-such-library" and missing.remedy == "run make"


@pytest.mark.parametrize("name", house_names())
def test_the_list_names_everything_in_the_house(name: str) -> None:
    house = load_house(name)
    text = contents(house)
    for thing in (*house.rooms, *house.furniture):
        assert thing.id in text
    for entry in house.objects:
        assert entry.object in text


def test_states_are_listed() -> None:
    lines = contents(load_house("house_3")).splitlines()
    assert any("kitchen_counter/drawer_3 (open): bowl_2" in line for line in lines)
    assert any("second_floor (3.2 x 5.0 m, 0.32 m up)" in line for line in lines)
    assert any("microwave (on)" in line for line in contents(load_house("house_2")).splitlines())


def test_a_refused_house_is_a_finding() -> None:
    finding, house = check_house_file("no_such_house")
    assert house is None and not finding.fine and "no_such_house" in finding.remedy


def test_sheets_and_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "house_names", lambda: ["house_1"])
    console = Console(record=True, width=200, quiet=True)
    out = tmp_path / "sheets"
    code = run_doctor(out, console)
    drawn = {path.name for path in out.iterdir()}
    assert (code, drawn) == (0, {"house_1.png", "objects.png"}) or (code, drawn) == (1, set())


def test_whatever_is_missing_is_named_and_the_code_is_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Finding("rendering", False, "no pictures", "apt-get install libegl1")
    monkeypatch.setattr(doctor, "check_rendering", lambda: missing)
    monkeypatch.setattr(doctor, "house_names", lambda: ["house_1"])
    console = Console(record=True, width=200)
    assert run_doctor(tmp_path, console) == 1
    text = console.export_text()
    assert "missing rendering: no pictures; apt-get install libegl1" in text
    assert text.rstrip().endswith("missing: rendering")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(DoctorError, match="cannot be made a folder"):
        run_doctor(file, Console(quiet=True))


def test_the_command_refuses_a_bad_folder_in_one_line(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "homie_bringup.cli", "doctor", "--out", "/proc/no"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("homie: ") and "/proc/no" in line
