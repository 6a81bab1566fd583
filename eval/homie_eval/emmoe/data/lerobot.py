"""Physical runs as a data set of LeRobot, for imitation learning: an episode for each executed subtask.

=======================  ==========================================================================================
feature                  what it is at a frame
=======================  ==========================================================================================
observation.state        `STATE_NAMES` of `homie_eval.robot_states`: joints, opening of the gripper, pose of the base
observation.images.head  what the camera in the head saw
action                   the state one frame later, at the end of the subtask its last state: a bag holds what joints
                         did, not what they were told
next.done                whether it is the subtask's last frame
next.success             whether, moreover, the subtask was judged successful
=======================  ==========================================================================================

The frame rate is that at which the first bag holds pictures. At each tick of simulation time a frame is made of the
newest messages. A subtask in which one of the streams was interrupted is left out. ``meta/sources.json`` says of each
episode which subtask of which run it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from homie_core.from_messages import NANOSECONDS
from homie_core.names import canonical
from homie_core.subtask import Subtask
from homie_core.vocabulary import EMMOE
from homie_eval.bag import Bag, BagError
from homie_eval.emmoe.data.emmoe100 import SPLITS
from homie_eval.emmoe.data.export import Exported, ExportError, new_folder, write_json
from homie_eval.emmoe.data.sources import SourceEpisode
from homie_eval.emmoe.data.subtask_videos import nothing_left, reason_without_motion
from homie_eval.episode_stream import episode_stamps, rate_of
from homie_eval.images import Picture
from homie_eval.lerobot_writer import Column, LeRobotEpisode, LeRobotWriter, ParquetMissing
from homie_eval.robot_states import STATE_NAMES, RobotStateError, RobotStates, read_robot_states
from homie_eval.subtask_span import SubtaskSpan, executed_spans, span_pictures
from homie_eval.video import HEAD_CAMERA, VideoError

ROBOT = "fetch"


def export_lerobot(episodes: Sequence[SourceEpisode], folder: Path) -> Exported:
    """Write the data set; ``records`` counts its episodes, which are subtasks. Those of the test split come last.

    Raises:
        ExportError: ``folder`` exists, pyarrow is missing, a file cannot be written, or no episode
            has what a frame needs.
    """
    ordered = sorted(episodes, key=lambda each: SPLITS.index(each.task.split or SPLITS[0]))
    with new_folder(folder) as made:
        export = _Export(made)
        for each in ordered:
            try:
                export.add(each)
            except (_LeftOut, BagError, RobotStateError) as reason:
                export.left_out.append(f"{each.name} is left out: {reason}")
            except ParquetMissing as error:
                raise ExportError(str(error)) from error
            except (VideoError, OSError) as error:
                raise ExportError(f"{each.name}: {error}") from error
        if export.writer is None:
            raise ExportError(nothing_left(export.left_out))
        export.writer.finish()
        write_json(export.sources, made / "meta" / "sources.json")
    return Exported(folder, export.episodes, len(export.sources), tuple(export.left_out))


def task_sentence(subtask: Subtask, instruction: str) -> str:
    """What the robot is to do now, in canonical names, and what for."""
    verb = EMMOE.verb(subtask.action)
    words = [subtask.action if verb is None else verb.name, canonical(subtask.target)]
    if subtask.destination:
        words += ["to", canonical(subtask.destination)]
    return f"{' '.join(words)}. Household task: {' '.join(instruction.split())}"


class _LeftOut(Exception):
    """An episode cannot be part of the data set, and why."""


class _Export:
    """The data set that is being written into ``folder``, and what it is made of."""

    def __init__(self, folder: Path) -> None:
        self.writer: LeRobotWriter | None = None
        self.sources: list[dict[str, object]] = []
        self.left_out: list[str] = []
        self.episodes = 0
        self._folder = folder
        self._size: tuple[int, ...] = ()

    def add(self, each: SourceEpisode) -> None:
        """All executed subtasks of one episode of a run.

        Raises:
            _LeftOut, BagError, RobotStateError: it lacks something; then nothing of it was written.
        """
        reason = reason_without_motion(each)
        if reason or each.bag is None:
            raise _LeftOut(reason)
        episode_id = each.trajectory.info.episode_id
        spans = executed_spans(each.trajectory.steps)
        with Bag(each.bag) as bag:
            states = read_robot_states(bag, episode_id)
            shown = episode_stamps(bag, HEAD_CAMERA, episode_id)
            rate = rate_of(shown)
            if rate is None:
                raise _LeftOut(f"its bag holds no two pictures on {HEAD_CAMERA}")
            streams = (shown, *states.stamps)
            whole = [span for span in spans if all(span.covered_by(stamps) for stamps in streams)]
            if not whole:
                raise _LeftOut("its pictures, joint states or odometry were interrupted in every subtask")
            rate = self.writer.rate if self.writer else rate
            pictures = span_pictures(bag, HEAD_CAMERA, episode_id, whole, rate)
            first = next(pictures, None)
            if first is None:
                raise _LeftOut(f"its bag holds no readable picture on {HEAD_CAMERA}")
            self._check_size(first[1])
            if self.writer is None:
                names = {"observation.state": STATE_NAMES, "action": STATE_NAMES}
                self.writer = LeRobotWriter(self._folder, rate, ROBOT, names)
            for span, seen in groupby(chain([first], pictures), key=itemgetter(0)):
                self._add_subtask(self.writer, each, span, states, map(itemgetter(1), seen))
        self.episodes += 1
        if interrupted := [str(span.step.index) for span in spans if span not in whole]:
            text = f"{each.name}: pictures, joint states or odometry were interrupted in"
            self.left_out.append(f"{text} step {', '.join(interrupted)}, left out")

    def _add_subtask(
        self,
        writer: LeRobotWriter,
        each: SourceEpisode,
        span: SubtaskSpan,
        states: RobotStates,
        pictures: Iterator[Picture],
    ) -> None:
        info, step = each.trajectory.info, span.step
        task = task_sentence(step.subtask, info.instruction)
        columns = _columns(span, states, writer.rate)
        writer.add(LeRobotEpisode(task, each.task.split or SPLITS[0], columns, pictures))
        self.sources.append(
            {
                "episode_index": len(self.sources),
                "episode_id": info.episode_id,
                "task_id": info.task_id,
                "seed": info.seed,
                "trial": info.trial,
                "planner": info.planner,
                "step": step.index,
                "subtask": step.subtask.brackets(),
                "model": step.subtask.model,
                "success": step.success,
                "error_code": step.error_code.value if step.error_code else None,
                "start": span.start / NANOSECONDS,
                "end": span.end / NANOSECONDS,
            }
        )

    def _check_size(self, picture: Picture) -> None:
        size = picture.shape[:2]
        if self._size and self._size != size:
            (height, width), (others_height, others_width) = size, self._size
            raise _LeftOut(f"its pictures are {width}x{height}, those of the others {others_width}x{others_height}")
        self._size = size


def _columns(span: SubtaskSpan, states: RobotStates, rate: int) -> dict[str, Column]:
    ticks = span.ticks(rate)
    done = np.arange(len(ticks)) == len(ticks) - 1
    return {
        "observation.state": states.at(ticks),
        "action": states.at([*ticks[1:], span.end]),
        "next.done": done,
        "next.success": done & span.step.success,
    }
