"""What the planner adds to the model's own time: a question with four pictures to a server that answers at once."""

from __future__ import annotations

import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from unittest import mock

from homie_core.vocabulary import EMMOE
from homie_planner import parsing
from homie_planner.asking import ask
from homie_planner.backend import Picture
from homie_planner.backends.openai_endpoint import OpenAiEndpoint, Options
from homie_planner.chat_messages import chat_messages
from homie_planner.instruction import VIEW_ORDER
from homie_planner.picture_url import PictureFormat, data_url
from homie_planner.prompting import Prompter, Situation
from homie_planner.reply_schema import reply_schema
from homie_sim.house import load_house
from homie_sim.world import MujocoWorld
from support.episodes import episode_info
from support.instant_chat import TEXT, instant_chat

REPEATS = 200
SECONDS = 30.0
Figure = tuple[str, float, str]


def _views() -> tuple[Picture, ...]:
    """What the robot sees at the start of house 1: (256, 256, 3) each."""
    world = MujocoWorld(load_house("house_1"), render=True)
    views = world.views()
    world.close()
    return tuple(views[name] for name in VIEW_ORDER)


def _median(work: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    times = []
    for _ in range(REPEATS):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return 1e3 * statistics.median(times)


def _overhead(views: tuple[Picture, ...], format: PictureFormat) -> tuple[float, float]:
    """Milliseconds of a step between the observation and the decision: medians of wall and of processor time.

    The server's time is taken off the wall time; it runs in a process of its own.
    """
    prompter, cancelled = Prompter(), threading.Event()
    with instant_chat() as server:
        options = Options(base_url=server.base_url, image_format=format)
        backend = OpenAiEndpoint("instant", options, random.Random(0))
        backend.reset()
        times, busy = [], []
        for _ in range(REPEATS):
            began, busy_began = time.perf_counter(), time.process_time()
            request = prompter.request(Situation(episode_info(), 1, views=views))
            answer = ask(backend, request, EMMOE, SECONDS, cancelled)
            times.append(time.perf_counter() - began)
            busy.append(time.process_time() - busy_began)
            if answer.raw_output != TEXT:
                raise RuntimeError(f"the server answered {answer.raw_output!r}")
        backend.close()
        server.end()
    beyond = [whole - handling for whole, handling in zip(times, server.handling_seconds, strict=True)]
    return 1e3 * statistics.median(beyond), 1e3 * statistics.median(busy)


def bench() -> list[Figure]:
    """Name, value and unit of each measured figure."""
    views = _views()
    request = Prompter().request(Situation(episode_info(), 1, views=views))
    messages = chat_messages(request)
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, XDG_RUNTIME_DIR=folder):
        (png, png_busy), (jpeg, jpeg_busy) = (_overhead(views, format) for format in ("png", "jpeg"))
    return [
        ("a step beyond the model, four views as PNG, median", png, "ms"),
        ("its processor time, four views as PNG, median", png_busy, "ms"),
        ("a step beyond the model, four views as JPEG, median", jpeg, "ms"),
        ("its processor time, four views as JPEG, median", jpeg_busy, "ms"),
        ("of that: four views as PNG", _median(lambda: [data_url(view, "png") for view in views]), "ms"),
        ("of that: four views as JPEG", _median(lambda: [data_url(view, "jpeg") for view in views]), "ms"),
        ("of that: the request as JSON text, JPEG", _median(lambda: json.dumps(messages)), "ms"),
        ("of that: the schema", _median(lambda: reply_schema(EMMOE)), "ms"),
        ("of that: reading the reply", _median(lambda: parsing.parse(TEXT, EMMOE)), "ms"),
        ("a request with PNG", len(json.dumps(chat_messages(request, format="png"))) / 1e3, "kB"),
        ("a request with JPEG", len(json.dumps(messages)) / 1e3, "kB"),
    ]
