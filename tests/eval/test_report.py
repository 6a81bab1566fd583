"""The report: everything in one file, model text as text, nothing from elsewhere."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode, feedback
from homie_eval.bag import BagError
from homie_eval.emmoe.tasks import load_task
from homie_eval.report import write_report
from support.bags import VIEWS, BagFixture, configuration, message, picture
from support.html_page import Page
from support.trajectories import info, steps_of
from support.worlds import kitchen

TASK = load_task("100")
EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>{{ 7 * 7 }} \ud800 </pre></style>'
SECOND = 1_000_000_000
RUN = """(1) Pick, green_can(success) (2) Put, green_can, fridge(fail) (3) Go to, fridge(success) (4) End(success)"""


def steps() -> tuple[Step, ...]:
    first, second, *rest = steps_of(RUN)
    sentence = feedback(ErrorCode.CONTAINER_CLOSED, "Put", "fridge")
    closed = replace(second, error_code=ErrorCode.CONTAINER_CLOSED, feedback=sentence)
    first = replace(first, analysis=EVIL, raw_output=EVIL, prompt="What next?", attempts=2, sim_seconds=75.0)
    return (first, told(closed), *rest)


def told(step: Step) -> Step:
    """A step of which is known what it handled, and why."""
    return replace(step, target_id="potted_meat_can_1", destination_id="fridge", note=f"'can' is ambiguous {EVIL[:8]}")


def write(folder: Path, outcome: Outcome | None = Outcome.ENDED, views: int = 4, cause: str = "") -> Page:
    with BagFixture(folder / "bag", "/robot") as bag:
        bag.world_state(kitchen())
        evil_info = info(task_json=TASK.to_json(), configuration_json=configuration(), versions={"mujoco": "3.17.0"})
        bag.info(replace(evil_info, planner=EVIL.replace("\ud800", "")))
        for step in steps():
            if step.index <= views:
                bag.observation(0, {name: picture(step.index + number) for number, name in enumerate(VIEWS)})
            bag.step("e1", replace(step, analysis=step.analysis.replace("\ud800", ""), raw_output="x"))
        if outcome is not None:
            bag.result("e1", EpisodeResult(outcome, 4, cause, 12.0, 75.0))
    path = write_report(folder / "bag", folder)
    assert path == folder / "report.html"
    return Page(path.read_text(encoding="utf-8"))


def test_every_step_with_its_views_and_words(tmp_path: Path) -> None:
    page = write(tmp_path)
    images = page.of("img")
    assert [image["alt"] for image in images[:4]] == [f"{name} view before step 1" for name in VIEWS]
    assert len(images) == 16
    assert "potted_meat_can_1 → fridge · 'can' is ambiguous <script>" in page.text
    source = images[0]["src"]
    assert source is not None and source.startswith("data:image/jpeg;base64,")
    with Image.open(io.BytesIO(base64.b64decode(source.split(",")[1]))) as embedded:
        difference = np.abs(np.asarray(embedded).astype(int) - picture(1).astype(int))
    assert difference.mean() < 6
    for text in (
        "put the green_can on the brown_table to the fridge",
        "Put green_can → fridge",
        "L3 container closed",
        "Unable to put, the fridge is closed, you should open it first",
        "None → green_can",
        "2 attempts · planning 0 ms · execution 0 ms · simulated 1 min 15 s",
        "background information",
        "ended after 4 steps",
        "L3 1",
        "3.17.0",
        '"backend": "replay"',
    ):
        assert text in page.text


def test_what_planning_took(tmp_path: Path) -> None:
    for name, cost in (("priced", 0.0125), ("unknown", None)):
        folder = tmp_path / name
        folder.mkdir()
        with BagFixture(folder / "bag") as bag:
            bag.info(info(task_json=TASK.to_json()))
            for step in steps_of(RUN):
                asked = replace(step, tokens_in=100, tokens_out=20, requests=step.index, planner_wall_seconds=1.5)
                bag.step("e1", replace(asked, cost_usd=cost))
        write_report(folder / "bag", folder)
        text = Page((folder / "report.html").read_text(encoding="utf-8")).text
        assert "Tokens 400 in, 80 out" in text
        assert "Requests 10 for 4 steps" in text
        assert "Latency 1.5 s a step on average" in text
        assert "planning 1.5 s · execution 0 ms · simulated 0 ms · tokens 100 in, 20 out · 1 request" in text
        assert ("Cost $0.0500" in text and "3 requests · $0.0125" in text) == (cost is not None)
        assert ("Cost not known, the configuration has no prices" in text) == (cost is None)
        assert ("$" in text) == (cost is not None)


def test_the_score_is_explained(tmp_path: Path) -> None:
    page = write(tmp_path)
    assert "not successful" in page.text
    assert "[Pick, green_can] at step 1" in page.text
    assert "[Open, fridge] not matched" in page.text
    assert "at least 1 potted_meat_can in fridge: no (0 of 1)" in page.text
    assert {"e1-1", "e1-2", "e1-3", "e1-4"} <= {section.get("id") for section in page.of("section")}
    assert {link["href"] for link in page.of("a")} <= {"#e1-1", "#e1-3"}


def test_model_text_is_text(tmp_path: Path) -> None:
    page = write(tmp_path)
    assert page.of("script") == []
    assert all(str(image["src"]).startswith("data:") for image in page.of("img"))
    assert '<script>alert("x")</script><img src=x onerror=alert(1)>{{ 7 * 7 }}' in page.text
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "head.mp4").write_bytes(b"video")
    page = write(tmp_path)
    assert [video["src"] for video in page.of("video")] == ["head.mp4"]
    assert not [tag for tag, _ in page.tags if tag in ("link", "iframe", "script")]
    content = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "http:" not in content and "https:" not in content and "url(" not in content and "@import" not in content


def test_a_run_that_stopped_early(tmp_path: Path) -> None:
    page = write(tmp_path, None)
    assert "counted apart, not judged" in page.text
    assert "not finished, 4 steps recorded" in page.text
    assert "the recording stops before the end of the episode" in page.text


def test_a_cause_is_shown(tmp_path: Path) -> None:
    page = write(tmp_path, Outcome.INFRASTRUCTURE_FAILURE, cause="m3_skill_server did not answer within 60 s")
    assert "m3_skill_server did not answer within 60 s" in page.text


def test_missing_views_are_said(tmp_path: Path) -> None:
    page = write(tmp_path, views=2)
    assert len(page.of("img")) == 8
    assert "2 observations for 4 steps: views may belong to another step" in page.text
    without = tmp_path / "without"
    without.mkdir()
    assert write(without, views=0).of("img") == []


def test_a_view_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info())
        broken = message("sensor_msgs/msg/Image", encoding="16UC1")
        bag.write("observation", message("homie_msgs/msg/Observation", views=[broken], view_names=["front"]))
        bag.step("e1", steps()[2])
    write_report(tmp_path / "bag", tmp_path)
    assert Page((tmp_path / "report.html").read_text(encoding="utf-8")).of("img") == []


def test_an_episode_without_steps(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info())
    write_report(tmp_path / "bag", tmp_path)
    assert "No step was recorded." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_several_episodes_on_one_page(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        for id in ("e1", "e2"):
            bag.info(info(id))
            bag.step(id, steps()[0].__class__(1, steps()[2].subtask, True))
    write_report(tmp_path / "bag", tmp_path)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(page.of("article")) == 2


def test_the_way_back_to_the_report_of_the_run(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info())
    write_report(tmp_path / "bag", tmp_path, "../../../../report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [link["href"] for link in page.of("a")] == ["../../../../report.html"]


def test_a_page_takes_the_place_of_the_one_before_at_once(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info())
    (tmp_path / "report.html").write_text("before")
    (tmp_path / "linked.html").hardlink_to(tmp_path / "report.html")
    write_report(tmp_path / "bag", tmp_path)
    assert (tmp_path / "linked.html").read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"bag", "report.html", "linked.html"}


def test_no_episode_no_report(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.info(info(task_id="7_gone"))
    with pytest.raises(BagError, match="holds no episode that can be scored: episode e1 is not scored: unknown task"):
        write_report(tmp_path / "bag", tmp_path)


def test_the_map_and_the_way_of_each_step(tmp_path: Path) -> None:
    page = drawn(tmp_path)
    assert len(page.of("svg")) == 1 + 1 + 4  # the grid, the whole way, and that of each step
    (grid,) = [path for path in page.of("path") if path.get("class") == "taken"]
    assert grid["id"] == "e1-map" and str(grid["d"]).startswith("M0 5h8v1h-8z")
    assert {use["href"] for use in page.of("use")} == {"#e1-map"}
    driven = [path["d"] for path in page.of("path") if path.get("class") == "driven"]
    assert driven[0] == driven[1] == "M2.0 2.0L3.0 2.0"
    assert driven[2:] == ["", "", ""]
    assert "Map: 0.5 m driven" in page.text and "the base stood still" in page.text


def test_pictures_of_the_world_at_start_and_end(tmp_path: Path) -> None:
    page = drawn(tmp_path)
    titles = [image["alt"] for image in page.of("img")]
    assert titles == ["From above, start", "From above, end", "Third person, start"]
    sources = [str(image["src"]) for image in page.of("img")]
    assert all(source.startswith("data:image/jpeg;base64,") for source in sources)
    assert sources[0] != sources[1]


def drawn(folder: Path) -> Page:
    """The page of a run with a map, a drive in its first step, and pictures."""
    above = "top_down/image_raw/compressed"
    with BagFixture(folder / "bag", "/robot") as bag:
        bag.frame(above, 50 * SECOND, picture(1))  # latched, of the run before
        bag.map(["########", *["#......#"] * 4, "########"])
        bag.odometry(0, 1.0, 2.0)
        bag.info(info(task_json=TASK.to_json()))
        bag.frame("third_person/image_raw/compressed", 0, picture(2))
        for number in range(3):
            bag.frame(above, number * SECOND, picture(3 + number))
        bag.odometry(SECOND, 1.5, 2.0)
        for step in steps_of(RUN):
            bag.step("e1", replace(step, stamp=step.index * SECOND))
        bag.result("e1", EpisodeResult(Outcome.ENDED, 4, "", 12.0, 75.0))
        bag.frame(above, 0, picture(9))  # of the next reset
    path = write_report(folder / "bag", folder)
    return Page(path.read_text(encoding="utf-8"))
