"""Friction by bristles under every integrator.

Laws: LuGre's differential equations, solved by SciPy to 1e-13; MuJoCo's own steps, which have the law, to rounding;
declared orders, within 0.2 (of 2 at most for `moreau_jean`, whose actuator states are of order 1); a joint under a
constant load below F_S stands: z = F/σ₀.
"""

import mujoco
import numpy as np
import pytest
from helpers.plain_python import plain_python
from scipy.integrate import solve_ivp

import saltus

BLOCK = """<mujoco><option gravity="0 0 0" timestep="0.001" integrator="{}"/><worldbody><body>
  <joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><motor joint="x"/></actuator></mujoco>"""
SOFT = saltus.LuGre(stiffness=100.0, damping=2.0, coulomb=1.0, static=1.5, velocity=0.1, viscous=0.4)
STIFF = saltus.LuGre(stiffness=1e5, damping=316.0, coulomb=1.0, static=1.5, velocity=0.001, viscous=0.4)


def block(friction, integrator="Euler"):
    return saltus.drive(BLOCK.format(integrator), "x", friction=friction)


def rates(_, y, p, force):
    """LuGre's equations for a block of 1 kg."""
    _, v, z = y
    g = p.coulomb + (p.static - p.coulomb) * np.exp(-((v / p.velocity) ** 2))
    rate = v - p.stiffness * abs(v) / g * z
    return [v, force - p.stiffness * z - p.damping * rate - p.viscous * v, rate]


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
def test_steps_are_those_of_mujoco(integrator):
    """400 steps that stick, slip and turn back, in plain Python."""
    model = block(saltus.LuGre(1e4, 20.0, 1.0, 1.5, 0.01, 0.4), integrator)
    m = mujoco.MjModel.from_xml_string(model.xml)
    d = mujoco.MjData(m)
    with plain_python():
        sim = saltus.Simulation(model)
        for _ in range(400):
            d.ctrl[0] = sim.ctrl[0] = 2.0 * np.sin(12.0 * d.time)
            mujoco.mj_step(m, d)
            sim.step()
    np.testing.assert_allclose([*sim.qpos, *sim.qvel, *sim.act], [*d.qpos, *d.qvel, *d.act], rtol=1e-12)


ORDERS = {"explicit_euler": 1, "euler": 1, "implicit": 1, "implicitfast": 1, "midpoint": 2, "velocity_verlet": 2}
ORDERS |= {"verlet": 2, "rk4": 4, "implicit_midpoint": 2, "energy_momentum": 2, "moreau_jean": 1}


@pytest.mark.parametrize(
    ("integrator", "order"),
    [
        pytest.param(name, order, marks=() if name in ("euler", "rk4") else pytest.mark.slow)
        for name, order in ORDERS.items()
    ],
)
def test_order(integrator, order):
    """A block in motion whose bristles bend from 0.2 to all of g/σ₀, at 0.32 s."""
    exact = solve_ivp(rates, (0.0, 0.32), [0.0, 0.3, 0.002], args=(SOFT, 3.0), method="DOP853", rtol=1e-13, atol=1e-15)
    errors, steps = [], np.array([80, 160, 320])
    for n in steps:
        sim = saltus.Simulation(block(SOFT), integrator, timestep=0.32 / n)
        sim.qvel[0], sim.act[0], sim.ctrl[0] = 0.3, 0.002, 3.0
        sim.step(int(n))
        errors.append(np.linalg.norm([*sim.qpos, *sim.qvel, *sim.act] - exact.y[:, -1]))
    assert -np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("integrator", ["dopri5", "radau"])
def test_error_control(integrator):
    """Stiff bristles break away under 1.6 F_C within 0.05 s; the error is some hundred tolerances of a step."""
    exact = solve_ivp(rates, (0.0, 0.05), [0.0] * 3, args=(STIFF, 1.6), method="Radau", rtol=1e-12, atol=1e-15).y[:, -1]
    sim = saltus.Simulation(block(STIFF), integrator, tolerance=(1e-9, 1e-12))
    sim.ctrl[0] = 1.6
    sim.run(0.05)
    np.testing.assert_allclose([*sim.qpos, *sim.qvel, *sim.act], exact, rtol=1e-7)


