"""Bounds of the error of a run, from the differences to its repetitions.

Fixed steps: Richardson's extrapolation from the steps h, h/2 and that from h/2, h/4 give two values for the limit,
    X1 = x_{h/2} - d1/(2^p - 1),    X2 = x_{h/4} - d2/(2^p - 1),    X1 - X2 = (2^p d2 - d1)/(2^p - 1).
Both have errors of the next order of h, those of X1 being 2^(p+1) times those of X2, so that X1 misses the limit by at
most 4/3 of |X1 - X2| (p = 1). The bound is `CONVERGENT` times the estimated error and `SAFETY` times |X1 - X2|.

Elsewhere two runs are compared of which one is finer, and the bound is `SAFETY` times their difference d: the error is
at most |d| + e, with the error e of the finer run, and at most 3 |d| if e is no more than two thirds of it. A quarter
of the step leaves a quarter of it at first order, as between dense events, a hundredth of the tolerance far less.

Both factors are those of the grid convergence index (Roache, Journal of Fluids Engineering 116 (1994), 405): 1.25 where
three grids show the order, 3 for two grids.

An error may pass through zero at a sample, as that of an oscillator does in its extremes, so that each part of a bound
is the largest up to the sample. Samples inside the first step are reached by the same part of a step in all runs, whose
differences there say nothing, and an impact or a change between sticking and slipping just before a sample may show in
the one after it alone; the largest is therefore taken beyond the sample (see `reach`). What rounding leaves is added
(see `rounding_level`).

Errors of time stepping over impacts depend on where in a step these fall. Two differences can have the ratio of a
higher order there by chance, and since all times of steps of h are among those of h/2 and h/4, an impact may be late by
the same time in all three runs. So may be the beginning and the end of a force that depends on time. Two more runs
therefore have steps of h/φ and h/2φ, with the golden ratio φ, and the bound is no smaller than `SAFETY` times the
differences to them, and than that times |d1| + |d2|.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: Factors of an estimate whose order was seen, and of a difference; see the module's docstring.
CONVERGENT, SAFETY = 1.25, 3.0


def rounding_level(size: float, steps: float) -> float:
    """The difference that rounding alone leaves between two runs: it walks at random over the steps.

    A step rounds positions of the size `size` (rad, m) by some units in the last place; ten are taken.
    """
    return 10.0 * float(np.finfo(np.float64).eps) * size * math.sqrt(max(steps, 1.0))


def reach(times: NDArray[np.float64], step: float) -> NDArray[np.intp]:
    """Index for each of ascending times [T] (s): the last time that is at most a step (s) later, or else the next."""
    last = np.searchsorted(times, times + step * (1.0 + 1e-9), "right") - 1
    following = np.minimum(np.arange(1, len(times) + 1), len(times) - 1)
    return np.maximum(last, following)


def bound_from_extrapolation(
    estimate: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    order: float,
    floor: float,
    last: NDArray[np.intp],
) -> NDArray[np.float64]:
    """The bound [T] of errors that are estimated [T] for runs of an order that their differences [T, n] show.

    `last` [T]: up to which sample each part is the largest, as `reach` has it.
    """
    factor = 2.0**order
    disagreement = (factor * second - first) / (factor - 1.0)
    doubt = SAFETY * np.maximum.accumulate(largest_entry(disagreement))
    return (CONVERGENT * np.maximum.accumulate(estimate) + doubt)[last] + floor


def bound_from_difference(difference: NDArray[np.float64], floor: float, last: NDArray[np.intp]) -> NDArray[np.float64]:
    """The bound [T] from absolute differences [T] to a finer run; `last` as in `bound_from_extrapolation`."""
    return SAFETY * np.maximum.accumulate(difference)[last] + floor


def largest_entry(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest absolute entry at each sample [T] of differences [T, n]; 0 without entries."""
    return np.max(np.abs(differences), axis=1, initial=0.0)
