"""A person plans whole episodes through the page, over real HTTP."""

import socket
import threading
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest

from homie_core.episode import EpisodeResult, Outcome
from homie_core.subtask import Subtask
from homie_planner.backend import Announcing, PlannerError
from homie_planner.backends.human import Human, Options, make
from homie_planner.config import read_config
from homie_planner.loop import EpisodeLoop, Observed
from homie_planner.registry import make_planner
from support.episodes import InstantPorts, Log, episode_info
from support.planning_browser import Browser, Page
from support.toy_house import ToyWorld

VIEWS = tuple(np.full((256, 256, 3), 60 * index, np.uint8) for index in range(4))


@dataclass
class SeeingPorts(InstantPorts):
    """A world with four views and a text that could be markup."""

    text: str = "a <b>mug</b>"

    def observe(self) -> Observed:
        return Observed(self.world.state.stamp, VIEWS, self.text)


@dataclass
class Session:
    """One episode that a person plans, in a thread."""

    human: Human
    browser: Browser
    log: Log
    cancelled: threading.Event = field(default_factory=threading.Event)
    results: list[EpisodeResult] = field(default_factory=list)
    thread: threading.Thread = field(default_factory=threading.Thread)

    def result(self) -> EpisodeResult:
        self.thread.join(20)
        assert self.results
        return self.results[0]


@contextmanager
def session(task: str = "bring the mug", seconds: float = 60.0, max_steps: int = 20) -> Iterator[Session]:
    before = set(threading.enumerate())
    human = make("", Options(seconds=seconds))
    told: list[str] = []
    announced = threading.Event()

    def announce(text: str) -> None:
        told.append(text)
        announced.set()

    human.announce = announce
    ports, log = SeeingPorts(ToyWorld()), Log()
    found = Session(human, Browser(""), log)
    loop = EpisodeLoop(ports, ports, log, human, cancelled=found.cancelled, planner_seconds=0.001)
    found.thread = threading.Thread(
        target=lambda: found.results.append(loop.run(episode_info(task, max_steps=max_steps)))
    )
    found.thread.start()
    try:
        assert announced.wait(20)
        found.browser.address = told[0].removeprefix("plan at ")
        yield found
    finally:
        found.cancelled.set()
        found.thread.join(20)
        human.close()
        assert set(threading.enumerate()) <= before
        with pytest.raises(urllib.error.URLError):
            found.browser.get()


def test_a_person_brings_the_mug() -> None:
    with session() as s:
        first = s.browser.question()
        assert "Step 1" in first.text and "bring the mug" in first.text
        assert s.browser.answer("Pick", "mug", analysis="the mug first", model="RT-1-X").status == 200
        second = s.browser.question()
        assert "[Pick, mug]" in second.text
        assert second.text.count("Unable to pick, the fridge is closed, you should open it first") == 2
        for subtask in (["Open", "fridge"], ["Pick", "mug"], ["Put", "mug", "sofa"]):
            s.browser.answer(*subtask)
        assert "Inventory None" in s.browser.question().text
        s.browser.answer("End")
        assert s.result().outcome is Outcome.ENDED
        assert "The episode is over" in Page(s.browser.get().text).text
    steps = s.log.steps
    assert [step.subtask for step in steps[1:]] == [
        Subtask("Open", "fridge"),
        Subtask("Pick", "mug"),
        Subtask("Put", "mug", "sofa"),
        Subtask("End"),
    ]
    assert (steps[0].subtask, steps[0].analysis) == (Subtask("Pick", "mug", model="RT-1-X"), "the mug first")
    assert {step.note for step in steps} == {""}


def test_the_page_shows_four_labelled_views_and_no_markup_of_others() -> None:
    with session("bring <script>alert(1)</script>") as s:
        page = s.browser.question()
        images = page.of("img")
        assert [image["alt"] for image in images] == ["front view", "left view", "back view", "right view"]
        assert len({image["src"] for image in images}) == 4
        assert "bring <script>alert(1)</script>" in page.text and "a <b>mug</b>" in page.text
        assert not page.of("b") and len(page.of("script")) == 1
        assert [radio["value"] for radio in page.of("input") if radio.get("type") == "radio"] == [
            *("Go to", "Pick", "Put", "Open", "Close", "End")
        ]
        suggested = {option.get("value") for option in page.of("option")}
        assert {"fridge", "sofa"} <= suggested
        assert "default-src 'none'" in s.browser.get().headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("subtask", "fault"),
    [
        (("Put", "mug"), "Put is written as [Put, target, destination], not as [Put, mug]"),
        (("Go to",), "Go to is written as [Go to, target], not as [Go to]"),
        (("Go to", "none"), "Go to is written as [Go to, target], not as [Go to]"),
        (("Grab", "mug"), "choose an action: Go to, Pick, Put, Open, Close, End"),
        (("", "mug"), "choose an action"),
        (("Pick", "mug " * 40), "the names are too long"),
    ],
)
def test_a_wrong_answer_is_told_and_nothing_typed_is_lost(subtask: tuple[str, ...], fault: str) -> None:
    with session() as s:
        response = s.browser.answer(*subtask, analysis='so "that" <i>', model="octo")
        page = Page(response.text)
        assert response.status == 422
        assert fault in page.text
        assert page.of("textarea") and 'so "that" <i>' in page.text
        (target,) = (field for field in page.of("input") if field.get("name") == "target")
        assert target["value"] == (*subtask, "")[1].strip()
        assert [option["selected"] for option in page.of("option") if "selected" in option] == [None]
        assert not s.log.steps
        assert s.browser.answer("End").status == 200
        assert s.result().outcome is Outcome.ENDED


