"""Time loops, compiled for each integrator when it is first used."""

import functools
from typing import Any

from numba import types

from saltus.dynamics import smooth
from saltus.dynamics.equations import inverse_dynamics
from saltus.dynamics.history import record_controls
from saltus.dynamics.zero_order_hold import hold_control
from saltus.integrate import work
from saltus.integrate.adaptive import dopri5
from saltus.integrate.event import event_driven, event_location
from saltus.integrate.integrator import Integrator
from saltus.integrate.status import bad_start, bad_state
from saltus.integrate.tangents import seed_state, store_tangents
from saltus.number.functions import any_lane, lane_get, maximum, rarely
from saltus.number.kernels import Entry
from saltus.number.kinds import NTANGENT
from saltus.sense.delay import sample_sensors
from saltus.sense.point_columns import point_columns
from saltus.solve import acceleration, constrain
from saltus.solve.event.constrained_acceleration import rows_there
from saltus.solve.status import DIVERGED, EVENTS_FULL, OK

# looking at a state that is none would go on from numbers that are none
_GUARDED = """
if rarely(any_lane(bad_start(m, d) > 0.5)):
    return DIVERGED
return {call}
"""
_GUARDS = dict(bad_start=bad_start, any_lane=any_lane, rarely=rarely, DIVERGED=DIVERGED)
forward = Entry("forward", "", _GUARDED.format(call="forward(m, d)"), forward=acceleration.forward, **_GUARDS)
energy = Entry("energy", "", "energy_of_state(m, d)", energy_of_state=smooth.energy_of_state)
energies = Entry("energies", "out", "energies_of_state(m, d, out)", energies_of_state=smooth.energies_of_state)
work_of_step = Entry(
    "work_of_step",
    "h, damped, anew, before, work",
    "work_of_step(m, d, h, damped, anew, before, work)",
    work_of_step=work.work_of_step,
)
work_in_middle = Entry("work_in_middle", "h, work", "work_in_middle(m, d, h, work)", work_in_middle=work.work_in_middle)
add_work = Entry("add_work", "h, work", "add_work(m, d, h, work)", add_work=work.add_work)
work_of_equations = Entry(
    "work_of_equations",
    "weight, acceleration, velocity, work",
    "work_of_equations(m, d, weight, acceleration, velocity, work)",
    work_of_equations=work.work_of_equations,
)
sample = Entry(
    "sample",
    "",
    """
energy_of_state(m, d)
find_contacts(m, d)
""",
    energy_of_state=smooth.energy_of_state,
    find_contacts=constrain.find_contacts,
)
points = Entry("points", "first, cones, out", "point_columns(m, d, first, cones, out)", point_columns=point_columns)
inverse = Entry(
    "inverse",
    "",
    """
position_stage(m, d, 0)
inverse_dynamics(m, d)
""",
    position_stage=smooth.position_stage,
    inverse_dynamics=inverse_dynamics,
)
record = Entry(
    "record",
    "times, row, attempts, tableau, tolerance, out",
    "return record(m, d, times, row, attempts, tableau, tolerance, out)",
    record=dopri5.record,
)

record_events = Entry(
    "record_events",
    "times, row, attempts, tableau, tolerance, out",
    "return record(m, d, times, row, attempts, (tableau, tolerance), out)",
    record=event_driven.record,
)
settle = Entry("settle", "", _GUARDED.format(call="begin(m, d)"), begin=event_driven.begin, **_GUARDS)
gaps = Entry("gaps", "", "points(m, d)", points=event_location.points)
closed_rows = Entry("closed_rows", "", "rows_there(m, d)", rows_there=rows_there)


TIME = 0  # place of time among the numbers of Data, which begin with it
# what surrounds every step: controls that are held for it, what delayed controls and sensors will read
AROUND = dict(hold=hold_control, sample_sensors=sample_sensors, record_controls=record_controls)


def _parameters(integrator: Integrator) -> str:
    return "".join(f", p{k}" for k in range(len(integrator.parameters)))


def _label(integrator: Integrator) -> str:
    return integrator.step.py_func.__module__.rsplit(".", 1)[-1]


@functools.cache
def _advance(step, label, parameters) -> Entry:
    body = f"""
if rarely(not bad_start(m, d) < 0.5):
    return 0, DIVERGED
status = OK
for k in range(n):
    if not goes_on(m, d):
        hold(m, d, h)
        sample_sensors(m, d)
    start = d.time
    result = step(m, d, h{parameters})
    record_controls(m, d, start)
    if result == EVENTS_FULL:
        return k, EVENTS_FULL
    status = max(status, result)
    if rarely(not bad_state(m, d) < 0.5):
        return k + 1, DIVERGED
    if status > DIVERGED:
        return k + 1, status
    if log_is_full(m, d):
        return k + 1, EVENTS_FULL
return n, status
"""
    names: dict[str, Any] = dict(step=step, **AROUND, **_GUARDS, bad_state=bad_state, OK=OK)
    names |= dict(EVENTS_FULL=EVENTS_FULL)
    names |= dict(log_is_full=event_driven.log_is_full, goes_on=event_driven.goes_on)
    return Entry(f"advance_{label}", f"n, h{parameters}", body, **names)


