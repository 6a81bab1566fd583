"""Similar steps of past successes, as examples for the next decision (the original code's unused ``rag_buffer.py``).

What is remembered are the steps that succeeded in episodes that succeeded. Two steps are as alike as their tasks,
inventories, histories and feedback are, each compared word by word in order, on average. The original embeds the whole
text and four pictures with two neural networks; here the four parts, which decide what to do next, are compared as they
are, so that a long history does not drown the task, and nothing has to be downloaded. Pictures are not compared: they
weigh a fifth in the original, and the steps of one house look alike anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rapidfuzz.distance import Indel

from homie_core.inventory import Inventory
from homie_core.subtask import Subtask
from homie_eval.bag import BagError
from homie_eval.score import ScoredEpisode, score_bag
from homie_planner import history
from homie_planner.backend import PlannerError, Turn
from homie_planner.instruction import instruction, response

_STORAGE = ("*.mcap", "*.db3")
_WORD = re.compile(r"[a-z0-9]+")


class RetrievalError(PlannerError):
    """The folder of runs cannot serve as a memory. One line."""


@dataclass(frozen=True)
class Cue:
    """What a step is known by: the parts of its prompt."""

    task: str
    inventory: Inventory = ()
    history: str = ""
    feedback: str = "None"

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The words of each part, in small letters."""
        return tuple(map(_words, (self.task, " ".join(self.inventory), self.history, self.feedback)))


@dataclass(frozen=True, slots=True)
class Experience:
    """A step that succeeded, and what was decided in it."""

    episode_id: str
    cue: Cue
    analysis: str
    subtask: Subtask

    @property
    def turns(self) -> tuple[Turn, Turn]:
        """The step as it would be asked, without what could be seen then, and its answer."""
        cue = self.cue
        asked = instruction(cue.task, cue.inventory, cue.history, cue.feedback)
        return Turn("user", asked), Turn("assistant", response(self.analysis, self.subtask))


def similarity(first: Cue, second: Cue) -> float:
    """How alike two steps are: 1 for equal words, 0 for no word in common.

    The mean over the four parts of 2 c / (m + n), where m and n count words and c those of their longest common
    subsequence.
    """
    parts = [Indel.normalized_similarity(one, other) for one, other in zip(first.words, second.words, strict=True)]
    return sum(parts) / len(parts)


class Memory:
    """The experiences of a folder, read once."""

    def __init__(self, experiences: Iterable[Experience]) -> None:
        self._experiences = tuple(experiences)

    @classmethod
    def load(cls, folder: Path, window: int = 0) -> Memory:
        """The steps of every successful episode below ``folder``.

        An episode counts if its bag can be scored, the planner is to be judged by it, and it reached 100 % of the task.
        Other bags, also those still being written, are passed over. ``window``: see `homie_planner.history.line`.

        Raises:
            RetrievalError: there is no such folder, no bag, or no success in it.
        """
        bags = find_bags(folder)
        experiences = [each for bag in bags for episode in _successes(bag) for each in _experiences(episode, window)]
        if not experiences:
            raise RetrievalError(f"memory {str(folder)!r}: none of its {len(bags)} bags holds a successful episode")
        return cls(experiences)

    def __len__(self) -> int:
        return len(self._experiences)

    def similar(self, cue: Cue, count: int, episode_id: str = "") -> tuple[Experience, ...]:
        """The ``count`` experiences that are most like ``cue``, the best first; equally good ones in their order.

        Nothing of the episode ``episode_id`` itself is among them; of steps equal in cue and subtask only the first is.
        Other episodes of the same task do count: which tasks a memory may know is decided by what is in its folder.
        """
        others = [each for each in self._experiences if each.episode_id != episode_id]
        ranked = sorted(others, key=lambda each: -similarity(each.cue, cue))
        distinct = {(each.cue, each.subtask): each for each in reversed(ranked)}
        return tuple(each for each in ranked if distinct[each.cue, each.subtask] is each)[:count]


def find_bags(folder: Path) -> tuple[Path, ...]:
    """Every bag in or below ``folder``, by name.

    Raises:
        RetrievalError: there is no such folder, or no bag in it.
    """
    if not folder.is_dir():
        raise RetrievalError(f"memory {str(folder)!r} is no folder; wanted is a folder of runs")
    bags = sorted({file.parent for pattern in _STORAGE for file in folder.rglob(pattern)})
    if not bags:
        raise RetrievalError(f"memory {str(folder)!r} holds no bag; wanted is a folder of runs")
    return tuple(bags)


def _successes(bag: Path) -> list[ScoredEpisode]:
    try:
        episodes = score_bag(bag).episodes
    except BagError:  # it has no score: being written, damaged, or without an episode
        return []
    return [episode for episode in episodes if episode.score.judged and episode.score.success]


def _experiences(episode: ScoredEpisode, window: int) -> list[Experience]:
    """A step without an analysis is no example: it does not show the whole form."""
    info, steps = episode.trajectory.info, episode.trajectory.steps
    found = []
    for index, step in enumerate(steps):
        if step.success and step.analysis:
            before = steps[:index]
            cue = Cue(info.instruction, step.inventory_before, history.line(before, window), history.feedback(before))
            found.append(Experience(info.episode_id, cue, step.analysis, step.subtask))
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))
