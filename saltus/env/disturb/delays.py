"""Actions that act late and noisily, and observations that are seen late: queues in the memory of an episode."""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics leave out the first argument of their definition; kernels have no types)

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.env.random import next_block, normal, unit
from saltus.errors import OptionError
from saltus.number.components import lane_count, lane_set
from saltus.number.functions import where
from saltus.number.kernels import kernel

COLUMN, DEPTH, FIRST, WHICH, NDELAYED = range(5)  # places in the table of delayed numbers of an observation


def noise_of_actions(given: ArrayLike, count: int) -> NDArray[np.float64]:
    """Standard deviations [naction], of one number for all actions or one for each."""
    found = numbers("action_noise", given)
    if found.shape not in ((), (count,)) or not np.isfinite(found).all() or (found < 0.0).any():
        raise OptionError(f"action_noise must be a number ≥ 0, or {count} of them, got {given!r}")
    return np.broadcast_to(found, (count,)).astype(float)


def delayed_columns(ranges: Sequence[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Tables for an observation whose numbers are seen with delays in these ranges, one for each number.

    [delayed numbers, NDELAYED]; [ranges that differ, 2], of which each is drawn once; how many numbers queues hold.
    """
    distinct = sorted({one for one in ranges if one[1]})
    rows, at = [], 0
    for column, one in enumerate(ranges):
        if one[1]:
            rows.append((column, one[1], at, distinct.index(one)))
            at += one[1] + 1
    return np.array(rows, np.int64).reshape(-1, NDELAYED), np.array(distinct, np.int64).reshape(-1, 2), at


@kernel
def whole(e, low, high):
    """A whole number from low to high; one draw if they differ."""
    x = 0.0 * e.steps + low
    if low < high:
        for lane in range(lane_count(x)):
            a, b, _, _ = next_block(e, lane)
            x = lane_set(x, lane, low + math.floor((high - low + 1) * unit(a, b)))
    return x


# ---------------------------------------------------------------- actions


@kernel(inline=True)
def begin_actions(e, count, delay):
    """Before the first of `count` actions arrives, zeros act; `delay`: the least and the largest."""
    e.action_delay = whole(e, delay[0], delay[1])
    for k in range((delay[1] + 1) * count):
        e.action_queue[k] = 0.0 * e.steps


@kernel(inline=True)
def late_action(e, noise, delay):
    """The action that acts now takes the place of the one that was given: a late one, with noise [naction].

    e.action_queue holds the last actions, the newest first.
    """
    count = len(noise)
    for k in range((delay[1] + 1) * count - 1, count - 1, -1):
        e.action_queue[k] = e.action_queue[k - count]
    for k in range(count):
        x = e.action[k]
        e.action_queue[k] = x
        for j in range(1, delay[1] + 1):
            x = where(e.action_delay == j, e.action_queue[j * count + k], x)
        if noise[k] > 0.0:
            x = x + noise[k] * normal(e)
        e.action[k] = x


@kernel(inline=True)
def given_action(e, noise):
    """The action that was given is the action again."""
    for k in range(len(noise)):
        e.action[k] = e.action_queue[k]


# ---------------------------------------------------------------- observations


@kernel(inline=True)
def begin_observations(e, ranges):
    """Draw the delays of an episode."""
    for p in range(ranges.shape[0]):
        e.observation_delay[p] = whole(e, ranges[p, 0], ranges[p, 1])


@kernel(inline=True)
def first_observation(e, columns):
    """Until something that is seen late arrives, it is as at the start."""
    for c in range(columns.shape[0]):
        for j in range(columns[c, DEPTH] + 1):
            e.observation_queue[columns[c, FIRST] + j] = e.observation[columns[c, COLUMN]]


@kernel(inline=True)
def late_observation(e, columns):
    """What is seen now takes the place of what is there now."""
    for c in range(columns.shape[0]):
        first, delay = columns[c, FIRST], e.observation_delay[columns[c, WHICH]]
        for j in range(columns[c, DEPTH], 0, -1):
            e.observation_queue[first + j] = e.observation_queue[first + j - 1]
        x = e.observation[columns[c, COLUMN]]
        e.observation_queue[first] = x
        for j in range(1, columns[c, DEPTH] + 1):
            x = where(delay == j, e.observation_queue[first + j], x)
        e.observation[columns[c, COLUMN]] = x
