"""Rate of progress and remaining time."""

from __future__ import annotations

import time
from collections import deque

WINDOW = 30.0  # s over which the rate is averaged
LEAST = 0.5  # s before a rate is given


class Pace:
    """The rate of progress over the last half minute; `unit`: name of the items in the plural."""

    def __init__(self, unit: str):
        self._unit = unit
        self._seen: deque[tuple[float, float]] = deque()

    def words(self, done: float, total: float) -> str:
        """Text of rate and remaining time when `done` of `total` items are done; "" if unknown or complete."""
        now = time.perf_counter()
        self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] < now - WINDOW:
            self._seen.popleft()
        began, before = self._seen[0]
        if now - began < LEAST or not before < done < total:
            return ""
        return rate_words((done - before) / (now - began), total - done, self._unit)


def rate_words(rate: float, left: float, unit: str) -> str:
    """Format a rate (1/s) and the time for the remaining items, as "12 runs/s, 5 min left"."""
    shown = f"{rate:.2g} {unit}/s" if rate >= 0.1 else f"{60 * rate:.2g} {unit}/min"
    if rate >= 10:
        shown = f"{rate:.0f} {unit}/s"
    return f"{shown}, {time_words(left / rate)} left"


def time_words(seconds: float) -> str:
    """Format a duration: "8 s", "12 min", "3 h 20 min", "2 days 4 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} days {hours % 24} h"
