"""The compiled loop of rollouts: controls in, steps, recorded fields out, for all simulations in lanes.

It calls the loop of `Batch.step`, and those that read computed quantities, at their addresses. So a rollout compiles
nothing of a model, and has the bits of its steps taken one by one.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import functools

from numba import types

from saltus.contact.counts import NUNSOLVED
from saltus.number.intrinsics.calls import caller
from saltus.number.kernels import Entry, entry, kernel
from saltus.simulate.batches.memory import ADDRESS
from saltus.solve.status import OK, STEP_TOO_SMALL

PASSES = 3  # at most, of loops that compute recorded quantities
BEFORE, AFTER = 0, 1  # whether quantities are those before the step or after it

_status = caller(types.int64)


FIRST, SIZE, BASE = range(3)  # of a recorded field of the state: first row, rows, and place of its array in the record


@kernel
def write_controls(states, group, width, first, controls, step, frozen):
    """Controls of a step, of an array [n or 1, T, nu], into rows of a group from `first` on; frozen lanes keep theirs.

    Lanes beyond n have those of the last simulation.
    """
    for lane in range(width):
        if not frozen[lane]:
            simulation = min(group * width + lane, len(controls) - 1)
            for i in range(controls.shape[2]):
                states[group, first + i, lane] = controls[simulation, step, i]


@kernel
def record_states(states, group, present, width, step, steps, record, fields):
    """Fields of the state of a group as those of a step, into their arrays [n, T, size] in one record."""
    for f in range(len(fields)):
        first, size = fields[f, FIRST], fields[f, SIZE]
        for lane in range(present):
            start = fields[f, BASE] + ((group * width + lane) * steps + step) * size
            for i in range(size):
                record[start + i] = states[group, first + i, lane]


@kernel
def set_aside(states, clock, flags, group, present, width, frozen, kept, times):
    """Replace frozen lanes of a group by copies of one that moves, and keep their states [rows, width] and times.

    Returns whether any of the first `present` lanes moves.
    """
    moving = -1
    for lane in range(present):
        if not frozen[lane] and moving < 0:
            moving = lane
    for lane in range(width):
        times[lane] = clock[group, lane]
        if frozen[lane] and moving >= 0:
            for row in range(states.shape[1]):
                kept[row, lane] = states[group, row, lane]
                states[group, row, lane] = states[group, row, moving]
            clock[group, lane] = clock[group, moving]
            flags[group, lane] = False
    return moving >= 0


@kernel
def bring_back(states, clock, flags, group, width, frozen, kept, times, time):
    """Undo `set_aside` after a step; lanes that diverged in it freeze with their last valid state and its time."""
    for lane in range(width):
        if frozen[lane]:
            for row in range(states.shape[1]):
                states[group, row, lane] = kept[row, lane]
            clock[group, lane] = times[lane]
            flags[group, lane] = True
        elif flags[group, lane]:
            frozen[lane] = True
            clock[group, lane] = times[lane]
            states[group, time, lane] = times[lane]


@kernel
def freeze_stuck(states, flags, group, width, frozen, stuck):
    """Flag and freeze the lanes whose step control asked for too small steps, as a row of the state tells."""
    for lane in range(width):
        if states[group, stuck, lane] > 0.5:
            flags[group, lane] = True
            frozen[lane] = True


@kernel
def compute(buffers, lanes, shape, passes, count):
    """Call the loops that read quantities of one group, into the arrays of their tables; returns the worst status."""
    m_real, m_ints, d_real, d_ints = buffers
    states, varied, fields = lanes
    unsolved, status = count[NUNSOLVED], OK
    for k in range(PASSES):
        address, more, table, places, _ = passes[k]
        rest = (d_real, d_ints, (states, varied, fields), shape, (table, places))
        if more == 1:
            status = max(status, _status(address, (m_real, m_ints, m_real, m_ints) + rest))
        elif address != 0:
            status = max(status, _status(address, (m_real, m_ints) + rest))
    count[NUNSOLVED] = unsolved  # reading is no step
    return status


@kernel
def move_tables(passes, steps):
    """Move the arrays of all tables on by some steps."""
    for k in range(PASSES):
        for f in range(len(passes[k][2])):
            passes[k][2][f, ADDRESS] += steps * passes[k][4][f]


@functools.cache
def roll_out(parameters: int) -> Entry:
    """Loop of rollouts, for integrators with `parameters` parameters; returns the worst status.

    (m_real, m_ints, d_real, d_ints, address, lanes, shape, inputs, recorded, times, passes, when, work, taken, steps,
    one, h, *parameters). address: of `loops.advance_batch`; lanes: its arrays; shape: first and last group, rows, width
    and n. inputs: the first row of controls, and controls [n or 1, T, nu]. recorded: numbers, and for each field of the
    state FIRST, SIZE and BASE; times: [n, steps] or empty; passes: for each loop that reads its address (0: none),
    whether it takes a second model, table, places, and strides in bytes from step to step; when: BEFORE or AFTER. work:
    count of the data, frozen [width], kept [rows, width], times [width], the rows of time and of the mark of stuck
    lanes (-1: none).
    taken [n]: steps that each simulation has taken before it diverged.
    """

    def roll_out(
        m_real, m_ints, d_real, d_ints, address, lanes, shape, inputs, recorded, times, passes, when, work, taken,
        steps, one, h, parameters,
    ):  # fmt: skip
        buffers = (m_real, m_ints, d_real, d_ints)
        states, clock, flags, varied, fields = lanes
        begin, end, rows, width, n = shape
        count, frozen, kept, began, (time, stuck) = work
        memory, status = (states, varied, fields), OK
        for group in range(begin, end):
            present, done = min(width, n - group * width), 0
            for lane in range(width):
                frozen[lane] = flags[group, lane]
            for k in range(steps):
                # controls, and quantities before the step
                write_controls(states, group, width, inputs[0], inputs[1], k, frozen)
                if not set_aside(states, clock, flags, group, present, width, frozen, kept, began):
                    break
                if when == BEFORE:
                    status = max(status, compute(buffers, memory, (group, group + 1, rows, width, n), passes, count))
                # the step
                span = (group, group + 1, rows, width, one, h)
                arguments = buffers + (states, clock, flags, varied, fields) + span + parameters
                result = _status(address, arguments)
                status = max(status, result)
                bring_back(states, clock, flags, group, width, frozen, kept, began, time)
                if stuck >= 0 and result >= STEP_TOO_SMALL:
                    freeze_stuck(states, flags, group, width, frozen, stuck)
                # what is recorded after it
                record_states(states, group, present, width, k, steps, recorded[0], recorded[1])
                if when == AFTER:
                    status = max(status, compute(buffers, memory, (group, group + 1, rows, width, n), passes, count))
                for lane in range(present):
                    simulation = group * width + lane
                    if len(times):
                        times[simulation, k] = clock[group, lane]
                    if not frozen[lane]:
                        taken[simulation] = k + 1
                move_tables(passes, 1)
                done += 1
            move_tables(passes, -done)
        return status

    return entry(roll_out, name="roll_out", structs=(), parameters=parameters)
