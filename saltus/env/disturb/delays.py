"""Delayed and noisy actions, and delayed observations, by queues in the memory of an episode."""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

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

COLUMN, DEPTH, FIRST, WHICH, NDELAYED = range(5)  # columns of the table of an observation's delayed numbers


def noise_of_actions(given: ArrayLike, count: int) -> NDArray[np.float64]:
    """Standard deviations of action noise [naction], from one number for all actions or one for each."""
    found = numbers("action_noise", given)
    if found.shape not in ((), (count,)) or not np.isfinite(found).all() or (found < 0.0).any():
        raise OptionError(f"action_noise must be a number ≥ 0, or {count} of them, got {given!r}")
    return np.broadcast_to(found, (count,)).astype(float)


def delayed_columns(ranges: Sequence[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Tables of a delayed observation, from the range of delays (steps) of each of its numbers.

    Returns the table of delayed numbers [delayed numbers, NDELAYED], the distinct ranges [ranges, 2], each of which is
    drawn once per episode, and the total length of the queues.
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
    """A random whole number from low to high; takes one draw if they differ."""
    x = 0.0 * e.steps + low
    if low < high:
        for lane in range(lane_count(x)):
            a, b, _, _ = next_block(e, lane)
            x = lane_set(x, lane, low + math.floor((high - low + 1) * unit(a, b)))
    return x


# ---------------------------------------------------------------- actions


@kernel(inline=True)
def begin_actions(e, count, delay):
    """Start an episode: draw the delay from the range `delay` and fill the queue of `count` actions with zeros."""
    e.action_delay = whole(e, delay[0], delay[1])
    for k in range((delay[1] + 1) * count):
        e.action_queue[k] = 0.0 * e.steps


@kernel(inline=True)
def late_action(e, noise, delay):
    """Replace the agent's action by the delayed one plus noise with deviations [naction].

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
    """Restore the action given by the agent."""
    for k in range(len(noise)):
        e.action[k] = e.action_queue[k]


# ---------------------------------------------------------------- observations


@kernel(inline=True)
def begin_observations(e, ranges):
    """Draw the delays of observations for an episode."""
    for p in range(ranges.shape[0]):
        e.observation_delay[p] = whole(e, ranges[p, 0], ranges[p, 1])


@kernel(inline=True)
def first_observation(e, columns):
    """Fill the queues with the first observation, which is seen until delayed numbers arrive."""
    for c in range(columns.shape[0]):
        for j in range(columns[c, DEPTH] + 1):
            e.observation_queue[columns[c, FIRST] + j] = e.observation[columns[c, COLUMN]]


@kernel(inline=True)
def late_observation(e, columns):
    """Queue the present observation and replace its delayed numbers by earlier ones."""
    for c in range(columns.shape[0]):
        first, delay = columns[c, FIRST], e.observation_delay[columns[c, WHICH]]
        for j in range(columns[c, DEPTH], 0, -1):
            e.observation_queue[first + j] = e.observation_queue[first + j - 1]
        x = e.observation[columns[c, COLUMN]]
        e.observation_queue[first] = x
        for j in range(1, columns[c, DEPTH] + 1):
            x = where(delay == j, e.observation_queue[first + j], x)
        e.observation[columns[c, COLUMN]] = x
