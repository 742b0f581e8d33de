"""Sensors that are late, or read at intervals, after MuJoCo 4.0's mj_step and mj_forward.

References: sensordata and the history itself, for delays of whole and broken numbers of steps, intervals with and
without delay and phase, every way to interpolate, readings of one and of three numbers; the start that mj_resetData
leaves.

Tolerance: 1e-11 of readings up to some 10: hundreds of roundings over 100 steps of a chaotic but slow chain. Times of
samples are equal to the bit: with a rounding more, a reading would be one sample off.

Under RK4 only what MuJoCo reads at the step's start is compared: for a sensor with a delay it puts a mixture of the
first and the last stage into the history.
"""

import mujoco
import numpy as np
import pytest
from helpers.cases import same_bits
from helpers.late_sensors import LATE, late
from helpers.states import lanes
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.dynamics.history import initial_history
from saltus.integrate.fixed import euler, rk4, runge_kutta
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64
from saltus.number.structs import Struct
from saltus.sense.delay import delayed_readings, sample_sensors
from saltus.sense.sensors import sense
from saltus.solve.acceleration import forward

TOLERANCE = 1e-11
STEPS = 100
STEP = "sample_sensors(m, d)\nreturn step(m, d, {})"
STEPPERS = {
    "Euler": (Entry("sampled_euler", "h", STEP.format("h"), step=euler.step, sample_sensors=sample_sensors), ()),
    "RK4": (
        Entry("sampled_rk4", "h, t", STEP.format("h, t"), step=runge_kutta.step, sample_sensors=sample_sensors),
        (rk4.RK4.parameters[0],),
    ),
}
LOOK = Entry(
    "late_readings",
    "",
    "forward(m, d)\nsense(m, d)\ndelayed_readings(m, d)",
    forward=forward,
    sense=sense,
    delayed_readings=delayed_readings,
)


def in_order(m, history):
    """MuJoCo's history with the samples from the oldest to the newest, as here."""
    history = history.copy()
    for (n, _), at, dim in zip(m.sensor_history, m.sensor_historyadr, m.sensor_dim, strict=True):
        if n > 0:
            first = int(history[at + 1]) + 1
            times, values = history[at + 2 : at + 2 + n], history[at + 2 + n : at + 2 + n + n * dim]
            times[:] = np.roll(times, -first)
            values[:] = np.roll(values.reshape(n, dim), -first, axis=0).ravel()
            history[at + 1] = n - 1
    return history


def state(m, seed):
    rng = np.random.default_rng(seed)
    return {"qpos": rng.normal(size=m.nq), "qvel": rng.normal(size=m.nv), "time": 0.31 * seed}


def reference(m, start):
    """Readings before each step, the last history, and which of its numbers are times."""
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.time = start["qpos"], start["qvel"], start["time"]
    readings = []
    for _ in range(STEPS):
        mujoco.mj_forward(m, d)
        readings.append(d.sensordata.copy())
        mujoco.mj_step(m, d)
    return np.array(readings), in_order(m, d.history)


def times(m):
    """Places of times in the history."""
    places = [np.arange(at + 2, at + 2 + n) for (n, _), at in zip(m.sensor_history, m.sensor_historyadr, strict=True)]
    return np.concatenate([p for p in places if len(p)])


def run(m, integrator, start, width=None):
    """Readings before each step and the last history; `start` a state, or one for each lane."""
    model = saltus.load(m)
    own = model.sensing_struct()
    needs = {"nstage": 4} if integrator == "RK4" else {}
    if isinstance(start, dict):
        d = Struct(DATA, data_sizes(model.sizes(), **needs))
        for name, value in start.items():
            d.fill(name, value)
    else:
        d = lanes(model, start, **needs)
    d.fill("timestep", m.opt.timestep)
    d.fill("history", initial_history(m))
    step, parameters = STEPPERS[integrator]
    readings = []
    for _ in range(STEPS):
        LOOK(own, d)
        readings.append(d.sensordata.copy())
        step(own, d, m.opt.timestep, *parameters)
    return np.array(readings), d.history


def test_start():
    m = late("Euler")
    assert_array_equal(initial_history(m), mujoco.MjData(m).history)


@pytest.mark.parametrize("integrator", STEPPERS)
def test_readings(integrator):
    m = late(integrator)
    readings, history = reference(m, state(m, 1))
    got, own = run(m, integrator, state(m, 1))
    compared = np.repeat((m.sensor_delay == 0) | (integrator == "Euler"), m.sensor_dim)
    assert np.ptp(readings, axis=0).min() > 1e-3
    assert_allclose(got[:, compared], readings[:, compared], rtol=0, atol=TOLERANCE)
    assert_array_equal(own[times(m)], history[times(m)])
    if integrator == "Euler":
        assert_allclose(own, history, rtol=0, atol=TOLERANCE)


def test_late_is_earlier():
    """Under RK4 too, what a sensor with a delay of six steps reads is what one without read six steps before."""
    m = late("RK4")
    got, _ = run(m, "RK4", state(m, 1))
    count = len(LATE)
    for s in range(0, m.nsensor, count):
        at, now, dim = m.sensor_adr[s], m.sensor_adr[s + count - 1], m.sensor_dim[s]
        assert m.sensor_delay[s] == 0.012 and m.sensor_delay[s + count - 1] == 0
        assert_array_equal(got[20:, at : at + dim], got[14:-6, now : now + dim])


@pytest.mark.slow
def test_lanes():
    """Simulations with states and times of their own; each is what it is among others like it, to the bit."""
    m = late("Euler")
    starts = [state(m, k) for k in range(lane64.width)]
    got, history = run(m, "Euler", starts)
    for k in (0, 1):
        readings, expected = reference(m, starts[k])
        assert_allclose(got[..., k], readings, rtol=0, atol=TOLERANCE)
        assert_array_equal(history[times(m), k], expected[times(m)])
    among, _ = run(m, "Euler", starts[1:2] * lane64.width)
    assert same_bits(among[..., 1], got[..., 1])
