"""Videos out of a bag: MP4 (H.264, yuv420p, ready to stream) that any browser plays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream

from homie_eval.bag import Bag, BagError, Record
from homie_eval.images import ImageError, Picture, from_compressed

HEAD_CAMERA = "head_camera/rgb/image_raw/compressed"
THIRD_PERSON = "third_person/image_raw/compressed"
VIDEOS = {"head.mp4": HEAD_CAMERA, "third_person.mp4": THIRD_PERSON}
"""File names of the videos of a run, and the topics that they show."""

DEFAULT_RATE = 10
MAX_GAP = 2_000_000_000
"""A longer pause between frames is cut to this, nanoseconds."""


class VideoError(ValueError):
    """A video cannot be written, in one line."""


@dataclass(frozen=True, slots=True)
class Video:
    """A video that was written."""

    path: Path
    frames: int
    seconds: float


def write_videos(bag_path: Path, folder: Path, rate: int = DEFAULT_RATE) -> tuple[Video, ...]:
    """Write a video into ``folder`` for each camera that the bag recorded, all at the same time.

    Raises:
        BagError: there is no bag at ``bag_path``.
        VideoError: a file cannot be written.
    """

    def write(name: str) -> Video | None:
        with Bag(bag_path) as bag:  # a reader for each thread
            return write_video(bag, VIDEOS[name], folder / name, rate)

    with ThreadPoolExecutor() as pool:
        return tuple(video for video in pool.map(write, VIDEOS) if video is not None)


def write_video(bag: Bag, topic: str, path: Path, rate: int = DEFAULT_RATE) -> Video | None:
    """One camera as a video with a constant frame rate, timed by simulation time; None if there is no picture.

    A frame stays until the next one. A reset of the clock (the next episode) goes on without a pause. Pictures that
    cannot be decoded are left out.

    Raises:
        VideoError: the file cannot be written.
    """
    return write_pictures(_at_rate(_timed(bag.records(topic)), rate), path, rate)


def write_pictures(
    pictures: Iterator[Picture], path: Path, rate: int, keyframe_interval: int | None = None
) -> Video | None:
    """Pictures as a video, ``rate`` a second, in the size of the first one; None if there is no picture.

    With ``keyframe_interval``, a frame is at most so many from one that is decoded by itself: fast to jump into.

    Raises:
        VideoError: the file cannot be written.
    """
    first = next(pictures, None)
    if first is None:
        return None
    count = 0
    try:
        with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = _stream(container, rate, first, keyframe_interval)
            for picture in _chain(first, pictures):
                frame = av.VideoFrame.from_ndarray(_fit(picture, stream.width, stream.height), format="rgb24")
                frame.pts, frame.time_base = count, Fraction(1, rate)
                container.mux(stream.encode(frame))
                count += 1
            container.mux(stream.encode(None))
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"cannot write {path}: {error}") from error
    return Video(path, count, count / rate)


def _stream(
    container: av.container.OutputContainer, rate: int, first: Picture, keyframe_interval: int | None
) -> VideoStream:
    stream = container.add_stream("libx264", rate=rate)
    height, width = first.shape[:2]
    stream.width, stream.height = width + width % 2, height + height % 2  # yuv420p halves the colours
    stream.pix_fmt = "yuv420p"
    stream.options = {"crf": "24", "preset": "ultrafast"}
    if keyframe_interval is not None:
        stream.gop_size = keyframe_interval
    return stream


def _timed(records: Iterable[Record]) -> Iterator[tuple[int, Picture]]:
    """Pictures with their time in the video, nanoseconds from the first one."""
    time, last = 0, None
    for record in records:
        try:
            picture = from_compressed(record.decode())
            stamp = record.header_stamp()
        except (ImageError, BagError):
            continue
        if last is not None:
            time += min(max(stamp - last, 0), MAX_GAP)
        last = stamp
        yield time, picture


def _at_rate(pictures: Iterator[tuple[int, Picture]], rate: int) -> Iterator[Picture]:
    """One picture for each tick of the frame rate: the newest at that time. The last picture is always shown."""
    tick = 0
    shown: Picture | None = None
    for time, picture in pictures:
        while shown is not None and tick * 1_000_000_000 < time * rate:
            yield shown
            tick += 1
        shown = picture
    if shown is not None:
        yield shown


def _chain(first: Picture, rest: Iterator[Picture]) -> Iterator[Picture]:
    yield first
    yield from rest


def _fit(picture: Picture, width: int, height: int) -> Picture:
    """The picture in the video's size: cut, or extended by its edge."""
    cut = picture[:height, :width]
    missing = ((0, height - cut.shape[0]), (0, width - cut.shape[1]), (0, 0))
    return np.pad(cut, missing, mode="edge") if any(after for _, after in missing) else np.ascontiguousarray(cut)
