"""Dc motors whose current is limited, and falls as they warm: closed forms, SciPy, derivatives.

A held winding at its limit warms by R(Θ) I(Θ)² - Θ/Rth = C dΘ/dt and ends where both are equal, at the root of a
polynomial. A rotor that the limit drives runs up by K I / J, until the voltage that is left drives less.
"""

import mujoco
import numpy as np
import pytest
from helpers.plain_python import plain_python
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import saltus

OHM, CONSTANT, INERTIA, VOLTS, MOST = 1.2, 0.05, 2e-4, 24.0, 4.0
ROTOR = """<mujoco><option gravity="0 0 0" timestep="{h}" integrator="{method}"/><worldbody><body>
  <joint name="x" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/></body>
  </worldbody></mujoco>"""
WARM = dict(thermal_resistance=3.0, thermal_capacity=2.0)


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def rotor(h=0.001, inertia=INERTIA, method="Euler", **others):
    motor = saltus.Motor(OHM, CONSTANT, **{"voltage": VOLTS, "current_limit": MOST, **others})
    return saltus.drive(ROTOR.format(h=h, inertia=inertia, method=method), "x", motor=motor)


@pytest.mark.parametrize("inductance", [0.0, 6e-4])
def test_a_run_up_at_the_limit(inductance):
    """Without inductance K I/J up to V - R I = K ω, then exponentially; with it, SciPy's solution of both equations.

    The torque of a winding with inductance is that of the current a timestep later, as MuJoCo's motors act "early".
    """
    sim = saltus.Simulation(rotor(inductance=inductance), "dopri5", tolerance=(1e-12, 1e-12))
    sim.ctrl[0] = 100.0  # V, of which 24
    times, found = np.array([0.05, 0.2, 0.4, 0.6, 1.0]), []
    for t in times:
        sim.run(float(t - sim.time))
        found.append(float(sim.qvel[0]))
    if inductance == 0.0:
        knee = (VOLTS - OHM * MOST) / CONSTANT
        until = knee * INERTIA / (CONSTANT * MOST)
        last, time = VOLTS / CONSTANT, INERTIA * OHM / CONSTANT**2
        fall = last - (last - knee) * np.exp(-(times - until) / time)
        wanted = np.where(times < until, CONSTANT * MOST / INERTIA * times, fall)
        assert times[1] < until < times[-1]
    else:

        def rates(t, y):
            speed, ampere = y
            volts = np.clip(VOLTS, CONSTANT * speed - OHM * MOST, CONSTANT * speed + OHM * MOST)
            rate = (volts - OHM * ampere - CONSTANT * speed) / inductance
            later = ampere + rate * inductance / OHM * (1.0 - np.exp(-0.001 * OHM / inductance))
            return CONSTANT * later / INERTIA, rate

        wanted = solve_ivp(rates, (0.0, 1.0), [0.0, 0.0], t_eval=times, rtol=1e-11, atol=1e-11, method="Radau").y[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


@pytest.mark.parametrize("coefficient", [0.0, 0.0039])
def test_a_held_winding_ends_where_the_limit_has_fallen(coefficient):
    """R (1 + α Θ) (I share(Θ))² = Θ/Rth, and on the way SciPy's solution."""
    begin, end, ambient = 60.0, 90.0, 20.0
    given = dict(derating=(begin, end), temperature_coefficient=coefficient, ambient=ambient, **WARM)
    sim = saltus.Simulation(rotor(inertia=1e12, **given), "dopri5", tolerance=(1e-11, 1e-11))
    sim.ctrl[0] = VOLTS

    def power(warmth):
        share = np.clip((end - ambient - warmth) / (end - begin), 0.0, 1.0)
        return OHM * (1.0 + coefficient * (warmth + ambient - 25.0)) * (MOST * share) ** 2

    rate = lambda t, y: (power(y) - y / 3.0) / 2.0  # noqa: E731
    sim.run(3.0)
    wanted = solve_ivp(rate, (0.0, 3.0), [0.0], rtol=1e-11, atol=1e-11).y[0, -1]
    np.testing.assert_allclose(sim.act[0], wanted, rtol=1e-8)
    sim.run(97.0)
    last = brentq(lambda warmth: power(warmth) - warmth / 3.0, 1.0, end - ambient, xtol=1e-12)
    assert begin < last + ambient < end
    np.testing.assert_allclose(sim.act[0], last, rtol=1e-8)


def test_a_hot_winding_has_no_current():
    sim = saltus.Simulation(rotor(derating=(60.0, 90.0), **WARM))
    sim.ctrl[0] = VOLTS
    for warmth, share in ((0.0, 1.0), (35.0, 1.0), (50.0, 0.5), (65.0, 0.0), (200.0, 0.0)):
        sim.act[0] = warmth
        sim.forward()
        np.testing.assert_allclose(sim.data.actuator_force[0], CONSTANT * MOST * share, rtol=1e-13, atol=1e-15)
    # a motor that is turned faster than its voltage allows brakes with the limit, too
    sim.act[0], sim.qvel[0] = 0.0, 2000.0
    sim.forward()
    np.testing.assert_allclose(sim.data.actuator_force[0], -CONSTANT * MOST, rtol=1e-13)


def test_without_a_limit_it_is_mujocos_motor():
    """Runs of MuJoCo with the same file, to rounding; below its limit a motor is one without."""
    for given in (dict(current_limit=None), dict(current_limit=1e3), dict(current_limit=1e3, derating=(1e4, 2e4))):
        model = rotor(inductance=6e-4, cogging=0.002, cogs=14, **WARM, **given)
        d = mujoco.MjData(model.mj_model)
        sim = saltus.Simulation(model)
        d.ctrl[:] = sim.ctrl[:] = 9.0
        for _ in range(50):
            mujoco.mj_step(model.mj_model, d)
            sim.step()
        np.testing.assert_allclose(sim.qvel, d.qvel, rtol=1e-12)
        np.testing.assert_allclose(sim.act, d.act, rtol=1e-12)


@pytest.mark.parametrize("method", ["implicit", "implicitfast"])
@pytest.mark.parametrize("inductance", [0.0, 6e-4])
def test_implicit_steps_know_that_a_limited_current_has_no_slope(method, inductance):
    """At the limit the torque does not fall with the speed: a step has the velocity of an explicit one."""
    sims = [saltus.Simulation(rotor(0.01, inductance=inductance), name) for name in ("euler", method)]
    for sim in sims:
        sim.ctrl[0], sim.qvel[0] = VOLTS, 3.0
        if inductance:
            sim.act[0] = 0.5 * MOST
        sim.step()
    np.testing.assert_allclose(sims[1].qvel[0], sims[0].qvel[0], rtol=1e-12)
    # below the limit it does
    for sim in sims:
        sim.ctrl[0] = 0.2
        sim.qvel[0] = 1.0
        if inductance:
            sim.act[0] = 0.1
        sim.step()
    assert abs(sims[1].qvel[0] - sims[0].qvel[0]) > 1e-6


def test_derivatives_are_those_of_the_limit():
    """At it the torque is K I by nothing; as the winding warms by K I/(end - begin) a kelvin."""
    sim = saltus.Simulation(rotor(derating=(60.0, 90.0), **WARM))
    sim.ctrl[0], sim.act[0] = VOLTS, 50.0
    A, B = sim.linearize()
    assert A[1, 1] == 1.0 and B[1, 0] == 0.0
    np.testing.assert_allclose(A[1, 2], -0.001 * CONSTANT * MOST / 30.0 / INERTIA, rtol=1e-12)
