"""Forces from outside and controls in simulations of equations. Reference: the equations solved by SciPy, MuJoCo."""

import math

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.symbolic import Force

DURATION = 0.4


def wave(t):
    return 5.0 * math.sin(8.0 * math.pi * t)


def pushed(n, orientation="relative"):
    """A chain with a horizontal force at the end of its last link."""
    return saltus.derive(saltus.n_link(n), orientation, applied=[Force(f"link{n}", ("F_x", 0, 0), point=(0, 0, -1))])


@pytest.mark.parametrize("orientation", ["relative", "absolute"])
def test_forces_as_functions_of_time(orientation):
    """RK4's error at 2 ms is below 1e-9; SciPy's is 1e-9 of the state. The force is in qfrc_applied."""
    e = pushed(2, orientation)
    sim = e.simulation(integrator="rk4", timestep=0.002, inputs={"F_x": wave, "tau": 0.3})
    sim.run(DURATION)
    start = e.from_joint([0.0, 0.0], [0.0, 0.0])
    _, q, v = e.solve(DURATION, *start, inputs={"F_x": wave, "tau": 0.3}, sample=DURATION)
    assert np.allclose(sim.qpos, e.to_joint(q[-1], v[-1])[0], atol=1e-8)
    sim.forward()
    J, _ = sim.jacobian("link2", sim.data.site_xpos[sim.model.id("site", "tip")])
    assert np.allclose(sim.data.qfrc_applied, J.T @ [wave(sim.time), 0, 0], atol=1e-12)


def test_force_at_each_step_is_mujocos():
    """Semi-implicit Euler takes the force at the start of each step, as MuJoCo with qfrc_applied set there."""
    sim = pushed(2).simulation(integrator="euler", inputs={"F_x": wave})
    model = sim.model.mujoco
    data = mujoco.MjData(model)
    jacobian = np.zeros((3, model.nv))
    for _ in range(40):
        mujoco.mj_forward(model, data)
        mujoco.mj_jacSite(model, data, jacobian, None, 0)
        data.qfrc_applied[:] = jacobian.T @ [wave(data.time), 0, 0]
        mujoco.mj_step(model, data)
    sim.step(40)
    assert np.allclose(sim.qpos, data.qpos, rtol=1e-9, atol=1e-9)


def test_a_controller_runs_beside_the_forces():
    """With the force as a constant, the end is that of qfrc_applied and the same servo."""
    servo = saltus.PID(kp=2.0, ki=0.5, kd=1.0, target=0.5)
    e = saltus.derive("cart_pole", applied=[Force("cart", (2.0, 0, 0))])
    driven = e.simulation(integrator="rk4", control=servo)
    other = saltus.Simulation("cart_pole", "rk4", control=servo)
    other.qfrc_applied[0] = 2.0
    for sim in (driven, other):
        sim.qpos[1] = 0.1
        sim.run(0.2)
    assert np.allclose(driven.qpos, other.qpos, rtol=1e-9, atol=1e-11)
    assert np.allclose(driven.act, other.act, rtol=1e-9, atol=1e-11)


def test_linearised_as_without_the_force():
    """A force that depends on time alone leaves A and B at the same state as they were, but for its lever."""
    e = pushed(1)
    A, _ = e.simulation(integrator="rk4", timestep=0.002, inputs={"F_x": lambda t: 0.0 * math.sin(t)}).linearize()
    plain, _ = e.simulation(integrator="rk4", timestep=0.002).linearize()
    assert np.allclose(A, plain, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": {"F_y": 1.0}}, "unknown input 'F_y'"),
        ({"inputs": {"F_x": "5"}}, "F_x must be a number"),
        ({"inputs": {"F_x": math.inf}}, "F_x must be finite"),
        ({"inputs": {"tau": 1.0}, "control": saltus.PID(1.0)}, "tau is a control, which control= sets"),
        ({"inputs": {"F_x": 1.0}, "control": saltus.PID(1.0, hold=True)}, "leave hold out"),
    ],
)
def test_errors(options, message):
    with pytest.raises(OptionError, match=message):
        pushed(1).simulation(**options)
