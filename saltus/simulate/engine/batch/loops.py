"""Loops over many simulations that pass each to the compiled loop of a single one, at its address.

Each simulation thus moves like a single one, to the bit, and a batch compiles no loop of its own. A thread has one
Data, into which it loads one state after the other. `simulations` are a tuple of arrays: states [n, rows], as
`Engine.state`; forced [n]: 1 where Cartesian forces act; places [k] in the Model's real buffer and each simulation's
numbers there [n, k]; places and numbers of its integer buffer.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import functools

from numba import types

from saltus.model.event_enums import LOGGED, LOST, UNDONE
from saltus.model.layout import DATA
from saltus.number.functions import minimum
from saltus.number.intrinsics.calls import caller
from saltus.number.kernels import Entry, entry, kernel
from saltus.solve.status import EVENTS_FULL, OK

HAS_XFRC = DATA.slot["has_xfrc"]

_steps = caller(types.UniTuple(types.int64, 2))  # results of `saltus.simulate.engine.loops.advance`
_status = caller(types.int64)
_nothing = caller(types.none)


@kernel
def load(d_real, d_ints, m_real, m_ints, simulations, i):
    """Put the state of simulation i into the Data, and its own numbers into the Model."""
    states, forced, places, numbers, whole_places, whole = simulations
    for k in range(states.shape[1]):
        d_real[k] = states[i, k]
    d_ints[HAS_XFRC] = forced[i]
    for k in range(len(places)):
        m_real[places[k]] = numbers[i, k]
    for k in range(len(whole_places)):
        m_ints[whole_places[k]] = whole[i, k]


@kernel
def move_log(d, log, rows, i):
    """Move logged events to the end of log [room, 1 + columns], which has `rows` rows, with the simulation's number.

    Returns the new number of rows, and the number of events that did not fit into the log of the Data.
    """
    count, lost = d.event_count[LOGGED], d.event_count[LOST]
    for k in range(count):
        log[rows + k, 0] = i
        for column in range(log.shape[1] - 1):
            log[rows + k, 1 + column] = d.event_log[k, column]
    d.event_count[LOGGED] = 0
    d.event_count[LOST] = 0
    return rows + count, lost


@functools.cache
def advance_each(parameters: int) -> Entry:
    """Loop of many simulations for integrators with `parameters` parameters.

    (data, m_real, m_ints, address, simulations, status [n], taken [n], log, room, first, last, going, steps, h,
    *parameters) -> (next simulation, rows of the log, events lost). Simulations with status EVENTS_FULL take steps
    until they have taken `steps`. `log` must have `room` rows for each call of the loop at `address`; if fewer are
    left, the log has to be read, and the loop called again with the next simulation as `first`, which is `going`.
    """

    def advance_each(
        d, d_real, d_ints, m_real, m_ints, address, simulations, status, taken, log, room, first, last, going, steps,
        h, parameters
    ):  # fmt: skip
        rows, lost = 0, 0
        for i in range(first, last):
            if status[i] == EVENTS_FULL and not (going and i == first):
                load(d_real, d_ints, m_real, m_ints, simulations, i)
                d.event_count[LOGGED] = 0
                d.event_count[LOST] = 0
                d.event_count[UNDONE] = 0
            moved = status[i] == EVENTS_FULL
            while status[i] == EVENTS_FULL and taken[i] < steps:
                if len(log) - rows < room:
                    return i, rows, lost
                arguments = (m_real, m_ints, d_real, d_ints, steps - taken[i], h)
                more, status[i] = _steps(address, arguments + parameters)
                taken[i] += more
                rows, missed = move_log(d, log, rows, i)
                lost += missed
            if moved:
                if status[i] == EVENTS_FULL:
                    status[i] = OK
                states = simulations[0]
                for k in range(states.shape[1]):
                    states[i, k] = d_real[k]
        return last, rows, lost

    return entry(advance_each, name="advance_each", structs=("d",), parameters=parameters)


@entry(structs=("d",))
def least_gaps(d, d_real, d_ints, m_real, m_ints, address, simulations, wanted, points, out):
    """Write the least gap of `points` points of simulations `wanted` [w] to out [w]; `loops.gaps` is at `address`."""
    for k in range(len(wanted)):
        load(d_real, d_ints, m_real, m_ints, simulations, wanted[k])
        _nothing(address, (m_real, m_ints, d_real, d_ints))
        for j in range(points):
            out[k] = minimum(out[k], d.gap[j])


@kernel
def look(d, d_real, d_ints, m_real, m_ints, addresses, simulations, unknown, i):
    """Load simulation i and compute everything at its state; returns a status.

    addresses: of `loops.settle`, for those with `unknown` [n] modes, and of `loops.forward`.
    """
    load(d_real, d_ints, m_real, m_ints, simulations, i)
    if unknown[i]:
        _status(addresses[0], (m_real, m_ints, d_real, d_ints))
        d.event_count[LOGGED] = 0
        d.event_count[LOST] = 0
    return _status(addresses[1], (m_real, m_ints, d_real, d_ints))


@entry(structs=("d",))
def look_at(d, d_real, d_ints, m_real, m_ints, addresses, simulations, unknown, i):
    """Entry with the arguments of `look`."""
    return look(d, d_real, d_ints, m_real, m_ints, addresses, simulations, unknown, i)


@entry(structs=("d",))
def look_each(
    d, d_real, d_ints, m_real, m_ints, addresses, simulations, unknown, first, last, places, out
):  # fmt: skip
    """Write numbers at `places` of the Data of many simulations, after forward dynamics, to out [n, places].

    addresses: those that `look` takes, then 0 or that of a further entry. Returns the worst status.
    """
    status = 0
    for i in range(first, last):
        status = max(status, look(d, d_real, d_ints, m_real, m_ints, addresses, simulations, unknown, i))
        if addresses[2] != 0:
            _nothing(addresses[2], (m_real, m_ints, d_real, d_ints))
        for k in range(len(places)):
            out[i, k] = d_real[places[k]]
    return status
