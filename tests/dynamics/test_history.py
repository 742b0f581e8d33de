"""Delayed controls, after MuJoCo 4.0's mj_step: forces, trajectories and the history itself.

References: MuJoCo's actuator_force, qpos and mj_readCtrl, with every way to interpolate, delays of whole steps, of
parts of steps, shorter than a step and longer than the history; the history that mj_resetData leaves.

Tolerance: 1e-12 of forces and positions near 1: some hundred roundings each of 2e-16. Which sample is held where a
delay is a whole number of steps depends on the last bit of the time, so that times must be equal to the bit.
"""

import mujoco
import numpy as np
import pytest
from helpers.cases import same_bits
from helpers.states import lanes
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.dynamics.history import initial_history, past_value, record_controls
from saltus.integrate.fixed import euler, rk4, runge_kutta
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64
from saltus.number.structs import Struct

TOLERANCE = 1e-12
STEPS = 80
STEP = "start = d.time\nstatus = step(m, d, {})\nrecord_controls(m, d, start)\nreturn status"
STEPPERS = {
    "Euler": (Entry("delayed_euler", "h", STEP.format("h"), step=euler.step, record_controls=record_controls), ()),
    "RK4": (
        Entry("delayed_rk4", "h, t", STEP.format("h, t"), step=runge_kutta.step, record_controls=record_controls),
        (rk4.RK4.parameters[0],),
    ),
}
READ = Entry(
    "past_value",
    "at, n, delay, way, out",
    "out[0] = past_value(d, at, n, 1, 0, d.time - delay, way)",
    past_value=past_value,
)
# samples, delay (s), way; with a timestep of 2 ms
DELAYS = [
    *[(n, delay, way) for way in ("zoh", "linear", "cubic") for n, delay in ((6, 0.012), (6, 0.0071), (3, 0.001))],
    *[(4, 0.02, "linear"), (1, 0.002, "cubic"), (2, 0.003, "cubic"), (5, 0.0, "zoh"), (0, 0.0, "zoh")],
]


