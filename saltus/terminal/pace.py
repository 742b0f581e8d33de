"""How fast things get done, and how long the rest will take."""

from __future__ import annotations

import time
from collections import deque

WINDOW = 30.0  # s that count for the rate
LEAST = 0.5  # s after which there is a rate


class Pace:
    """The rate at which things, `unit` in the plural, get done: that of the last half minute."""

    def __init__(self, unit: str):
        self._unit = unit
        self._seen: deque[tuple[float, float]] = deque()

    def words(self, done: float, total: float) -> str:
        """Rate and remaining time, now that so many of all are done; "" where nothing can be said, or all are."""
        now = time.perf_counter()
        self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] < now - WINDOW:
            self._seen.popleft()
        began, before = self._seen[0]
        if now - began < LEAST or not before < done < total:
            return ""
        return rate_words((done - before) / (now - began), total - done, self._unit)


def rate_words(rate: float, left: float, unit: str) -> str:
    """ "12 runs/s, 5 min left": `rate` a second, and the time that what is left takes."""
    shown = f"{rate:.2g} {unit}/s" if rate >= 0.1 else f"{60 * rate:.2g} {unit}/min"
    if rate >= 10:
        shown = f"{rate:.0f} {unit}/s"
    return f"{shown}, {time_words(left / rate)} left"


def time_words(seconds: float) -> str:
    """ "8 s", "12 min", "3 h 20 min", "2 days 4 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} days {hours % 24} h"