def test_an_answer_to_an_older_question_does_nothing() -> None:
    with session() as s:
        old = s.browser.question().number
        s.browser.answer("Open", "fridge")
        s.browser.question()
        late = s.browser.post(number=old, action="End", target="", destination="", model="", analysis="kept")
        assert late.status == 422 and "this step is over" in late.text and "kept" in late.text
        s.browser.answer("End")
        assert s.result().steps == 2


def test_only_the_page_itself_may_ask_and_answer() -> None:
    with session() as s:
        number = s.browser.question().number
        root = s.browser.address.rsplit("/", 2)[0]
        for address in (f"{root}/", f"{root}/wrong/", f"{root}/%C4%81/", s.browser.address[:-1]):
            stranger = Browser(address)
            assert stranger.get().status == 403
            assert stranger.post(number=number, action="End").status == 403
        assert s.browser.get(Host="evil.example").status == 403
        assert s.browser.get("secret").status == 404
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
            assert s.browser.post(headers={"Origin": origin}, number=number, action="End").status == 403
        assert s.browser.post(headers={"Host": "evil.example"}, number=number, action="End").status == 403
        assert s.browser.post("other", number=number, action="End").status == 400
        assert s.browser.post(number=number, action="End", analysis="x" * 70_000).status == 400
        assert not s.log.steps
        assert s.browser.post(headers={"Origin": root}, number=number, action="End").status == 200
        assert s.result().outcome is Outcome.ENDED


def test_a_cancelled_episode_stops_waiting_at_once() -> None:
    with session() as s:
        s.browser.question()
        began = time.monotonic()
        s.cancelled.set()
        assert s.result().outcome is Outcome.CANCELLED
        assert time.monotonic() - began < 2.0
        assert "The episode is over" in Page(s.browser.get().text).text


def test_nobody_answers_in_time() -> None:
    with session(seconds=0.5) as s:
        result = s.result()
        assert result.outcome is Outcome.PLANNER_FAILURE
        assert result.cause == "human: nobody answered step 1 on the planning page in time"


def test_an_open_page_hears_of_the_end_before_the_server_stops() -> None:
    with session(max_steps=1) as s:
        s.browser.answer("Open", "fridge")
        assert s.result().outcome is Outcome.STEP_LIMIT
        assert "Please wait" in s.browser.get().text
        closing = threading.Thread(target=s.human.close)
        closing.start()
        deadline = time.monotonic() + 1.0
        while "The episode is over" not in (text := s.browser.get().text) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert "The episode is over" in text
        closing.join(5)


def test_several_episodes_on_one_page_and_a_client_that_hangs() -> None:
    human = make("", Options())
    told: list[str] = []
    human.announce = told.append
    human.reset()
    human.reset()
    assert len(set(told)) == 1
    port = int(told[0].split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port)):
        began = time.monotonic()
        human.close()
        human.close()
        assert time.monotonic() - began < 5.0


def test_a_port_that_is_taken_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        human = make("", Options(port=port))
        with pytest.raises(PlannerError, match=f"port {port} of 127.0.0.1 is not usable: Address already in use"):
            human.reset()
        human.close()


def test_making_one_opens_nothing() -> None:
    before = set(threading.enumerate())
    human = make_planner(read_config("human", ["options.seconds=60"]))
    assert isinstance(human, Announcing)
    assert human.capabilities.images and human.capabilities.reply_seconds == 60
    assert not human.capabilities.privileged and not human.capabilities.repairs
    assert set(threading.enumerate()) == before
    human.close()
    with pytest.raises(PlannerError, match="port"):
        make_planner(read_config("human", ["options.port=70000"]))
