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
def write_controls(flat, group, width, first, controls, step, frozen):
    """Controls of a step, of an array [n or 1, T, nu], into rows of the state from `first` on.

    Frozen lanes keep theirs; lanes beyond n have those of the last simulation.
    """
    for lane in range(width):
        if not frozen[lane]:
            simulation = min(group * width + lane, len(controls) - 1)
            for i in range(controls.shape[2]):
                flat[(first + i) * width + lane] = controls[simulation, step, i]


@kernel
def record_states(flat, group, present, width, step, steps, record, fields):
    """Fields of the state of a group as those of a step, into their arrays [n, T, size] in one record."""
    for f in range(len(fields)):
        first, size = fields[f, FIRST], fields[f, SIZE]
        for lane in range(present):
            start = fields[f, BASE] + ((group * width + lane) * steps + step) * size
            for i in range(size):
                record[start + i] = flat[(first + i) * width + lane]


@kernel(inline=True)
def copy(source, target):
    """All numbers of an array to another of its length."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def store_lane(flat, states, group, width, lane):
    """The state of a lane ← its numbers in the data."""
    for row in range(len(flat) // width):
        states[group, row, lane] = flat[row * width + lane]


@kernel
def shadow(flat, clock, group, present, width, frozen):
    """Let frozen lanes be copies of one that moves, so that they cost no iterations; returns whether any moves."""
    moving = -1
    for lane in range(present):
        if not frozen[lane] and moving < 0:
            moving = lane
    if moving < 0:
        return False
    for lane in range(width):
        if frozen[lane]:
            clock[group, lane] = clock[group, moving]
            for row in range(len(flat) // width):
                flat[row * width + lane] = flat[row * width + moving]
    return True


@kernel
def freeze_bad(kept, states, flags, group, width, frozen, ended, began):
    """Freeze the lanes that diverged in a step, in the state before it, at the time when it began."""
    for lane in range(width):
        if flags[group, lane] and not frozen[lane]:
            frozen[lane] = True
            ended[lane] = began[lane]
            store_lane(kept, states, group, width, lane)


@kernel
def freeze_stuck(flat, states, clock, group, width, frozen, ended, stuck):
    """Freeze the lanes whose step control asked for too small steps, as a row of the state tells, where they are."""
    for lane in range(width):
        if not frozen[lane] and flat[stuck * width + lane] > 0.5:
            frozen[lane] = True
            ended[lane] = clock[group, lane]
            store_lane(flat, states, group, width, lane)


@kernel
def compute(buffers, lanes, shape, passes, count, flat, kept):
    """Call the loops that read quantities of one group, into the arrays of their tables; returns the worst status.

    They change the solver's warm start: after each the state is again what was kept.
    """
    m_real, m_ints, d_real, d_ints = buffers
    unsolved, status = count[NUNSOLVED], OK
    for k in range(PASSES):
        address, more, table, places, _ = passes[k]
        if address != 0:
            rest = (d_real, d_ints, lanes, shape, (table, places))
            if more == 1:
                status = max(status, _status(address, (m_real, m_ints, m_real, m_ints) + rest))
            else:
                status = max(status, _status(address, (m_real, m_ints) + rest))
            copy(kept, flat)
    count[NUNSOLVED] = unsolved  # reading is no step
    return status


@kernel
def move_tables(passes, steps):
    """Move the arrays of all tables on by some steps."""
    for k in range(PASSES):
        for f in range(len(passes[k][2])):
            passes[k][2][f, ADDRESS] += steps * passes[k][4][f]


@kernel
def begin_group(states, clock, flags, group, width, flat, frozen, ended):
    """Load the state of a group into the data; lanes that have diverged before are frozen."""
    for lane in range(width):
        frozen[lane] = flags[group, lane]
        ended[lane] = clock[group, lane]
        flags[group, lane] = False
        for row in range(len(flat) // width):
            flat[row * width + lane] = states[group, row, lane]


@kernel
def end_group(states, clock, flags, group, width, flat, frozen, ended):
    """Store the state of a group, with the marks of frozen lanes, which have their own already."""
    for lane in range(width):
        flags[group, lane] = frozen[lane]
        if frozen[lane]:
            clock[group, lane] = ended[lane]
        else:
            store_lane(flat, states, group, width, lane)


@functools.cache
def roll_out(parameters: int) -> Entry:
    """Loop of rollouts, for integrators with `parameters` parameters; returns the worst status.

    (m_real, m_ints, d_real, d_ints, address, lanes, shape, inputs, recorded, times, passes, when, work, taken, steps,
    one, h, *parameters). address: of `loops.advance_batch`; lanes: its arrays; shape: first and last group, rows to
    load (none: the state stays in the data from step to step), width and n. inputs: the first row of controls, and
    controls [n or 1, T, nu]. recorded: numbers, and for each field of the state FIRST, SIZE and BASE; times: [n, steps]
    or empty; passes: for each loop that reads its address (0: none), whether it takes a second model, table, places,
    and strides in bytes from step to step; when: BEFORE or AFTER. work: count of the data, its state as one row of
    numbers and as many for a copy, frozen [width], times [2, width], and the row of the mark of stuck lanes (-1: none).
    taken [n]: steps that each simulation has taken before it diverged.
    """

    def roll_out(
        m_real, m_ints, d_real, d_ints, address, lanes, shape, inputs, recorded, times, passes, when, work, taken,
        steps, one, h, parameters,
    ):  # fmt: skip
        buffers = (m_real, m_ints, d_real, d_ints)
        states, clock, flags, varied, fields = lanes
        begin, end, rows, width, n = shape
        count, flat, kept, frozen, (began, ended), stuck = work
        memory, status = (states, varied, fields), OK
        for group in range(begin, end):
            present, done = min(width, n - group * width), 0
            span = (group, group + 1, rows, width, n)
            begin_group(states, clock, flags, group, width, flat, frozen, ended)
            for k in range(steps):
                # controls, and quantities before the step
                write_controls(flat, group, width, inputs[0], inputs[1], k, frozen)
                if not shadow(flat, clock, group, present, width, frozen):
                    break
                copy(flat, kept)
                if when == BEFORE:
                    status = max(status, compute(buffers, memory, span, passes, count, flat, kept))
                # the step
                for lane in range(width):
                    began[lane] = clock[group, lane]
                    flags[group, lane] = False
                moves = (group, group + 1, rows, width, one, h)
                result = _status(address, buffers + (states, clock, flags, varied, fields) + moves + parameters)
                status = max(status, result)
                freeze_bad(kept, states, flags, group, width, frozen, ended, began)
                if stuck >= 0 and result >= STEP_TOO_SMALL:
                    freeze_stuck(flat, states, clock, group, width, frozen, ended, stuck)
                # what is recorded after it
                record_states(flat, group, present, width, k, steps, recorded[0], recorded[1])
                for lane in range(present):
                    simulation = group * width + lane
                    if len(times):
                        times[simulation, k] = clock[group, lane]
                    if not frozen[lane]:
                        taken[simulation] = k + 1
                if when == AFTER and passes[0][0] != 0:
                    shadow(flat, clock, group, present, width, frozen)
                    copy(flat, kept)
                    status = max(status, compute(buffers, memory, span, passes, count, flat, kept))
                move_tables(passes, 1)
                done += 1
            move_tables(passes, -done)
            end_group(states, clock, flags, group, width, flat, frozen, ended)
        return status

    return entry(roll_out, name="roll_out", structs=(), parameters=parameters)
