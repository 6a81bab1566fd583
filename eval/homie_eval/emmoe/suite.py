"""The suite: the hundred tasks of the paper's list (appendix B.3), each grounded in one of our houses.

**Attributes** (paper, section 2.2). A task is long-horizon when the expert needs at least ten subtasks, End included,
and short-horizon otherwise. It is open-ended when several ends are as good as each other (any box, wherever the things
go), logical when what to do has to be concluded (what is cold, what is food, how many are missing, whether a condition
holds), and human-style when it is said as one person says it to another (a wish, a whole job) and not as a list of
names. The paper's own lists go by the numbers of its data set, which are not those of its printed list, and its
trajectories wander about in search of things, which makes 84 of them long-horizon; an expert that knows where things
are has fewer.

**Split.** 90 tasks to learn from and 10 to be tested on, as in the paper. Which ten it took cannot be told from the
printed list. Ours are chosen so that every house and every attribute has about the same share in both parts, and that
no task of the test has a twin in the other part that differs in nothing but a place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from homie_eval.emmoe.tasks import LONG_HORIZON, Split, Task, TaskError, load_task, shipped_tasks

NUMBERS = range(1, 101)
SPLIT_SIZES: dict[Split, int] = {"train": 90, "test": 10}


@dataclass(frozen=True, slots=True)
class Suite:
    """Tasks in the order of their numbers."""

    tasks: tuple[Task, ...]

    def split(self, name: Split) -> tuple[Task, ...]:
        """The tasks of one part."""
        return tuple(task for task in self.tasks if task.split == name)


@cache
def load_suite() -> Suite:
    """All shipped tasks.

    Raises:
        TaskError: a file is not valid, or the tasks together are not the suite.
    """
    tasks = tuple(load_task(id) for id in shipped_tasks())
    for fault in faults(tasks):
        raise TaskError(f"suite: {fault}")
    return Suite(tasks)


def faults(tasks: Iterable[Task]) -> list[str]:
    """What keeps ``tasks`` from being the suite, one line each: numbers, parts, and attributes."""
    tasks = list(tasks)
    found = []
    count = Counter(task.number for task in tasks)
    if missing := [str(number) for number in NUMBERS if not count[number]]:
        found.append(f"no task has the number {', '.join(missing)}")
    if doubled := [str(number) for number, times in count.items() if times > 1]:
        found.append(f"more than one task has the number {', '.join(doubled)}")
    for name, size in SPLIT_SIZES.items():
        if (given := sum(task.split == name for task in tasks)) != size:
            found.append(f"the split {name} has {given} tasks; it must have {size}")
    return [*found, *(fault for task in tasks for fault in _attribute_faults(task))]


def _attribute_faults(task: Task) -> list[str]:
    horizon = "long_horizon" if task.expert_length >= LONG_HORIZON else "short_horizon"
    given = [attribute for attribute in task.attributes if attribute.endswith("_horizon")]
    if given == [horizon]:
        return []
    return [
        f"task {task.id}: attributes: {', '.join(given) or 'no horizon'}; "
        f"with an expert_length of {task.expert_length} it must be {horizon}"
    ]
