"""Each skill many times, physically, from random starts in random houses: success, and the cause of every failure."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterable, Iterator

from scipy.stats import binomtest

from support.skill_trials import VERBS, NoTrial, SkillTrials, Trial

COUNT, SEED = 10, 1
Figure = tuple[str, float, str]


def trials(skills: Iterable[str], seed: int, numbers: Iterable[int], houses: tuple[str, ...] = ()) -> Iterator[Trial]:
    """One trial of each of ``skills`` for each of ``numbers``, skill by skill."""
    stage = SkillTrials(houses)
    chosen = list(numbers)
    for skill in skills:
        for number in chosen:
            try:
                yield stage.run(skill, seed, number)
            except NoTrial as nothing:
                print(f"  {skill} (seed {seed}, number {number}): not tried: {nothing}", flush=True)


def bench() -> list[Figure]:
    """Name, value and unit of each measured figure."""
    return figures(list(trials(VERBS, SEED, range(COUNT))))


def figures(done: list[Trial]) -> list[Figure]:
    """Success of each skill with its Wilson interval, and what the trials cost."""
    rows: list[Figure] = []
    for skill in VERBS:
        own = [trial for trial in done if trial.skill == skill]
        if not own:
            continue
        good = sum(not trial.fault for trial in own)
        low, high = binomtest(good, len(own)).proportion_ci(method="wilson")
        rows += [
            (f"{skill}: success in {len(own)} (95 %: {100 * low:.0f} to {100 * high:.0f})", 100 * good / len(own), "%"),
            (f"{skill}: wall time, median", statistics.median(trial.wall_seconds for trial in own), "s"),
            (f"{skill}: simulated time, median", statistics.median(trial.simulated_seconds for trial in own), "s"),
        ]
    rows.append(("worlds left inconsistent", sum(bool(trial.damage) for trial in done), ""))
    return rows


def main() -> None:
    """Run trials as the arguments say; print every failure as it comes, and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="trials of each skill")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--skill", choices=VERBS, action="append", help="only this one; may be given several times")
    parser.add_argument("--house", action="append", default=[], help="only this one; may be given several times")
    parser.add_argument("--all", action="store_true", help="print successes too")
    given = parser.parse_args()
    done = []
    numbers = range(given.first, given.first + given.count)
    for trial in trials(given.skill or VERBS, given.seed, numbers, tuple(given.house)):
        done.append(trial)
        if given.all or trial.fault or trial.damage:
            print(f"  {trial}", flush=True)
    for name, value, unit in figures(done):
        print(f"  {name:<56}{value:>10.3f} {unit}")


if __name__ == "__main__":
    main()