def delayed(integrator):
    """A row of carts, each pushed by an actuator with a delay; some limited, one a servo, one with a state."""
    bodies = "".join(
        f'<body pos="0 {k} 0"><joint name="x{k}" type="slide" axis="1 0 0" damping="0.3"/><geom mass="1" size="0.1"/>'
        "</body>"
        for k in range(len(DELAYS))
    )
    kinds = {
        1: 'gainprm="20" biastype="affine" biasprm="0 -20 -1" ctrllimited="true" ctrlrange="-0.5 1"',
        3: 'dyntype="filter" dynprm="0.03"',
    }
    actuators = "".join(
        f'<general joint="x{k}" nsample="{n}" delay="{delay}" interp="{way}" {kinds.get(k, "")}/>'
        for k, (n, delay, way) in enumerate(DELAYS)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.002" integrator="{integrator}"/><default><geom contype="0" conaffinity="0"/>'
        f"</default><worldbody>{bodies}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )


def in_order(m, history):
    """MuJoCo's history with the samples from the oldest to the newest, as here."""
    history = history.copy()
    pieces = [(m.actuator_history[k, 0], m.actuator_historyadr[k], 1) for k in range(m.nactuator)]
    pieces += [(m.sensor_history[s, 0], m.sensor_historyadr[s], m.sensor_dim[s]) for s in range(m.nsensor)]
    for n, at, dim in pieces:
        if n > 0:
            first = int(history[at + 1]) + 1
            times, values = history[at + 2 : at + 2 + n], history[at + 2 + n : at + 2 + n + n * dim]
            times[:] = np.roll(times, -first)
            values[:] = np.roll(values.reshape(n, dim), -first, axis=0).ravel()
            history[at + 1] = n - 1
    return history


def controls(m, seed):
    return np.random.default_rng(seed).normal(size=(STEPS, m.nu))


def reference(m, ctrl, start=0.0):
    """Forces at the steps' starts, positions after them, and the last history."""
    d = mujoco.MjData(m)
    d.time = start
    forces, positions = [], []
    for row in ctrl:
        d.ctrl[:] = row
        mujoco.mj_forward(m, d)
        forces.append(d.actuator_force.copy())
        mujoco.mj_step(m, d)
        positions.append(d.qpos.copy())
    return np.array(forces), np.array(positions), in_order(m, d.history)


def needs(integrator):
    return {"nstage": 4} if integrator == "RK4" else {}


def run(m, integrator, ctrl, start=0.0):
    model = saltus.load(m)
    d = Struct(DATA, data_sizes(model.sizes(), **needs(integrator)))
    d.fill("timestep", m.opt.timestep)
    d.fill("history", initial_history(m))
    d.fill("time", start)
    step, parameters = STEPPERS[integrator]
    positions = []
    for row in ctrl:
        d.ctrl[:] = row
        step(model.struct(), d, m.opt.timestep, *parameters)
        positions.append(d.qpos.copy())
    return model, d, np.array(positions)


@pytest.mark.parametrize("integrator", STEPPERS)
def test_steps(integrator):
    m = delayed(integrator)
    ctrl = controls(m, 0)
    forces, positions, history = reference(m, ctrl)
    _, d, got = run(m, integrator, ctrl)
    assert np.ptp(positions[-1]) > 1e-2 and np.ptp(forces[-1]) > 1
    assert_allclose(got, positions, rtol=0, atol=TOLERANCE)
    assert_allclose(d.history, history, rtol=0, atol=0)


def test_forces():
    """Forces at each step's start; before the delay has passed they are those of no control."""
    m = delayed("Euler")
    ctrl = controls(m, 1)
    forces, _, _ = reference(m, ctrl)
    model = saltus.load(m)
    d = Struct(DATA, data_sizes(model.sizes()))
    d.fill("timestep", m.opt.timestep)
    d.fill("history", initial_history(m))
    got = []
    for row in ctrl:
        d.ctrl[:] = row
        STEPPERS["Euler"][0](model.struct(), d, m.opt.timestep)
        got.append(d.actuator_force.copy())
    assert_allclose(got, forces, rtol=0, atol=TOLERANCE * 20)
    assert np.all(forces[:5, 0] == 0) and forces[10, 0] != 0


def test_start():
    m = delayed("Euler")
    assert_array_equal(initial_history(m), mujoco.MjData(m).history)
    assert_array_equal(initial_history(m, 0.004)[2:8], -np.arange(6, 0, -1) * 0.004)


@pytest.mark.parametrize("way", range(3))
def test_any_time(way):
    """mj_readCtrl at times between, on, before and after samples that are not equally far apart."""
    m = delayed("Euler")
    d, model = mujoco.MjData(m), saltus.load(m)
    own = Struct(DATA, data_sizes(model.sizes()))
    times, values = np.array([-0.3, -0.1, 0.0, 0.5, 0.6, 2.0]), np.array([1.0, -2.0, 0.5, 0.7, 3.0, -1.0])
    mujoco.mj_initCtrlHistory(m, d, 0, times, values)
    own.history[:] = d.history
    delay, out = m.actuator_delay[0], np.zeros(1)
    for t in (*times, *(times + 1e-16), *np.linspace(-0.5, 2.5, 61)):
        own.fill("time", t + delay)
        READ(model.struct(), own, m.actuator_historyadr[0], 6, delay, way, out)
        assert_allclose(out[0], mujoco.mj_readCtrl(m, d, 0, t + delay, np.zeros(1), way)[0], rtol=0, atol=TOLERANCE)


def test_out_of_order():
    """A control recorded at a time that the history has passed: it goes where it belongs, the oldest leaves."""
    m = delayed("Euler")
    ctrl = controls(m, 2)
    model, own, _ = run(m, "Euler", ctrl[:20])
    d = mujoco.MjData(m)
    for row in ctrl[:20]:
        d.ctrl[:] = row
        mujoco.mj_step(m, d)
    for time in (0.0331, 0.034, -1.0, 0.5, 0.04):
        for side in (d, own):
            side.ctrl[:] = time
        d.time = time
        own.fill("time", time)
        mujoco.mj_step(m, d)
        STEPPERS["Euler"][0](model.struct(), own, m.opt.timestep)
        assert_array_equal(own.history, in_order(m, d.history))


def test_lanes():
    """Simulations with controls and times of their own; each is what it is among others like it, to the bit."""
    m = delayed("RK4")
    step, parameters = STEPPERS["RK4"]
    ctrls, starts = np.array([controls(m, k)[:20] for k in range(lane64.width)]), np.arange(lane64.width) * 0.37
    model, runs = saltus.load(m), []
    for which in (range(lane64.width), [1] * lane64.width):
        states = [{"time": starts[k], "timestep": m.opt.timestep, "history": initial_history(m)} for k in which]
        d = lanes(model, states, nstage=4)
        for n in range(20):
            d.ctrl[:] = ctrls[which, n].T
            step(model.struct(), d, m.opt.timestep, *parameters)
        runs.append((d.qpos, d.history))
    for k in range(lane64.width):
        _, positions, history = reference(m, ctrls[k], starts[k])
        assert_allclose(runs[0][0][:, k], positions[-1], rtol=0, atol=TOLERANCE)
        assert_array_equal(runs[0][1][:, k], history)
    for among, alike in zip(*runs, strict=True):
        assert same_bits(among[:, 1], alike[:, 1])
