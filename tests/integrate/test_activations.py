"""Activations, states of actuators, under every integrator.

Laws: MuJoCo 4.0's own steps; the declared order of a method holds for d(act)/dt too. Tolerance against MuJoCo: its
integrators over 200 steps, 1e-9; orders within 0.2. In steps of several stages MuJoCo treats some states differently,
with which it is first order in them, so that these are left out of the comparison under RK4: filters that it calls
exact, the current and bristles of a motor (it puts the mean slope of the stages into the exact solution of one stage).
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import tight

import saltus

ARM = """<mujoco><option timestep=".002" integrator="{integrator}"/><worldbody><site name="a" pos="0 .1 1"/>
  <body pos="0 0 1"><joint name="j" axis="0 1 0" damping=".1" range="-2 2"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><site name="b" pos=".2 .02 0"/>
    <body pos=".3 0 0"><joint name="k" axis="0 1 0" damping=".1" range="-2 2"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><site name="c" pos=".1 .03 0"/>
    </body></body></worldbody>
  <tendon><spatial name="t"><site site="a"/><site site="b"/><site site="c"/></spatial></tendon>
  <actuator>
    <muscle tendon="t" force="50" lengthrange=".5 1.5"/>
    <general joint="j" dyntype="integrator" gainprm="3" actlimited="true" actrange="-.2 .3"/>
    <general joint="k" dyntype="filter" dynprm=".05" gainprm="3"/>
    <intvelocity joint="k" kp="2" actrange="-1 1"/>
    <pid joint="j" kp="5" kv=".1" ki="3" imax=".3" slewmax="2"/>{more}
  </actuator></mujoco>"""
ONE_STAGE = """<dcmotor joint="k" motorconst=".5" resistance="2" inductance=".01"/>
  <general joint="k" dyntype="filterexact" dynprm=".05" gainprm="3" actearly="true"/>
  <general joint="k" dyntype="filterexact" dynprm=".001" gainprm="3"/>"""


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "RK4"])
def test_steps_of_mujoco(integrator):
    """200 steps with controls that change every 20; states, positions and their rates at the end."""
    m = tight(mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator, more=ONE_STAGE * (integrator != "RK4"))))
    d, sim, rng = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), np.random.default_rng(0)
    assert sim.act.shape == d.act.shape == (m.na,)
    for k in range(200):
        if k % 20 == 0:
            d.ctrl[:] = sim.ctrl[:] = rng.uniform(-1, 1, m.nu)
        mujoco.mj_step(m, d)
        sim.step()
        np.testing.assert_allclose(sim.act, d.act, rtol=0, atol=1e-9)
        np.testing.assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-9)
    mujoco.mj_forward(m, d)
    np.testing.assert_allclose(sim.data.act_dot, d.act_dot, rtol=1e-9, atol=1e-9)


SMOOTH = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body><joint name="j" axis="0 1 0" damping=".1"/>
  <geom size=".1" mass="1" pos="0 0 -1"/></body></worldbody><actuator>
  <general joint="j" dyntype="filter" dynprm=".2" gainprm="9"/><general joint="j" dyntype="integrator" gainprm="2"/>
  </actuator></mujoco>"""
ORDERS = {"explicit_euler": 1, "euler": 1, "implicit": 1, "implicitfast": 1, "midpoint": 2, "velocity_verlet": 2}
ORDERS |= {"verlet": 2, "rk4": 4, "implicit_midpoint": 2, "energy_momentum": 2}


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "order"), ORDERS.items())
def test_order(integrator, order):
    """A pendulum pushed by a filter and an integrator: the error of position, velocity and states at 1 s."""
    model = saltus.load(SMOOTH)

    def end(method, h):
        sim = saltus.Simulation(model, method, timestep=h)
        sim.qpos[0], sim.ctrl[:] = 0.5, [1.0, 0.7]
        sim.step(round(1.0 / h))
        return np.hstack([sim.qpos, sim.qvel, sim.act])

    exact = end("rk4", 0.0005)
    steps = np.array([0.02, 0.01, 0.005])
    errors = [np.linalg.norm(end(integrator, h) - exact) for h in steps]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.2)


def test_adaptive_steps_and_dense_output():
    """Closed form of the filter: u (1 - exp(-t/τ)), at samples between the steps too, to the method's tolerance."""
    sim = saltus.Simulation(SMOOTH, "dopri5")
    sim.ctrl[:] = 1.0, 0.7
    run = sim.run(1.0, sample=0.013)
    np.testing.assert_allclose(run.act[:, 0], 1 - np.exp(-run.time / 0.2), rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.act[:, 1], 0.7 * run.time, rtol=0, atol=1e-9)


def test_exact_filters_do_not_diverge():
    """With a time constant of half a step the exact filter of one-stage methods follows the closed form."""
    text = SMOOTH.replace('dyntype="filter" dynprm=".2"', 'dyntype="filterexact" dynprm=".001"')
    sim = saltus.Simulation(text, "euler", timestep=0.002)
    sim.ctrl[0] = 1.0
    for k in range(10):
        sim.step()
        assert sim.act[0] == pytest.approx(1 - np.exp(-2 * (k + 1)), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", pytest.param("implicitfast", marks=pytest.mark.slow)])
def test_derivatives(integrator):
    """A and B of MuJoCo's mjd_transitionFD, centred differences with a step of 1e-6: 1e-6 of the largest."""
    m = mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator.replace("euler", "Euler"), more=""))
    d, rng = mujoco.MjData(m), np.random.default_rng(1)
    d.qpos[:], d.qvel[:] = 0.1 * rng.normal(size=2), rng.normal(size=2)
    d.ctrl[:], d.act[:] = rng.uniform(-0.5, 0.5, m.nu), rng.uniform(0.1, 0.25, m.na)
    n = 2 * m.nv + m.na
    A, B = np.zeros((n, n)), np.zeros((n, m.nu))
    mujoco.mjd_transitionFD(m, d, 1e-6, True, A, B, None, None)
    sim = saltus.Simulation(saltus.load(m), integrator)
    sim.qpos, sim.qvel, sim.act, sim.ctrl = d.qpos, d.qvel, d.act, d.ctrl
    found = sim.linearize()
    np.testing.assert_allclose(found[0], A, rtol=0, atol=1e-6 * abs(A).max())
    np.testing.assert_allclose(found[1], B, rtol=0, atol=1e-6 * abs(B).max())


@pytest.mark.slow
def test_lanes_equal_floats():
    model = saltus.load(ARM.format(integrator="Euler", more=ONE_STAGE))
    sim, batch = saltus.Simulation(model), saltus.Batch(model, 3)
    ctrl = np.random.default_rng(2).uniform(-1, 1, model.nu)
    sim.ctrl, batch.ctrl = ctrl, ctrl
    sim.step(100)
    batch.step(100)
    np.testing.assert_allclose(batch.act, np.tile(sim.act, (3, 1)), rtol=0, atol=1e-11)
    np.testing.assert_allclose(batch.qpos, np.tile(sim.qpos, (3, 1)), rtol=0, atol=1e-11)
