"""Videos: timed by simulation time, readable by browsers."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from homie_eval.bag import Bag
from homie_eval.video import HEAD_CAMERA, VideoError, write_pictures, write_video, write_videos
from support.bags import BagFixture, message, picture

SECOND = 1_000_000_000


def grey(level: int, width: int = 64, height: int = 64) -> np.ndarray:
    return np.full((height, width, 3), level, dtype=np.uint8)


def write(folder: Path, frames: list[tuple[float, np.ndarray]]) -> Path:
    with BagFixture(folder / "bag", "/robot") as bag:
        for time, frame in frames:
            bag.frame(HEAD_CAMERA, int(time * SECOND), frame)
    return folder / "bag"


def levels(path: Path) -> list[int]:
    with av.open(str(path)) as container:
        return [round(float(frame.to_ndarray(format="rgb24").mean())) for frame in container.decode(video=0)]


def make(folder: Path, frames: list[tuple[float, np.ndarray]], rate: int = 10) -> list[int]:
    with Bag(write(folder, frames)) as bag:
        video = write_video(bag, HEAD_CAMERA, folder / "head.mp4", rate)
    assert video is not None
    found = levels(video.path)
    assert (len(found), len(found) / rate) == (video.frames, video.seconds)
    return found


def near(found: list[int], expected: list[int]) -> bool:
    return len(found) == len(expected) and all(abs(a - b) <= 4 for a, b in zip(found, expected, strict=True))


def test_a_frame_stays_until_the_next_one(tmp_path: Path) -> None:
    assert near(make(tmp_path, [(0.0, grey(40)), (0.3, grey(120)), (0.4, grey(200))]), [40, 40, 40, 120, 200])


def test_frames_between_two_ticks_are_left_out_but_the_last_is_shown(tmp_path: Path) -> None:
    frames = [(number / 40, grey(20 * number)) for number in range(9)]
    assert near(make(tmp_path, frames), [0, 80, 160])


def test_a_reset_and_a_long_pause_do_not_stretch_the_video(tmp_path: Path) -> None:
    frames = [(50.0, grey(40)), (50.1, grey(80)), (0.0, grey(120)), (0.1, grey(160)), (600.0, grey(200))]
    assert len(make(tmp_path, frames)) == 1 + 1 + 20 + 1


def test_it_is_h264_that_browsers_play_and_its_index_comes_first(tmp_path: Path) -> None:
    make(tmp_path, [(0.0, grey(40, 63, 49)), (0.1, grey(80, 63, 49))])
    with av.open(str(tmp_path / "head.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height) == (64, 50)
    content = (tmp_path / "head.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


def test_a_picture_that_cannot_be_read_or_has_another_size_stops_nothing(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.frame(HEAD_CAMERA, 0, grey(40))
        bag.write(HEAD_CAMERA, message("sensor_msgs/msg/CompressedImage", data=np.zeros(9, dtype=np.uint8)))
        bag.frame(HEAD_CAMERA, SECOND // 10, grey(80, 32, 90))
    (video,) = write_videos(tmp_path / "bag", tmp_path, rate=10)
    assert video.frames == 2
    assert video.path == tmp_path / "head.mp4"


def test_both_cameras(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.frame(HEAD_CAMERA, 0, picture(1))
        bag.frame("third_person/image_raw/compressed", 0, picture(2, 320, 240))
    videos = write_videos(tmp_path / "bag", tmp_path)
    assert [video.path.name for video in videos] == ["head.mp4", "third_person.mp4"]


def test_no_pictures_no_video(tmp_path: Path) -> None:
    with BagFixture(tmp_path / "bag") as bag:
        bag.write("chatter", message("std_msgs/msg/String", data="x"))
    assert write_videos(tmp_path / "bag", tmp_path) == ()
    assert not list(tmp_path.glob("*.mp4"))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    folder = write(tmp_path, [(0.0, grey(40))])
    with Bag(folder) as bag, pytest.raises(VideoError, match="cannot write"):
        write_video(bag, HEAD_CAMERA, tmp_path / "missing" / "head.mp4")


@pytest.mark.parametrize("interval", [1, 2, 5])
def test_frames_that_are_decoded_by_themselves_as_often_as_asked(tmp_path: Path, interval: int) -> None:
    video = write_pictures((picture(1, 64, 64) for _ in range(10)), tmp_path / "v.mp4", 10, interval)
    assert video is not None and video.frames == 10
    with av.open(str(video.path)) as container:
        alone = [number for number, frame in enumerate(container.decode(video=0)) if frame.key_frame]
    assert alone == list(range(0, 10, interval))
