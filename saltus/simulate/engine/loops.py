"""Time loops, compiled for each integrator when it is first used, and functions that evaluate one state."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import functools
from typing import Any

from numba import float64

from saltus.contact.event.modes import keep_worst, log_is_full
from saltus.dynamics import motions, smooth
from saltus.dynamics.equations import inverse_dynamics
from saltus.dynamics.history import record_controls
from saltus.dynamics.rod_frames import keep_frames, note_frames
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.zero_order_hold import hold_control
from saltus.integrate import work
from saltus.integrate.adaptive import dopri5
from saltus.integrate.adjoints import position_adjoint, velocity_adjoint
from saltus.integrate.event import event_functions, free_steps, step_start
from saltus.integrate.event.event_driven import goes_on
from saltus.integrate.fixed.euler_jacobian import WORK
from saltus.integrate.implicit import discrete
from saltus.integrate.integrator import Integrator
from saltus.integrate.passing import may_pass, note_passing
from saltus.integrate.radau import radau
from saltus.integrate.status import bad_start, bad_state
from saltus.integrate.tangents import seed_state, store_parameter_tangents, store_tangents
from saltus.number.components import lane_get
from saltus.number.conditions import has
from saltus.number.functions import any_lane, maximum, rarely
from saltus.number.kernels import Entry, entry, kernel
from saltus.number.kinds import NTANGENT
from saltus.sense.delay import sample_sensors
from saltus.sense.point_columns import point_columns
from saltus.solve import acceleration
from saltus.solve import inverse as inverse_forces
from saltus.solve.constrain import detect_contacts
from saltus.solve.event import overlap
from saltus.solve.event.constrained_acceleration import rows_there
from saltus.solve.sleep import calls
from saltus.solve.sleep.calls import see_everything
from saltus.solve.status import DIVERGED, EVENTS_FULL, OK

TIME = 0  # place of the time, the first number of Data

_accelerations, _energy_of_state, _begin = acceleration.forward, smooth.energy_of_state, step_start.begin
_record_events = free_steps.record
_constrained_inverse, _damped_inverse = inverse_forces.constrained_inverse, inverse_forces.damped_inverse
_inverse_of_step = discrete.inverse_of_step
_begin_sleeping, _energies_of_state = calls.begin_sleeping, smooth.energies_of_state


# ---------------------------------------------------------------- evaluation of a state


@entry
def forward(m, d):
    """Compute everything from state and inputs; returns a status. A state that is not finite is left alone."""
    if rarely(any_lane(bad_start(m, d) > 0.5)):
        return DIVERGED
    return _accelerations(m, d)


@entry
def settle(m, d):
    """Find the modes of a state where events are located in time; returns a status."""
    if rarely(any_lane(bad_start(m, d) > 0.5)):
        return DIVERGED
    return _begin(m, d)


@entry
def sample(m, d):
    """Compute the energy, and which pairs of geoms touch."""
    see_everything(m, d)
    _energy_of_state(m, d)
    detect_contacts(m, d)


@entry
def inverse(m, d):
    """Compute inverse dynamics from positions, velocities and accelerations."""
    see_everything(m, d)
    position_stage(m, d, 0)
    inverse_dynamics(m, d)


@entry
def driving_forces(m, d):
    """Compute constrained inverse dynamics from positions, velocities and accelerations of continuous time."""
    see_everything(m, d)
    _constrained_inverse(m, d)


@entry
def driving_forces_of_damped_step(m, d, h):
    """Compute constrained inverse dynamics from the accelerations of an Euler step of h seconds."""
    see_everything(m, d)
    _damped_inverse(m, d, h)


@entry
def driving_forces_of_discrete_step(m, d, h):
    """Compute constrained inverse dynamics from the accelerations of a step of `discrete` of h seconds."""
    see_everything(m, d)
    _inverse_of_step(m, d, h)


@entry
def energy(m, d):
    """Compute the energy."""
    see_everything(m, d)
    _energy_of_state(m, d)


@entry
def energies(m, d, out):
    """Compute the energy by kind."""
    see_everything(m, d)
    _energies_of_state(m, d, out)


@entry
def whole(m, d):
    """Put everything on the lists of awake objects, for evaluating states of models whose trees may sleep."""
    see_everything(m, d)


prescribe = entry(motions.prescribe)
begin_sleeping = entry(_begin_sleeping, name="begin_sleeping")
gaps = entry(event_functions.points, name="gaps")
closed_rows = entry(rows_there, name="closed_rows")
separate = entry(overlap.separate, name="separate")
points = entry(point_columns, name="points")
work_of_step = entry(work.work_of_step)
work_in_middle = entry(work.work_in_middle)
add_work = entry(work.add_work)
work_of_equations = entry(work.work_of_equations)


# ---------------------------------------------------------------- steps


def _label(integrator: Integrator) -> str:
    return integrator.step.py_func.__module__.rsplit(".", 1)[-1]


def advance(integrator: Integrator) -> Entry:
    """Loop of one simulation: (model, data, n, h, *parameters) -> (steps taken, status)."""
    fixed = not integrator.adaptive and not integrator.needs.get("searches", False)
    return _advance(integrator.step, _label(integrator), len(integrator.parameters), fixed)


@functools.cache
def _advance(step, label: str, parameters: int, fixed: bool) -> Entry:
    def advance(m, d, n, h, parameters):
        if rarely(not bad_start(m, d) < 0.5):
            return 0, DIVERGED
        status = OK
        for k in range(n):
            if not goes_on(m, d):
                hold_control(m, d, h)
                sample_sensors(m, d)
                note_frames(m, d)
            start = d.time
            followed = fixed and may_pass(m, d, h)
            result = step(m, d, h, *parameters)
            record_controls(m, d, start)
            keep_frames(m, d)
            if result == EVENTS_FULL:
                keep_worst(m, d, status)
                return k, EVENTS_FULL
            if fixed and rarely(followed):
                note_passing(m, d, start)
            status = max(status, result)
            if rarely(not bad_state(m, d) < 0.5):
                return k + 1, DIVERGED
            if status > DIVERGED:
                return k + 1, status
            if log_is_full(m, d):
                keep_worst(m, d, status)
                return k + 1, EVENTS_FULL
        return n, status

    return entry(advance, name=f"advance_{label}", parameters=parameters)


@kernel(inline=True)
def load_group(d_real, states, group, rows, width):
    """Load the states [groups, rows, width] of a group into the first numbers of a workspace."""
    for k in range(rows):
        for lane in range(width):
            d_real[k, lane] = states[group, k, lane]


@kernel(inline=True)
def store_group(d_real, states, clock, group, rows, width):
    """Store the state of a group of lanes, with the time of its clock, in states [groups, rows, width]."""
    for lane in range(width):
        d_real[TIME, lane] = clock[group, lane]
    for k in range(rows):
        for lane in range(width):
            states[group, k, lane] = d_real[k, lane]


@kernel(inline=True)
def store_valid(d_real, states, clock, bad, group, rows, width):
    """`store_group` for the lanes that are not bad; the others keep their state [groups, rows, width]."""
    for lane in range(width):
        if lane_get(bad, lane) < 0.5:
            d_real[TIME, lane] = clock[group, lane]
            for k in range(rows):
                states[group, k, lane] = d_real[k, lane]


@functools.cache
def group_steps(step) -> Any:
    """Kernel of n steps of the group of lanes in data; advances their clock [groups, width] (s), returns a status."""

    @kernel(inline=True)
    def take_steps(m, d, d_real, clock, group, width, n, h, parameters):
        status = OK
        for _ in range(n):
            for lane in range(width):
                d_real[TIME, lane] = clock[group, lane]
            hold_control(m, d, h)
            sample_sensors(m, d)
            note_frames(m, d)
            start = d.time
            result = step(m, d, h, *parameters)
            record_controls(m, d, start)
            keep_frames(m, d)
            status = max(status, result)
            for lane in range(width):
                whole = d_real[TIME, lane] == lane_get(start + h, lane)
                taken = float64(d_real[TIME, lane]) - float64(lane_get(start, lane))
                clock[group, lane] += h if whole else taken
        return status

    return take_steps


@kernel(inline=True)
def load_model(m, m_real, varied, fields, group, width):
    """Load the numbers of a group [groups, numbers, width] into the lanes' places of the model's memory."""
    if has(m, "vary"):
        for k in range(len(fields)):
            for lane in range(width):
                m_real[fields[k] + lane] = varied[group, k, lane]


def advance_batch(integrator: Integrator) -> Entry:
    """Loop of many simulations in lanes.

    (model, data, states [groups, rows, width], clock [groups, width], flags [groups, width], varied [groups, numbers,
    width], fields [numbers], first, last, rows, width, n, h, *parameters) -> status. For each group, the state is
    loaded into data, n steps are taken, and the state is stored; states that are bad before or after the steps keep the
    one before them, and are flagged, but not their clock. Numbers of the model that vary between simulations are loaded
    first, `varied` to the places `fields` (see `saltus.simulate.engine.batch.varied_model`).

    The clock (s) is always in double precision: time in data is its rounded value, and the clock advances by h where a
    step was completed.
    """
    return _advance_batch(integrator.step, _label(integrator), len(integrator.parameters))


@functools.cache
def _advance_batch(step, label: str, parameters: int) -> Entry:
    take_steps = group_steps(step)

    def advance_batch(
        m, d, m_real, d_real, states, clock, flags, varied, fields, first, last, rows, width, n, h, parameters
    ):
        status = OK
        for group in range(first, last):
            load_model(m, m_real, varied, fields, group, width)
            load_group(d_real, states, group, rows, width)
            bad = bad_start(m, d)
            status = max(status, take_steps(m, d, d_real, clock, group, width, n, h, parameters))
            bad = maximum(bad, bad_state(m, d))
            if rarely(any_lane(bad > 0.5)):
                for lane in range(width):
                    flags[group, lane] = lane_get(bad, lane) > 0.5
                store_valid(d_real, states, clock, bad, group, rows, width)
            else:
                store_group(d_real, states, clock, group, rows, width)
        return status

    return entry(advance_batch, name=f"batch_{label}", parameters=parameters)


record = entry(dopri5.record)
record_radau = entry(radau.record, name="record_radau")


def recorder(integrator: Integrator) -> Entry:
    """Loop of one simulation in steps of free size with samples, without events: see `dopri5.record`."""
    return record if integrator.step is dopri5.step else record_radau


@entry
def record_events(m, d, times, row, attempts, tableau, tolerance, bounds, out):
    """Take steps towards the last of the times, over events; write the states at the times passed to `out`."""
    return _record_events(m, d, times, row, attempts, (tableau, tolerance, bounds), out)


# ---------------------------------------------------------------- derivatives of a step


@entry
def seed_run(m, d, qpos, qvel, act, ctrl, column):
    """Set the state of a dual Data with tangents along directions column, column + 1, ... (see `seed_state`)."""
    seed_state(m, d, qpos, qvel, act, ctrl, column)


@entry
def read_run(m, d, qpos, out, column):
    """Columns column, ... of `out` [2 nv + nact, directions] from tangents of a dual Data at positions qpos [nq]."""
    store_parameter_tangents(m, d, qpos, out, column)


def linearize(integrator: Integrator, own: bool) -> Entry:
    """Derivatives of one step of the float data, which is taken, into A [2 nv + nact]² and B [2 nv + nact, nu].

    (model, data, dual data, state, sizes, h, A, B, *parameters, *parameters for the tangents). state: qpos, qvel, act,
    ctrl. sizes: how many numbers the integrator's memory has, which is cleared first, and the solver's warm start.
    `own`: the model has only features for which integrators have tangents of their own.
    """
    count, label = len(integrator.parameters), _label(integrator)
    if own and integrator.tangent_step is not None:
        return _linearize_by_tangents(integrator.step, *integrator.tangent_step, label, count)
    return _linearize(integrator.step, label, count)


@functools.cache
def _linearize(step, label: str, count: int) -> Entry:
    def linearize(m, f, d, state, sizes, h, A, B, parameters):
        qpos, qvel, act, ctrl = state
        start = f.time
        hold_control(m, f, h)
        step(m, f, h, *parameters[:count])
        for column in range(0, 2 * m.nv + m.nact + m.nu, NTANGENT):
            seed_state(m, d, qpos, qvel, act, ctrl, column)
            d.time = d.time * 0.0 + start
            hold_control(m, d, h)
            for k in range(sizes[0]):
                d.memory[k] = 0.0 * d.time
            for i in range(sizes[1]):
                d.qacc_warmstart[i] = 0.0 * d.time + f.qacc_warmstart[i]
            step(m, d, h, *parameters[count:])
            store_tangents(m, d, f.qpos, A, B, column)

    return entry(linearize, name=f"linearize_{label}", structs=("m", "f", "d"), parameters=2 * count)


def parameter_tangents(integrator: Integrator) -> Entry:
    """Derivatives of one step by parameters of a dual model into columns column, ... of P [2 nv + nact, parameters].

    (dual model, data, dual data, state, sizes, h, P, column, *parameters for the tangents). The data are floats, after
    the same step from the time (s) that ends the state; the other arguments are as for `linearize`. Tangents of the
    model, and of parameters of a controller in the dual data, are along the parameters.
    """
    return _parameter_tangents(integrator.step, _label(integrator), len(integrator.parameters))


@functools.cache
def _parameter_tangents(step, label: str, count: int) -> Entry:
    def parameter_tangents(m, f, d, state, sizes, h, P, column, parameters):
        qpos, qvel, act, ctrl, start = state
        seed_state(m, d, qpos, qvel, act, ctrl, 2 * m.nv + m.nact + m.nu)  # without tangents
        d.time = d.time * 0.0 + start
        hold_control(m, d, h)
        for k in range(sizes[0]):
            d.memory[k] = 0.0 * d.time
        for i in range(sizes[1]):
            d.qacc_warmstart[i] = 0.0 * d.time + f.qacc_warmstart[i]
        step(m, d, h, *parameters)
        store_parameter_tangents(m, d, f.qpos, P, column)

    return entry(parameter_tangents, name=f"parameters_{label}", structs=("m", "f", "d"), parameters=count)


@functools.cache
def _linearize_by_tangents(step, tangent_step, keep, label: str, count: int) -> Entry:
    def linearize(m, f, d, state, sizes, h, A, B, parameters):
        qpos, qvel, act, ctrl = state
        start = f.time
        step(m, f, h, *parameters[:count])
        columns = 2 * m.nv + m.nact + m.nu
        seed_state(m, d, qpos, qvel, act, ctrl, columns)  # without tangents
        d.time = d.time * 0.0 + start
        keep(m, f, d)
        # controls first, then velocities, while quantities that do not depend on them have no tangents
        for column in range((columns - 1) // NTANGENT * NTANGENT, -1, -NTANGENT):
            seed_state(m, d, qpos, qvel, act, ctrl, column)
            d.time = d.time * 0.0 + start
            tangent_step(m, f, d, h, (column < m.nv) + (column < 2 * m.nv))
            store_tangents(m, d, f.qpos, A, B, column)

    return entry(linearize, name=f"linearize_{label}", structs=("m", "f", "d"), parameters=2 * count)


def linearize_in_closed_form(integrator: Integrator) -> Entry | None:
    """`linearize` without directions, for models of `saltus.simulate.derivatives.closed_form`; None if there is none.

    Parameters of the integrator are followed by the seven arrays of `saltus.integrate.fixed.euler_jacobian.jacobian`.
    """
    if integrator.jacobian is None:
        return None
    return _linearize_in_closed_form(
        integrator.step, integrator.jacobian, _label(integrator), len(integrator.parameters)
    )


@functools.cache
def _linearize_in_closed_form(step, jacobian, label: str, count: int) -> Entry:
    def linearize(m, f, d, state, sizes, h, A, B, parameters):
        start = f.time
        step(m, f, h, *parameters[:count])
        d.time = 0.0 * d.time + start
        jacobian(m, f, d, h, state, parameters[count:], A, B)

    return entry(linearize, name=f"jacobian_{label}", structs=("m", "f", "d"), parameters=count + WORK)


def run_adjoint(integrator: Integrator) -> Entry | None:
    """Gradients by the start of steps, controls and parameters, back from their end; None if the integrator has none.

    (model, data, three dual models, dual data, steps, state, ctrl, turns, solved, found, arrays, parts, h,
    *parameters). steps: (states [T, rows], spans [4, 2], at_samples [T, 2 nv], (first, last)), with spans those of
    qpos, qvel, act and ctrl in a state of the data. state [2 nv], the gradient by the end of step last - 1, becomes
    that by the start of step first; ctrl [nu], the gradient by controls, grows. turns: (Jᵀ, R) [T, rotations, 3, 3] and
    the degrees of freedom that they turn [rotations, 3]. parts: whether to go through parameters, and through state and
    controls; without the latter state is left as it is. Dual models: along both groups of parameters, and along places.
    See `saltus.integrate.fixed.euler_adjoint.parameters` and `saltus.integrate.fixed.euler_adjoint.state`.
    """
    if integrator.adjoints is None:
        return None
    return _run_adjoint(integrator.step, integrator.adjoints, _label(integrator), len(integrator.parameters))


@functools.cache
def _run_adjoint(step, kernels, label: str, count: int) -> Entry:
    of_parameters, of_state = kernels

    def run_adjoint(
        m, f, g, k, r, d, f_real, steps, state, ctrl, turns, solved, found, arrays, parts, h, parameters
    ):  # fmt: skip
        states, spans, at_samples, (first, last) = steps
        weight, by_end = arrays[5], arrays[6]
        for n in range(last - 1, first - 1, -1):
            row = states[n]
            for i in range(len(row)):
                f_real[i] = row[i]
            velocity_adjoint(m, h, state, turns, n, by_end)
            for i in range(m.nv):
                weight[i] = h * by_end[i]
            start = (
                row[spans[0, 0] : spans[0, 1]],
                row[spans[1, 0] : spans[1, 1]],
                row[spans[2, 0] : spans[2, 1]],
                row[spans[3, 0] : spans[3, 1]],
                row[TIME],
            )
            step(m, f, h, *parameters)
            of_parameters((m, f), (g, k, r, d), h, start, weight, solved, found, arrays, parts)
            if parts[1]:
                of_state((m, f), (r, d), start[0], solved, found, arrays, parts)
                position_adjoint(m, state, turns, n, by_end, arrays[3], at_samples)
                for c in range(m.nu):
                    ctrl[c] += arrays[4][c]

    return entry(run_adjoint, name=f"adjoint_{label}", structs=("m", "f", "g", "k", "r", "d"), parameters=count)
