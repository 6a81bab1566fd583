"""The whole suite: the expert on every task, instantly or physically, and the cause of everything that went wrong."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

from homie_eval.emmoe.tasks import load_task, shipped_tasks
from support.suite_episodes import Episode, instant_episode, physical_episode

Figure = tuple[str, float, str]


def bench() -> list[Figure]:
    """Name, value and unit of each measured figure: instant skills only, for physical ones take very long."""
    return figures([instant_episode(load_task(id)) for id in shipped_tasks()])


def figures(episodes: list[Episode]) -> list[Figure]:
    """How much of the suite was solved, and what it cost."""
    return [
        (f"tasks solved of {len(episodes)} (TP and GC 100 %)", sum(episode.solved for episode in episodes), ""),
        ("TP, mean", statistics.mean(100 * episode.progress.value for episode in episodes), "%"),
        ("GC, mean", statistics.mean(100 * episode.goal.share for episode in episodes), "%"),
        ("failed steps", sum(not step.success for episode in episodes for step in episode.steps), ""),
        ("wall time of an episode, median", statistics.median(episode.seconds for episode in episodes), "s"),
        ("the slowest", max(episode.seconds for episode in episodes), "s"),
    ]


def main() -> None:
    """Run tasks as the arguments say; print each as it ends, and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="numbers or ids; all without any")
    parser.add_argument("--physical", action="store_true", help="by M3's skills, about 15 s a task")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    run: Callable[..., Episode] = physical_episode if given.physical else instant_episode
    episodes = []
    for reference in given.tasks or shipped_tasks():
        episodes.append(run(load_task(reference), given.seed))
        verdict = "solved" if episodes[-1].solved else "FAILED"
        print(f"  {verdict} {episodes[-1]} ({episodes[-1].seconds:.1f} s)", flush=True)
    for name, value, unit in figures(episodes):
        print(f"  {name:<56}{value:>10.3f} {unit}")


if __name__ == "__main__":
    main()
