"""Targets of controllers that change with time: piecewise polynomials among a controller's parameters.

They stand behind the controller's own: a head (start, period, end), the segments' begins, and for each
segment and channel six coefficients, the highest power first. Channel k is actuator k's target.
"""

from saltus.number.functions import clip, floor, where
from saltus.number.kernels import kernel

START, PERIOD, END, HEAD = 0, 1, 2, 3  # places in the head (s)
POWERS = 6  # coefficients of a polynomial


@kernel
def put_targets(m, d, time, capacity, places):
    """Targets of all actuators at a time (s), with rates and accelerations, into the parameters of their controller.

    `capacity`: segments that there is room for, of which unused ones begin at infinity. `places`: where the table
    begins, how many parameters an actuator has, and the places among these of target, rate and acceleration (-1: none).
    """
    table, width, target, rate, acceleration = places
    start, period = d.control_prm[table + START], d.control_prm[table + PERIOD]
    end = d.control_prm[table + END]
    one = 1.0 + 0.0 * time
    # time within the motion; it stays at its ends
    repeats = period > 0.0
    turns = floor((time - start) / where(repeats, period, one))
    moves = where(repeats, one, where((time >= start) & (time < end), one, 0.0 * one))
    t = where(repeats, time - period * turns, clip(time + 0.0 * start, start, end))
    for k in range(m.nactuator):
        x, v, a = 0.0 * one, 0.0 * one, 0.0 * one
        for s in range(capacity):
            begin = d.control_prm[table + HEAD + s]
            h = where(t >= begin, t - begin, 0.0 * one)
            c = table + HEAD + capacity + POWERS * (capacity * k + s)
            y, w, b = d.control_prm[c] + 0.0 * one, 0.0 * one, 0.0 * one
            for power in range(1, POWERS):
                b = b * h + 2.0 * w
                w = w * h + y
                y = y * h + d.control_prm[c + power]
            x, v, a = where(t >= begin, y, x), where(t >= begin, w, v), where(t >= begin, b, a)
        d.control_prm[width * k + target] = x
        d.control_prm[width * k + rate] = moves * v
        if acceleration >= 0:
            d.control_prm[width * k + acceleration] = moves * a
