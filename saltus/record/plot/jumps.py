"""Velocity jumps: curves are split at events."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Kinds of events at which velocities may jump.
KINDS = ("impact", "energetic", "leftover", "jammed", "user")


def with_jumps(
    time: NDArray[np.float64], table: NDArray[np.float64], events: NDArray[np.void]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Time [T] and columns [T, n] with more rows, nan between before and after each event that may change velocities.

    Up to the event a curve goes on as it came, and from it as it goes on; straight lines, where no other event is near.
    """
    times = events["time"][np.isin(events["kind"], KINDS)]
    times = np.sort(times[np.isfinite(times)])
    between = np.searchsorted(time, times, side="left") - 1
    inside = (between >= 0) & (between < len(time) - 1)
    at, first, number = np.unique(between[inside], return_index=True, return_counts=True)
    if not len(at):
        return time, table
    begin, end = times[inside][first], times[inside][first + number - 1]
    with np.errstate(all="ignore"):  # runs that diverged have infinite values
        slopes = np.diff(table, axis=0) / np.diff(time)[:, None]
        slopes[at] = 0.0  # only the jump is known of these
        slopes = np.vstack([np.zeros(table.shape[1]), slopes, np.zeros(table.shape[1])])
        before = table[at] + slopes[at] * (begin - time[at])[:, None]
        after = table[at + 1] - slopes[at + 2] * (time[at + 1] - end)[:, None]
    rows = np.stack([before, np.full_like(before, np.nan), after], axis=1).reshape(-1, table.shape[1])
    places = np.repeat(at + 1, 3)
    moments = np.stack([begin, end, end], axis=1).reshape(-1)
    return np.insert(time, places, moments), np.insert(table, places, rows, axis=0)
