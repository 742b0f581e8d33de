"""Prescribed motions without contact: joints whose positions are functions of time.

Outside references: the scalar equation of a pendulum on a moving pivot by SciPy's solve_ivp at 1e-12 (the tolerance
1e-9 is what dopri5's own tolerance of 1e-11 per step may add up to), Kapitza's criterion, closed-form inverse dynamics
(rounding), and the orders of the methods. All tests share one model, and so its compiled code.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import saltus

G, L, M, CART, R = 9.81, 0.5, 1.0, 2.0, 0.01
INERTIA = M * L * L + 0.4 * M * R * R
MODEL = saltus.load(f"""<mujoco><option gravity="0 0 -{G}" timestep=".002"/><default>
<geom contype="0" conaffinity="0"/></default><worldbody>
<body><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/>
<body><joint name="z" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/>
<body><joint name="swing" axis="0 1 0"/><geom size="{R}" pos="0 0 -{L}" mass="{M}"/></body></body></body>
<body pos="2 0 0"><joint name="crank" axis="0 1 0" armature=".03"/><geom size="{R}" pos="0 0 -{L}" mass="{M}"/></body>
</worldbody></mujoco>""")
A, W = 0.2, 7.0
X, Z, SWING, CRANK = range(4)


def still(t):
    return 0.0


def shake(t):
    return A * math.sin(W * t)


def turn(t):
    return 0.3 * math.sin(5 * t) + t * t


SHAKEN = {"x": shake, "z": still, "crank": turn}


def simulation(integrator, motions=SHAKEN, start=0.5, **options):
    sim = saltus.Simulation(MODEL, integrator, motions=motions, **options)
    sim.qpos[SWING] = start
    return sim


def swinging(times, start=0.5, of_x=shake, end=2.0):
    """The pendulum on a pivot that moves along x: I θ'' = m l (x'' cos θ - g sin θ)."""

    def rates(t, y):
        return [y[1], M * L * (-A * W * W * math.sin(W * t) * math.cos(y[0]) - G * math.sin(y[0])) / INERTIA]

    return solve_ivp(rates, (0, end), [start, 0.0], rtol=1e-12, atol=1e-13, t_eval=times).y


def test_a_pendulum_on_a_prescribed_cart():
    sim = simulation("dopri5", tolerance=(1e-11, 1e-12))
    run = sim.run(2.0, 0.25)
    angle, rate = swinging(run.time)
    np.testing.assert_allclose(run.qpos[:, SWING], angle, atol=1e-9)
    np.testing.assert_allclose(run.qvel[:, SWING], rate, atol=1e-8)
    # what is prescribed is exact
    assert (run.qpos[:, X] == [shake(t) for t in run.time]).all()
    np.testing.assert_allclose(run.qvel[:, X], A * W * np.cos(W * run.time), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(run.qvel[:, CRANK], 1.5 * np.cos(5 * run.time) + 2 * run.time, rtol=1e-14)


def test_the_forces_of_prescriptions_are_those_of_inverse_dynamics():
    sim = simulation("dopri5")
    sim.run(0.7, 0.1)
    t, theta, rate = sim.time, sim.qpos[SWING], sim.qvel[SWING]
    push, accel = -A * W * W * math.sin(W * t), sim.data.qacc[SWING]
    force = sim.data.qfrc_prescribed
    inward = M * L * (accel * math.cos(theta) - rate**2 * math.sin(theta))
    assert force[X] == pytest.approx((CART + M) * push - inward, abs=1e-11)
    upward = M * L * (accel * math.sin(theta) + rate**2 * math.cos(theta))
    assert force[Z] == pytest.approx((1 + M) * G + upward, abs=1e-11)
    angle, twist = turn(t), -7.5 * math.sin(5 * t) + 2.0
    assert force[CRANK] == pytest.approx((INERTIA + 0.03) * twist + M * G * L * math.sin(angle), abs=1e-11)
    assert force[SWING] == 0.0


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_the_forces_of_prescriptions_are_recorded(integrator):
    sim = simulation(integrator, timestep=0.01)
    run = sim.run(0.5, 0.1)
    assert run.names["motion"] == ["x", "z", "crank"]
    twist = -7.5 * np.sin(5 * run.time) + 2.0
    torque = (INERTIA + 0.03) * twist + M * G * L * np.sin(run.qpos[:, CRANK])
    np.testing.assert_allclose(run.prescribed_force[:, 2], torque, atol=1e-11)
    assert run.prescribed_force[-1] == pytest.approx(sim.data.qfrc_prescribed[[X, Z, CRANK]], abs=1e-11)
    dataset = run.to_xarray()
    assert dataset.prescribed_force.sel(motion_name="crank").shape == run.time.shape


@pytest.mark.parametrize(
    ("integrator", "order"), [("rk4", 4), ("euler", 1), ("implicitfast", 1), ("implicit", 1), ("moreau_jean", 2)]
)
def test_the_order_of_methods_holds(integrator, order):
    exact = swinging([0.0, 1.0], end=1.0)[0, -1]
    steps = (0.02, 0.01) if order > 1 else (0.002, 0.001)
    errors = [abs(simulation(integrator, timestep=h).run(1.0, 1.0).qpos[-1, SWING] - exact) for h in steps]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize(("speed", "stands"), [(1.3, True), (0.7, False)])
def test_kapitza_s_pendulum(speed, stands):
    """Inverted it stands where the pivot's largest speed is above √(2 g l) (Kapitza 1951), for amplitudes ≪ l."""
    a = 0.01
    w = speed * math.sqrt(2 * G * L) / a

    def tremble(t):
        return a * math.sin(w * t)

    sim = simulation("rk4", {"x": still, "z": tremble, "crank": still}, start=math.pi - 0.1, timestep=5e-4)
    run = sim.run(3.0, 0.01)
    assert (np.abs(run.qpos[:, SWING] - math.pi) < 1.0).all() == stands


def test_forces_on_what_is_prescribed_change_its_force_alone():
    free, pushed = (simulation("rk4", timestep=0.01) for _ in range(2))
    pushed.qfrc_applied[X] = 3.0
    for sim in (free, pushed):
        sim.step(20)
    assert (free.qpos == pushed.qpos).all()
    assert free.data.qfrc_prescribed[X] - pushed.data.qfrc_prescribed[X] == pytest.approx(3.0, abs=1e-12)


@pytest.mark.parametrize(("integrator", "left"), [("dopri5", 1e-7), ("rk4", 1e-5)])
def test_the_work_of_prescriptions_is_the_change_of_energy(integrator, left):
    """Nothing else does work; the residual is that of the quadrature of powers, of sixth and fourth order."""
    balance = simulation(integrator, timestep=0.005).run(1.0, 0.25, ledger=True).energy_report()
    work = balance["motions"]
    assert np.ptp(work) > 1.0
    np.testing.assert_allclose(balance.residual, 0.0, atol=left * np.abs(work).max())
