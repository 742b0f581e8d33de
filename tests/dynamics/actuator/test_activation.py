"""States of actuators over steps of MuJoCo's own integrators.

Reference: MuJoCo 4.0's mj_step, with new controls at each step. For Runge-Kutta methods SciPy's eighth-order DOP853 on
MuJoCo's accelerations and rates.

Tolerance: 1e-9 after 50 steps: roundings of 1e-16 at each, which stiff laws amplify by some hundred. rk4 is compared
step by step only where MuJoCo's is the same method: on hinges and slides (rotations are in another chart there) and
without states that MuJoCo advances exactly in time at the end of each step (exact filters, windings, bristles). These
are ordinary differential equations in Saltus, whose error falls as the step's fourth power: by 16 when it is halved,
and by 10 at least, as the next order still counts.
"""

import mujoco
import numpy as np
import pytest
from helpers.actuators import (
    ARM26,
    LAWS,
    ORIENTATIONS,
    SO3,
    TRANSMISSIONS,
    actuators,
    document,
    largest_error,
    simulation,
)
from helpers.mechanisms import with_option
from scipy.integrate import solve_ivp

import saltus

TOLERANCE, STEPS = 1e-9, 50
METHODS = {"euler": "Euler", "implicit": "implicit", "implicitfast": "implicitfast", "rk4": "RK4"}
STATEFUL = {
    name: law
    for name, law in LAWS.items()
    if any(word in law for word in ("timeconst", "int", "cylinder", "ki=", "slew", "inductance", "thermal", "lugre"))
    or "muscle" in name
}
EXACT = ("position", "inductance", "lugre")  # filters, windings, bristles
SCALAR = {name: TRANSMISSIONS[name] for name in ("hinge", "weak tendon")}
UNLIMITED = {name: TRANSMISSIONS[name] for name in ("hinge", "fixed tendon")}
CIRCULAR = {"ball": TRANSMISSIONS["ball"]}


def model_of(method, elements):
    return with_option(document(elements), f'<option timestep="0.004" integrator="{METHODS[method]}"/>')


def run(model, m, method, seed=3, scale=0.3):
    """Largest differences of qpos, qvel, act between Saltus and MuJoCo over the steps."""
    rng = np.random.default_rng(seed)
    d = mujoco.MjData(m)
    sim = simulation(model, method)
    mujoco.mj_integratePos(m, d.qpos, 0.2 * rng.normal(size=m.nv), 1.0)
    d.qvel[:] = 0.3 * rng.normal(size=m.nv)
    d.act[:] = np.abs(0.3 * rng.normal(size=m.na))
    sim.qpos[:], sim.qvel[:], sim.act[:] = d.qpos, d.qvel, d.act
    worst = np.zeros(3)
    for _ in range(STEPS):
        sim.ctrl[:] = d.ctrl[:] = scale * rng.normal(size=m.nu)
        mujoco.mj_step(m, d)
        sim.step()
        worst = np.maximum(worst, [largest_error(getattr(sim, f), getattr(d, f), 1.0) for f in ("qpos", "qvel", "act")])
    assert np.isfinite(d.qpos).all() and not any(w.number for w in d.warning)
    return worst


def on_hinges(xml):
    """The mechanism with a slide and a hinge in place of its free and ball joints."""
    xml = xml.replace('<freejoint name="free"/>', '<joint name="lift" type="slide"/>')
    return xml.replace('name="ball" type="ball"', 'name="ball" axis="1 0 1"')


@pytest.mark.slow
@pytest.mark.parametrize("method", ["euler", "implicit", "implicitfast"])
def test_steps(method):
    """All laws with states on a hinge and a tendon, some of angles without ends, and orientation servos."""
    # whether forces that were scaled to a limit count as limited is up to rounding in MuJoCo's derivatives
    implicit = method != "euler"
    servos = {name: law for name, law in SO3.items() if not (implicit and "forcerange" in law)}
    elements = actuators(STATEFUL, UNLIMITED if implicit else SCALAR) + actuators(servos, ORIENTATIONS)
    elements += actuators({n: LAWS[n] for n in ("intvelocity", "filtered position", "slew and integral")}, CIRCULAR)
    model = saltus.load(model_of(method, elements))
    worst = run(model, model.mujoco, method)
    assert np.max(worst) < TOLERANCE, worst


def test_steps_of_runge_kutta():
    laws = {n: law for n, law in STATEFUL.items() if not any(word in law for word in EXACT)}
    assert len(laws) > 9
    model = saltus.load(on_hinges(model_of("rk4", actuators(laws, SCALAR))))
    worst = run(model, model.mujoco, "rk4")
    assert np.max(worst) < TOLERANCE, worst


def test_order_of_runge_kutta():
    """Exact filters and windings are differential equations as others are."""
    laws = {n: LAWS[n] for n in ("filtered position", "inductance", "heat and winding")}
    m, duration = saltus.load(on_hinges(model_of("rk4", actuators(laws, SCALAR)))).mujoco, 0.04
    # forces of states a step ahead, which servos and windings ask for, would change with the step
    assert m.actuator_actearly.any()
    m.actuator_actearly[:] = 0
    model = saltus.load(m)
    d = mujoco.MjData(m)
    ctrl = np.linspace(-0.5, 0.5, m.nu)

    def rates(t, y):
        d.qpos[:], d.qvel[:], d.act[:], d.ctrl[:] = *np.split(y, [m.nq, m.nq + m.nv]), ctrl
        mujoco.mj_forward(m, d)
        return np.concatenate([d.qvel, d.qacc, d.act_dot])

    start = np.concatenate([m.qpos0, np.zeros(m.nv + m.na)])
    end = solve_ivp(rates, (0, duration), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    errors = []
    for h in (0.004, 0.002, 0.001):
        sim = simulation(model, "rk4", timestep=h)
        sim.ctrl[:] = ctrl
        sim.step(round(duration / h))
        errors.append(np.abs(np.concatenate([sim.qpos, sim.qvel, sim.act]) - end).max())
    assert errors[1] / errors[2] > 10 and errors[0] / errors[1] > 10 and errors[-1] < 1e-6, errors


@pytest.mark.parametrize("method", ["euler", "implicitfast"])
def test_arm_with_six_muscles(method):
    model = saltus.load(with_option(ARM26, f'<option integrator="{METHODS[method]}"/>'))
    worst = run(model, model.mujoco, method, scale=1.0)
    assert np.max(worst) < TOLERANCE, worst


def test_without_actuation():
    """States stay where they are while actuation is switched off, those that are beyond their limits too."""
    xml = with_option(model_of("euler", actuators(STATEFUL, SCALAR)), '<option><flag actuation="disable"/></option>')
    model = saltus.load(xml)
    m = model.mujoco
    worst = run(model, m, "euler")
    assert np.max(worst) < TOLERANCE, worst
    sim = simulation(model, "euler")
    sim.qvel[:], sim.act[:] = 1.0, 3.0
    sim.step(3)
    assert (sim.act == 3.0).all()
