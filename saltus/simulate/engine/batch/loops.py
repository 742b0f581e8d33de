"""Loops over many simulations that pass each to the compiled loop of a single one, at its address.

Each simulation thus moves like a single one, to the bit, and a batch compiles no loop of its own. A thread has one
Data, into which it loads one state after the other. `simulations` are a tuple of arrays: states [n, rows], as
`Engine.state`; forced [n]: 1 where Cartesian forces act; places [k] in the Model's real buffer and each simulation's
numbers there [n, k]; places and numbers of its integer buffer. `model` are the Model's two buffers.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import functools

from numba import types

from saltus.model.event_enums import LOGGED, LOST, UNDONE, WORST
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
def load(buffers, simulations, i):
    """Put the state of simulation i into the Data, and its own numbers into the Model, given their four buffers."""
    m_real, m_ints, d_real, d_ints = buffers
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

    (data, model, address, simulations, (status [n], taken [n]), log, room, (first, last, going), steps, h, *parameters)
    -> (next simulation, rows of the log, events lost). Simulations with status EVENTS_FULL take steps until they have
    taken `steps`. `log` must have `room` rows for each call of the loop at `address`; if fewer are left, the log has to
    be read, and the loop called again with the next simulation as `first`, which is `going`.
    """

    def advance_each(
        d, d_real, d_ints, model, address, simulations, progress, log, room, span, steps, h, parameters
    ):  # fmt: skip
        m_real, m_ints = model
        status, taken = progress
        first, last, going = span
        rows, lost = 0, 0
        for i in range(first, last):
            if status[i] == EVENTS_FULL and not (going and i == first):
                load((m_real, m_ints, d_real, d_ints), simulations, i)
                d.event_count[LOGGED] = 0
                d.event_count[LOST] = 0
                d.event_count[UNDONE] = 0
                d.event_count[WORST] = 0
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
                status[i] = max(status[i], d.event_count[WORST])
                states = simulations[0]
                for k in range(states.shape[1]):
                    states[i, k] = d_real[k]
        return last, rows, lost

    return entry(advance_each, name="advance_each", structs=("d",), parameters=parameters)


@functools.cache
def linearize_states(parameters: int) -> Entry:
    """Derivatives of a step of many simulations, for loops with `parameters` parameters.

    (data, dual data, model, address, spans, inputs, sizes, states [n, rows], forced [n], h, A [n, ...], B [n, ...],
    (first, last), *parameters). `address`: of `saltus.simulate.engine.loops.linearize`, whose other arguments these
    are. spans [4, 2]: where a state holds qpos, qvel, act, ctrl; inputs [k, 2]: what else the dual data take from it.
    """

    def linearize_states(
        f, d, f_real, f_ints, d_real, d_ints, model, address, spans, inputs, sizes, states, forced, h, A, B, span,
        parameters,
    ):  # fmt: skip
        m_real, m_ints = model
        for i in range(span[0], span[1]):
            row = states[i]
            for k in range(len(row)):
                f_real[k] = row[k]
            f_ints[HAS_XFRC] = forced[i]
            d_ints[HAS_XFRC] = forced[i]
            for j in range(len(inputs)):
                for k in range(inputs[j, 0], inputs[j, 1]):
                    d_real[k, 0, 0] = row[k]
            start = (
                row[spans[0, 0] : spans[0, 1]],
                row[spans[1, 0] : spans[1, 1]],
                row[spans[2, 0] : spans[2, 1]],
                row[spans[3, 0] : spans[3, 1]],
            )
            buffers = (m_real, m_ints, f_real, f_ints, d_real, d_ints)
            _nothing(address, buffers + (start, sizes, h, A[i], B[i]) + parameters)

    return entry(linearize_states, name="differentiate_each", structs=("f", "d"), parameters=parameters)


@entry(structs=("d",))
def least_gaps(d, d_real, d_ints, model, address, simulations, wanted, points, out):
    """Write the least gap of `points` points of simulations `wanted` [w] to out [w]; `loops.gaps` is at `address`."""
    buffers = model[0], model[1], d_real, d_ints
    for k in range(len(wanted)):
        load(buffers, simulations, wanted[k])
        _nothing(address, buffers)
        for j in range(points):
            out[k] = minimum(out[k], d.gap[j])


@kernel
def look(d, buffers, looked, i):
    """Load simulation i and compute everything at its state; returns a status.

    looked: addresses of `loops.settle`, for those with unknown modes, and of `loops.forward`; the simulations; whether
    the modes of each are unknown [n].
    """
    addresses, simulations, unknown = looked
    load(buffers, simulations, i)
    if unknown[i]:
        _status(addresses[0], buffers)
        d.event_count[LOGGED] = 0
        d.event_count[LOST] = 0
    return _status(addresses[1], buffers)


@entry(structs=("d",))
def look_at(d, d_real, d_ints, model, looked, i):
    """Entry with the arguments of `look`."""
    return look(d, (model[0], model[1], d_real, d_ints), looked, i)


@entry(structs=("d",))
def look_each(d, d_real, d_ints, model, looked, span, places, out):
    """Write numbers at `places` of the Data of simulations in a span, after forward dynamics, to out [n, places].

    looked: as for `look`, with a third address, 0 or that of a further entry. Returns the worst status.
    """
    buffers, further = (model[0], model[1], d_real, d_ints), looked[0][2]
    status = 0
    for i in range(span[0], span[1]):
        status = max(status, look(d, buffers, looked, i))
        if further != 0:
            _nothing(further, buffers)
        for k in range(len(places)):
            out[i, k] = d_real[places[k]]
    return status