def test_a_loaded_joint_stands_for_a_day():
    """0.8 F_C for 86,400 s after 10 s in which it bends: presliding F/σ₀ = 8e-6 m, and 1e-12 m of creep at most."""
    sim = saltus.Simulation(block(STIFF), "radau")
    sim.ctrl[0], sim.qpos[0], sim.act[0] = 0.8, 8e-6, 8e-6
    sim.run(10.0)
    start = sim.qpos[0]
    sim.run(86400.0, sample=3600.0)
    assert sim.act[0] == pytest.approx(8e-6, rel=1e-12)
    assert abs(sim.qpos[0] - start) < 1e-12


@pytest.mark.slow
def test_a_dry_joint_stands_for_a_day_to_the_bit():
    """Located hard friction has no creep at all."""
    model = saltus.drive(BLOCK.format("Euler"), "x", friction=saltus.Stribeck(1.0, 1.5, 0.001))
    sim = saltus.Simulation(model, "dopri5", contact="hard")
    sim.ctrl[0] = 1.4999
    sim.run(86400.0, sample=3600.0)
    assert sim.qpos[0] == 0.0 and sim.qvel[0] == 0.0


@pytest.mark.slow
def test_derivatives_and_lanes():
    """A of MuJoCo's centred differences, in motion; a lane's steps are those of a simulation to the bit."""
    model = block(SOFT)
    m = mujoco.MjModel.from_xml_string(model.xml)
    d, sim = mujoco.MjData(m), saltus.Simulation(model)
    d.qvel[0], d.act[0], d.ctrl[0] = 0.3, 0.002, 3.0
    A, B = np.zeros((3, 3)), np.zeros((3, 1))
    mujoco.mjd_transitionFD(m, d, 1e-6, True, A, B, None, None)
    sim.qvel, sim.act, sim.ctrl = d.qvel, d.act, d.ctrl
    found = sim.linearize()
    np.testing.assert_allclose(found[0], A, rtol=0, atol=1e-6 * abs(A).max())
    np.testing.assert_allclose(found[1], B, rtol=0, atol=1e-6 * abs(B).max())
    batch = saltus.Batch(model, 3)
    batch.ctrl[:], batch.qvel[:] = 3.0, [[0.1], [0.3], [0.5]]
    batch.step(50)
    for k in range(3):
        sim.reset()
        sim.ctrl[0], sim.qvel[0] = 3.0, 0.1 + 0.2 * k
        sim.step(50)
        np.testing.assert_array_equal(batch.act[k], sim.act)
        np.testing.assert_array_equal(batch.qpos[k], sim.qpos)


STOPPED = BLOCK.replace('axis="1 0 0"', 'axis="1 0 0" range="-1 0.001" limited="true"')


@pytest.mark.slow
def test_bristles_beside_located_impacts():
    """A block that slides against a hard stop of restitution 0.5, and back: SciPy's solution with the same event."""
    model = saltus.drive(STOPPED.format("Euler"), "x", friction=SOFT)
    sim = saltus.Simulation(model, "dopri5", contact=saltus.Hard(limits=0.5), tolerance=(1e-11, 1e-13))
    sim.qvel[0], sim.ctrl[0] = 0.3, -1.2
    run = sim.run(0.05)

    def reached(t, y, *args):
        return y[0] - 0.001

    reached.terminal, reached.direction = True, 1
    options = dict(args=(SOFT, -1.2), method="DOP853", rtol=1e-13, atol=1e-15)
    first = solve_ivp(rates, (0.0, 0.05), [0.0, 0.3, 0.0], events=reached, **options)
    y = first.y[:, -1] * [1.0, -0.5, 1.0]
    last = solve_ivp(rates, (first.t[-1], 0.05), y, **options)
    assert run.events["time"][0] == pytest.approx(first.t[-1], rel=1e-9)
    np.testing.assert_allclose([*sim.qpos, *sim.qvel, *sim.act], last.y[:, -1], rtol=1e-7)
