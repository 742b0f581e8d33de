"""Fair timing of peers: in turn, repeat by repeat, each from the same start; the median of the ratios counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Contender:
    """A contender that is timed.

    `begin` puts it at the start, untimed; `work` is timed and does `units` units of work.
    """

    name: str
    begin: Callable[[], None]
    work: Callable[[], object]
    units: float


@dataclass(frozen=True)
class Timing:
    """Seconds per unit of work in each repeat."""

    name: str
    seconds: list[float]

    @property
    def median(self) -> float:
        return median(self.seconds)

    def ratio_to(self, peer: Timing) -> float:
        """Speed relative to `peer`: the median of the ratios of the repeats."""
        return median(p / s for p, s in zip(peer.seconds, self.seconds, strict=True))


def in_turn(
    contenders: list[Contender], *, repeats: int, least: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timing]:
    """Time the contenders in turn, `repeats` times, each for `least` seconds or more.

    A first round, untimed, warms caches and compiles. The order reverses from repeat to repeat, so that a machine that
    gets slower or faster meanwhile favours no contender.

    `clock`: `time.process_time` counts the work of this process alone, so that other programs disturb it less; it is
    for contenders that work on one thread.
    """
    calls = {}
    for c in contenders:
        c.begin()
        c.work()
        calls[c.name] = max(1, round(least / max(_seconds(c, clock), 1e-9)))
    taken: dict[str, list[float]] = {c.name: [] for c in contenders}
    for repeat in range(repeats):
        for c in contenders if repeat % 2 == 0 else contenders[::-1]:
            spent = sum(_seconds(c, clock) for _ in range(calls[c.name]))
            taken[c.name].append(spent / calls[c.name] / c.units)
    return {name: Timing(name, seconds) for name, seconds in taken.items()}


def _seconds(contender: Contender, clock: Callable[[], float]) -> float:
    contender.begin()
    begin = clock()
    contender.work()
    return clock() - begin
