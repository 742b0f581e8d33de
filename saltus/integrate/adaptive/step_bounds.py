"""Bounds of adaptive steps: a longest step, and times at which steps end because laws may jump there.

`bounds` [2 + n]: the longest step (s), the pace (the model's timestep, at most `LONGEST_PACE`; 0 for none), then the
times of such breaks (s), ascending. A step ends just before a break and the next one begins just behind it, with new
slopes and a new step size, so that a law is smooth within each step whichever value it has at the break itself (Hairer,
Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), II.6).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import number, numbers
from saltus.errors import OptionError
from saltus.integrate.adaptive.memory import ERROR_BEFORE, STEP
from saltus.integrate.adaptive.stages import first_slopes
from saltus.number.conditions import has
from saltus.number.functions import absolute, any_lane, minimum, where
from saltus.number.kernels import kernel

MAX_STEP, PACE, BREAKS = range(3)  # places of the longest step, of the pace, of the first break
SIDE = 4e-15  # distance of a break from the ends of the steps on both sides: s, relative to 1 s and to the time
APART = 1e-9  # least distance of breaks: s, relative to 1 s and to the time
ROUNDING = 1e-14  # rounding of times: s, relative to 1 s and to the time
LONGEST_PACE = 2e-3  # s
NEAR = 1e-12  # distance at which an end counts as reached, half of it for a break: s, relative to 1 s and to the time


def step_bounds(max_step: float = np.inf, breaks: tuple[float, ...] = (), timestep: float = 0.0) -> NDArray[np.float64]:
    """The bounds in the kernels' form; all in s."""
    return np.array([max_step, min(timestep, LONGEST_PACE), *breaks])


def longest_of(max_step: Any) -> float | None:
    """The longest step (s) given by a user, which may be infinite, or None; OptionError for anything else."""
    if max_step is None:
        return None
    found = number("max_step", max_step)
    if not found > 0:
        raise OptionError(f"max_step must be a positive number of seconds, got {found:g}")
    return found


def breaks_of(breaks: Any) -> tuple[float, ...]:
    """Break times (s) given by a user, ascending; OptionError if they are invalid or too close together."""
    times = np.unique(numbers("breaks", breaks))
    if not np.isfinite(times).all():
        raise OptionError(f"breaks must be finite times (s), got {breaks!r}")
    close = np.flatnonzero(np.diff(times) < APART * (1.0 + abs(times[1:])))
    if close.size:
        one, other = times[close[0] : close[0] + 2].tolist()
        raise OptionError(f"breaks: {one!r} s and {other!r} s are too close to each other")
    return tuple(times.tolist())


@kernel(inline=True)
def longest_step(wanted, bounds):
    """The step size `wanted` (s), at most the longest step."""
    return minimum(wanted, bounds[MAX_STEP] + 0.0 * wanted)


@kernel
def until_break(time, left, bounds):
    """The time `left` (s) of a step from `time` (s), limited to just before the next break."""
    for k in range(BREAKS, len(bounds)):
        before = bounds[k] - SIDE * (1.0 + absolute(bounds[k])) - time
        left = where(before > 0.0, minimum(left, before), left)
    return left


@kernel
def behind_break(time, bounds):
    """`time` (s), or if that is at a break or just before it, the time just behind it."""
    behind = time
    for k in range(BREAKS, len(bounds)):
        after = bounds[k] + SIDE * (1.0 + absolute(bounds[k])) + 0.0 * time
        there = (time < after) & (time > bounds[k] - 0.5 * NEAR * (1.0 + absolute(bounds[k])))
        behind = where(there, after, behind)
    return behind


@kernel
def remains(left, end, bounds):
    """Whether `left` (s) up to the time `end` (s) exceeds rounding, or the two sides of a break."""
    least = NEAR if len(bounds) > BREAKS else ROUNDING
    return left > least * (1.0 + absolute(end))


@kernel
def pass_break(m, d, live, bounds):
    """Go just behind a break if the time is at one, with the slopes there and a first step size.

    `live`: lanes that step; other lanes, and lanes at no break, keep their state to the bit. Returns the time (s) that
    has passed.
    """
    start = d.time
    behind = where(live, behind_break(start, bounds), start)
    there = behind > start
    if any_lane(there):
        keep_slopes(m, d)
        d.time = behind
        d.memory[STEP] = where(there, 0.0 * start, d.memory[STEP])
        d.memory[ERROR_BEFORE] = where(there, 0.0 * start, d.memory[ERROR_BEFORE])
        first_slopes(m, d)
        bring_back_slopes(m, d, there)
    return behind - start


@kernel
def keep_slopes(m, d):
    """Store the slopes of stage 0, and the solver's warm start, in the places of later stages."""
    for i in range(m.nv):
        d.stage_qacc[m.nv + i] = d.stage_qacc[i]
    for k in range(m.nact):
        d.stage_act[m.nact + k] = d.stage_act[k]
    if has(m, "constraint"):
        for i in range(m.nv):
            d.stage_qacc[2 * m.nv + i] = d.qacc_warmstart[i]


@kernel
def bring_back_slopes(m, d, there):
    """Restore what `keep_slopes` has stored, except in the lanes `there`."""
    for i in range(m.nv):
        d.stage_qacc[i] = where(there, d.stage_qacc[i], d.stage_qacc[m.nv + i])
    for k in range(m.nact):
        d.stage_act[k] = where(there, d.stage_act[k], d.stage_act[m.nact + k])
    if has(m, "constraint"):
        for i in range(m.nv):
            d.qacc_warmstart[i] = where(there, d.qacc_warmstart[i], d.stage_qacc[2 * m.nv + i])
