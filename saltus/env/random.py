"""Random numbers in terms: counter-based, so that they depend only on seed, episode and draw.

The generator is Philox4x32-10 (Salmon, Moraes, Dror & Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011). Its
key is the 64-bit seed of a simulation; its counter consists of the numbers of the draw and the episode, 64 bits each.
Each draw takes one block of four words of 32 bits, whether they are used or not.
"""

# pyright: reportCallIssue=false
# pyright: reportIncompatibleMethodOverride=false
# (in kernels, calls of intrinsics omit the first argument of their definition)

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from saltus.env.distributions import Distribution, normal_about, uniform_between
from saltus.number.components import lane_count, lane_set
from saltus.number.internals import CPUDispatcher
from saltus.number.kernels import kernel
from saltus.number.structs import Struct

# columns of the rows of `e.random`
KEY_LOW, KEY_HIGH, EPISODE, DRAW, NRANDOM = range(5)

ROUNDS = 10
MULTIPLIER_0, MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL_0, WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)  # added to the key after each round
WORD, WORD_MASK = np.uint64(32), np.uint64(0xFFFFFFFF)
UNIT = 2.0**-53
# marks draws outside terms in the second word of the counter, which terms would reach after 2⁶³ draws only
APART = np.uint64(1 << 31)


@kernel
def philox(c0, c1, c2, c3, k0, k1):
    """Compute the block of a counter (c0, c1, c2, c3) under a key (k0, k1): four words of 32 bits, all in uint64."""
    for _ in range(ROUNDS):
        p, q = MULTIPLIER_0 * c0, MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (q >> WORD) ^ c1 ^ k0, q & WORD_MASK, (p >> WORD) ^ c3 ^ k1, p & WORD_MASK
        k0, k1 = (k0 + WEYL_0) & WORD_MASK, (k1 + WEYL_1) & WORD_MASK
    return c0, c1, c2, c3


@kernel
def next_block(e, lane):
    """Draw the next block of the simulation in a lane."""
    draw, episode = np.uint64(e.random[lane, DRAW]), np.uint64(e.random[lane, EPISODE])
    low, high = np.uint64(e.random[lane, KEY_LOW]), np.uint64(e.random[lane, KEY_HIGH])
    e.random[lane, DRAW] = e.random[lane, DRAW] + 1
    return philox(draw & WORD_MASK, draw >> WORD, episode & WORD_MASK, episode >> WORD, low, high)


@kernel
def unit(high, low):
    """Convert two words to a multiple of 2⁻⁵³ in [0, 1)."""
    return np.float64(((high << WORD) | low) >> np.uint64(11)) * UNIT


@kernel
def uniform(e: Struct, low: float, high: float) -> float:
    """Draw a uniformly distributed random number between low and high, in terms: `uniform(e, low, high)`.

    Outside terms, `uniform(low, high)` returns the distribution, for `Randomize` and `Push`; low and high may then be
    names of the environment's parameters.
    """
    x = 0.0 * e.steps
    for lane in range(lane_count(x)):
        a, b, _, _ = next_block(e, lane)
        x = lane_set(x, lane, unit(a, b))
    return low + (high - low) * x


@kernel
def normal(e: Struct) -> float:
    """Draw a normally distributed random number of mean 0 and standard deviation 1, in terms: `normal(e)`.

    Uses Box and Muller's transform of two uniform numbers, √(-2 ln(1 - u)) cos(2π v). Outside terms, `normal(mean,
    deviation, low=..., high=...)` returns the distribution, truncated at the limits, for `Randomize` and `Push`.
    """
    x = 0.0 * e.steps
    for lane in range(lane_count(x)):
        a, b, c, d = next_block(e, lane)
        radius = math.sqrt(-2.0 * math.log(1.0 - unit(a, b)))
        x = lane_set(x, lane, radius * math.cos(2.0 * math.pi * unit(c, d)))
    return x


def probabilities(keys: NDArray[np.int64], stream: int, episodes: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Uniformly distributed numbers [n, count] in (0, 1) for simulations with rows of `e.random` [n, NRANDOM].

    The numbers depend on the keys, the number of the stream, the numbers of the episodes [n], and their index in a row.
    """
    low, high, episode = (x.astype(np.uint64)[:, None] for x in (keys[:, KEY_LOW], keys[:, KEY_HIGH], episodes))
    draw, apart = np.arange(count, dtype=np.uint64)[None], APART + np.uint64(stream)
    shape = np.broadcast_shapes(low.shape, draw.shape)
    counter = [np.broadcast_to(x, shape) for x in (draw, apart, episode & WORD_MASK, episode >> WORD, low, high)]
    a, b, _, _ = philox.py_func(*counter)
    return (((a << WORD) | b) >> np.uint64(12)).astype(np.float64) * (2.0 * UNIT) + UNIT


class _Drawing(CPUDispatcher):
    """A kernel that draws a number in terms; calling it from Python returns the distribution."""

    distribution: Callable[..., Distribution]

    def __call__(self, *args: object, **given: object) -> Distribution:
        return self.distribution(*args, **given)

    def __repr__(self) -> str:
        return f"{CPUDispatcher.__name__}({self.py_func})"  # as of any kernel: the name of its type contains it


def _also_distribution(drawing: CPUDispatcher, distribution: Callable[..., Distribution]) -> None:
    """Make calls of a kernel from Python return a distribution."""
    vars(drawing)["distribution"] = distribution
    drawing.__class__ = _Drawing


_also_distribution(uniform, uniform_between)
_also_distribution(normal, normal_about)
