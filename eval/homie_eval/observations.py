"""What the robot saw before each step, out of a bag."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from homie_eval.bag import EPISODE_INFO, Bag, BagError, Record
from homie_eval.images import ImageError, Picture, from_image

OBSERVATION = "observation"

Views = Mapping[str, Picture]
"""RGB arrays (height, width, 3) by name: front, left, back, right."""


def episode_views(bag: Bag) -> Iterator[tuple[str, Views]]:
    """The views of each decision with the id of its episode, in the order of decisions.

    One observation comes before each decision. Views that cannot be read are left out of theirs.
    """
    current: dict[str, str] = {}
    for record in bag.records(EPISODE_INFO, OBSERVATION):
        if record.topic.ends_with(EPISODE_INFO):
            with contextlib.suppress(BagError):  # then the episode has no trajectory either
                current[record.topic.namespace(EPISODE_INFO)] = record.decode().episode_id
            continue
        namespace = record.topic.namespace(OBSERVATION)
        if namespace in current:
            yield current[namespace], dict(_readable(record))


def _readable(observation: Record) -> Iterator[tuple[str, Picture]]:
    try:
        message = observation.decode()
    except BagError:
        return
    for name, image in zip(message.view_names, message.views, strict=False):
        with contextlib.suppress(ImageError):
            yield name, from_image(image)