def advance(integrator: Integrator) -> Entry:
    """Loop of one simulation: (model, data, n, h, *parameters) -> (steps taken, status)."""
    return _advance(integrator.step, _label(integrator), _parameters(integrator))


@functools.cache
def _advance_batch(step, label, parameters) -> Entry:
    body = f"""
status = OK
for g in range(first, last):
    for k in range(rows):
        for l in range(width):
            d_real[k, l] = states[g, k, l]
    bad = bad_start(m, d)
    for _ in range(n):
        for l in range(width):
            d_real[TIME, l] = clock[g, l]
        hold(m, d, h)
        sample_sensors(m, d)
        start = d.time
        result = step(m, d, h{parameters})
        record_controls(m, d, start)
        status = max(status, result)
        for l in range(width):
            whole = d_real[TIME, l] == lane_get(start + h, l)
            clock[g, l] += h if whole else float64(d_real[TIME, l]) - float64(lane_get(start, l))
    bad = maximum(bad, bad_state(m, d))
    if rarely(any_lane(bad > 0.5)):
        for l in range(width):
            flags[g, l] = lane_get(bad, l) > 0.5
    for l in range(width):
        d_real[TIME, l] = clock[g, l]
    for k in range(rows):
        for l in range(width):
            states[g, k, l] = d_real[k, l]
return status
"""
    names: dict[str, Any] = dict(step=step, **AROUND, bad_start=bad_start, bad_state=bad_state, rarely=rarely)
    names |= dict(any_lane=any_lane, lane_get=lane_get, maximum=maximum, OK=OK, TIME=TIME, float64=types.float64)
    arguments = f"states, clock, flags, first, last, rows, width, n, h{parameters}"
    return Entry(f"batch_{label}", arguments, body, **names)


def advance_batch(integrator: Integrator) -> Entry:
    """Loop of many simulations in lanes.

    (model, data, states [groups, rows, width], clock [groups, width], flags [groups, width], first, last, rows, width,
    n, h, *parameters) -> status. Group by group: the state goes into data, n steps are taken, the state comes back.

    The clock (s) is in double precision whatever the states are in: time in data is its rounded value, and goes on by h
    where a step has gone all the way.
    """
    return _advance_batch(integrator.step, _label(integrator), _parameters(integrator))


_LINEARIZE = """
start = f.time
hold(m, f, h)
step(m, f, h{parameters})
for column in range(0, 2 * m.nv + m.nact + m.nu, NTANGENT):
    seed_state(m, d, qpos, qvel, act, ctrl, column)
    d.time = d.time * 0.0 + start
    hold(m, d, h)
    for k in range(nmemory):
        d.memory[k] = 0.0 * d.time
    for i in range(nwarm):
        d.qacc_warmstart[i] = 0.0 * d.time + f.qacc_warmstart[i]
    step(m, d, h{tangent_parameters})
    store_tangents(m, d, f.qpos, A, B, column)
"""
# controls first, then velocities, while what they do not change is without tangents
_LINEARIZE_BY_TANGENTS = """
start = f.time
step(m, f, h{parameters})
keep(m, f, d)
columns = 2 * m.nv + m.nu
for column in range((columns - 1) // NTANGENT * NTANGENT, -1, -NTANGENT):
    seed_state(m, d, qpos, qvel, act, ctrl, column)
    d.time = d.time * 0.0 + start
    tangent_step(m, f, d, h, (column < m.nv) + (column < 2 * m.nv))
    store_tangents(m, d, f.qpos, A, B, column)
"""


@functools.cache
def _linearize(step, tangent_step, label, parameters) -> Entry:
    names: dict[str, Any] = dict(step=step, hold=hold_control, NTANGENT=NTANGENT)
    names |= dict(seed_state=seed_state, store_tangents=store_tangents)
    body = _LINEARIZE
    if tangent_step is not None:
        body, names["tangent_step"], names["keep"] = _LINEARIZE_BY_TANGENTS, *tangent_step
    tangent_parameters = parameters.replace("p", "t")
    body = body.format(parameters=parameters, tangent_parameters=tangent_parameters)
    arguments = f"qpos, qvel, act, ctrl, nmemory, nwarm, h, A, B{parameters}{tangent_parameters}"
    return Entry(f"linearize_{label}", arguments, body, short=("m", "f", "d"), **names)


def linearize(integrator: Integrator, free: bool) -> Entry:
    """Derivatives of one step of the float data, which is taken, into A [2 nv + nact]² and B [2 nv + nact, nu].

    (model, data, dual data, qpos, qvel, act, ctrl, nmemory, nwarm, h, A, B, *parameters, *parameters for the tangents).
    What the integrator remembers, nmemory numbers, is forgotten first. nwarm: how many numbers the constraint solver
    starts from. `free`: free motion with motors on hinges and slides, and tendons, at most, which integrators' own ways
    of going through tangents are for.
    """
    tangent_step = integrator.tangent_step if free else None
    return _linearize(integrator.step, tangent_step, _label(integrator), _parameters(integrator))
