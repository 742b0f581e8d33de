"""Delays: history buffers of controls and sensor samples.

Each delayed actuator or sensor has a section of `history`: a number of its own (for a sensor the time of its last
tick), MuJoCo's cursor, the times of n samples (s), and n samples of `dim` numbers each. Samples are ordered by time,
the oldest first: a new one shifts the others down, since lanes may be at different times. The sizes of sections, and a
history whose cursor is at its last sample, match MuJoCo's (documentation, Computation, "Delays").

Times count as equal within 1e-15 s, as in MuJoCo; in single precision, which resolves times less finely, within four
roundings.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import numpy as np

from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, maximum, where
from saltus.number.kernels import kernel, only_with

HOLD, LINEAR, CUBIC = range(3)  # interpolation
TIMES = 2  # offset of the first time in a section of history


# ---------------------------------------------------------------- initial history, from Python


def initial_history(m, timestep=None):
    """Initial history [nhistory] of an MjModel: zeros, as if sampled at every past step.

    `timestep` (s): between these samples; None: the model's.
    """
    h = m.opt.timestep if timestep is None else timestep
    history = np.zeros(m.nhistory)
    for k in np.flatnonzero(m.actuator_history[:, 0]) if m.nactuator else ():
        n, at = m.actuator_history[k, 0], m.actuator_historyadr[k]
        history[at + 1] = n - 1
        history[at + TIMES : at + TIMES + n] = -np.arange(n, 0, -1) * h
    for s in np.flatnonzero(m.sensor_history[:, 0]) if m.nsensor else ():
        n, at = m.sensor_history[s, 0], m.sensor_historyadr[s]
        interval, phase = m.sensor_interval[s]
        times = -np.arange(n, 0, -1) * h
        last = -h
        if interval > 0:
            last = phase if phase else -interval
            times = np.ceil((last - np.arange(n - 1, -1, -1) * interval) / h) * h
        history[at], history[at + 1] = last, n - 1
        history[at + TIMES : at + TIMES + n] = times
    return history


# ---------------------------------------------------------------- controls


@only_with("delay")
@kernel
def delayed_controls(m, d):
    """Replace the inputs [nu] of delayed actuators by their controls at the delayed time."""
    for k in range(m.nactuator):
        if m.actuator_delay[k] != 0.0:
            at, n, way = m.actuator_historyadr[k], m.actuator_nsample[k], m.actuator_interp[k]
            c, dim = m.actuator_ctrladr[k], m.actuator_ctrlnum[k]
            for i in range(dim):
                d.input[c + i] = past_value(d, at, n, dim, i, d.time - m.actuator_delay[k], way)


@only_with("delay")
@kernel
def record_controls(m, d, time):
    """Add the present controls to the history, stamped `time` (s), the start of the step that has been taken."""
    for k in range(m.nactuator):
        if m.actuator_nsample[k] > 0:
            put_controls(m, d, k, time)


@only_with("delay")
@kernel
def note_controls(m, d, time):
    """`record_controls` for steps of free size: at most one sample a timestep, so that a history spans its delay.

    Of a control that stays the same the first sample and the last one are kept, between which it is known.
    """
    for k in range(m.nactuator):
        n, newest = m.actuator_nsample[k], m.actuator_historyadr[k] + TIMES + m.actuator_nsample[k] - 1
        if n > 0:
            if not holds(m, d, k, n - 1):
                put_controls(m, d, k, time)
            elif time - d.history[newest] >= d.timestep:
                if n > 1 and holds(m, d, k, n - 2):
                    d.history[newest] = time
                else:
                    put_controls(m, d, k, time)


@kernel
def put_controls(m, d, k, time):
    """Add the present controls of actuator k to its history."""
    n, at = m.actuator_nsample[k], m.actuator_historyadr[k]
    c, dim = m.actuator_ctrladr[k], m.actuator_ctrlnum[k]
    place = make_room(d, at, n, dim, time, 0.0 * time + 1.0)
    for i in range(dim):
        put_sample(d, at, n, dim, i, place, d.ctrl[c + i])


@kernel
def holds(m, d, k, j):
    """Whether sample j of actuator k is its present controls."""
    n, c, dim = m.actuator_nsample[k], m.actuator_ctrladr[k], m.actuator_ctrlnum[k]
    place, same = m.actuator_historyadr[k] + TIMES + n + j * dim, True
    for i in range(dim):
        same = same and d.history[place + i] == d.ctrl[c + i]
    return same


# ---------------------------------------------------------------- a section of history


@kernel(inline=True)
def same_time(t):
    """Tolerance (s) within which a time counts as equal to t."""
    epsilon = epsilon_of(t)
    if epsilon < 1e-10:
        return 0.0 * t + 1e-15
    return 4.0 * epsilon * absolute(t)


@kernel
def past_value(d, at, n, dim, k, t, way):
    """Component k of n samples of `dim` numbers at time t (s), interpolated; constant before and after all samples."""
    oldest, values = at + TIMES, at + TIMES + n + k
    same = same_time(t)
    found = d.history[values]
    # interpolate in the interval that contains t
    for j in range(1, n):
        t1 = d.history[oldest + j]
        inside = (d.history[oldest + j - 1] < t) & (t <= t1)
        if any_lane(inside):
            here = value_between(d, oldest, values, n, dim, j, t, way)
            here = where(absolute(t - t1) < same, d.history[values + j * dim], here)
            found = where(inside, here, found)
    # constant extrapolation
    found = where(t <= d.history[oldest] + same, d.history[values], found)
    return where(t >= d.history[oldest + n - 1] - same, d.history[values + (n - 1) * dim], found)


@kernel
def value_between(d, oldest, values, n, dim, j, t, way):
    """Value at t between samples j - 1 and j: zero-order hold, linear, or cubic Hermite spline.

    The spline's slopes are those of the chords between a sample's neighbours (Catmull & Rom (1974)), and zero at the
    first and last sample.
    """
    t0, t1 = d.history[oldest + j - 1], d.history[oldest + j]
    v0, v1 = d.history[values + (j - 1) * dim], d.history[values + j * dim]
    if way == HOLD:
        return v0
    step = where(t1 > t0, t1 - t0, 0.0 * t + 1.0)
    x = (t - t0) / step
    if way == LINEAR:
        return v0 + x * (v1 - v0)
    # cubic hermite spline
    slope0 = slope1 = 0.0 * v0
    if j > 1:
        slope0 = chord(d, oldest, values, dim, j - 2, j)
    if j < n - 1:
        slope1 = chord(d, oldest, values, dim, j - 1, j + 1)
    y = x - 1.0
    held = (1.0 + 2.0 * x) * y * y * v0 + (3.0 - 2.0 * x) * x * x * v1
    return held + step * (x * y * y * slope0 + x * x * y * slope1)


@kernel(inline=True)
def chord(d, oldest, values, dim, i, j):
    """Slope (1/s) of the chord between samples i and j."""
    span = d.history[oldest + j] - d.history[oldest + i]
    rise = d.history[values + j * dim] - d.history[values + i * dim]
    return rise / where(span > 0.0, span, 0.0 * span + 1.0)


@kernel
def make_room(d, at, n, dim, t, due):
    """Make room for a sample at time t (s) in lanes where `due` is 1; returns its index among the n samples, else -1.

    The new sample replaces one of the same time, otherwise the oldest is dropped. Samples stay in the order of times.
    """
    zero = 0.0 * due
    one = zero + 1.0
    # count samples before t, and at t
    earlier = same = zero
    for j in range(n):
        time = d.history[at + TIMES + j]
        earlier = earlier + where(time < t, one, zero)
        same = same + where((time >= t) & (time - t < same_time(t)), one, zero)
    # index of the new sample
    replaces = same > 0.5
    place = where(replaces, earlier, maximum(earlier - 1.0, zero))
    moved = where(due > 0.5, where(replaces, zero, place), zero)  # number of samples that shift down
    place = where(due > 0.5, place, -one)
    # shift older samples down, and write the time of the new one
    for j in range(n):
        i = at + TIMES + j
        if j < n - 1:
            moves = moved > 1.0 * j
            d.history[i] = where(moves, d.history[i + 1], d.history[i])
            for k in range(dim):
                v = at + TIMES + n + j * dim + k
                d.history[v] = where(moves, d.history[v + dim], d.history[v])
        d.history[i] = where((place == 1.0 * j) & (same < 0.5), t, d.history[i])
    return place


@kernel
def put_sample(d, at, n, dim, k, place, value):
    """Write `value` as component k of the sample for which `make_room` has returned `place`."""
    for j in range(n):
        v = at + TIMES + n + j * dim + k
        d.history[v] = where(place == 1.0 * j, value, d.history[v])
