"""Samples of a run in steps of free size: states at given times, one per row.

A row has time, qpos [nq], qvel [nv] and act [nact]. If events are located, these follow: the modes [nmode], the slip
directions [nmode, 3], the discrete states of actuation, the inputs that actions of events may change (ctrl [nu],
userdata, eq_active), and whether the sample lies in time stepping over events.
"""

from saltus.model.event_enums import LEFT
from saltus.number.kernels import kernel, only_with


@kernel
def write_reached(m, d, times, row, out):
    """Write the current state for all of the ascending times [n], from number `row` on, that it has reached.

    Returns the next row.
    """
    while row < len(times) and times[row] <= d.time:
        write_row(m, d, times[row], out, row)
        row += 1
    return row


@kernel
def write_row(m, d, time, out, row):
    """Write the current state as one sample, with the given time (s), to row `row` of out."""
    out[row, 0] = time
    for k in range(m.nq):
        out[row, 1 + k] = d.qpos[k]
    for i in range(m.nv):
        out[row, 1 + m.nq + i] = d.qvel[i]
    for k in range(m.nact):
        out[row, 1 + m.nq + m.nv + k] = d.act[k]
    write_modes(m, d, out, row)


@only_with("event")
@kernel
def write_modes(m, d, out, row):
    """Write the part of a sample with modes, what actions change, and the mark of time stepping over events."""
    first = 1 + m.nq + m.nv + m.nact
    for i in range(m.nmode):
        out[row, first + i] = d.mode[i]
        for k in range(3):
            out[row, first + m.nmode + 3 * i + k] = d.slip[i, k]
    first = copied(d.actuation_state, m.nactuation_state, out, row, first + 4 * m.nmode)
    first = copied(d.ctrl, m.nu, out, row, first)
    first = copied(d.userdata, m.nuserdata, out, row, first)
    first = copied(d.eq_active, m.nequality, out, row, first)
    out[row, first] = 1.0 if d.dense[LEFT] > 0.0 else 0.0


@kernel(inline=True)
def copied(field, n, out, row, first):
    """Write n numbers of a field to row `row` of out from place `first` on; returns the place after them."""
    for i in range(n):
        out[row, first + i] = field[i]
    return first + n
