"""Friction of drives against quadratures of the equation of motion, powers of a gear, and plain dry friction."""

import numpy as np
import pytest
from helpers.plain_python import plain_python
from scipy.integrate import quad, solve_ivp

import saltus

MASS, COULOMB, STATIC, VELOCITY = 2.0, 1.0, 3.0, 0.1
BLOCK = """<mujoco><option gravity="0 0 0" timestep="{h}"/><worldbody><body>
  <joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor name="motor" joint="x"/></actuator></mujoco>"""
SLIDING = saltus.Stribeck(COULOMB, STATIC, VELOCITY)


@pytest.fixture
def plain():
    """Kernels run in plain Python."""
    with plain_python():
        yield


def block(h=0.01, gear=None, friction=SLIDING):
    return saltus.drive(BLOCK.format(h=h), "x", gear, friction)


def bound(v, exponent=2):
    """Stribeck's curve (N) by another way than the kernel's."""
    return COULOMB + (STATIC - COULOMB) * np.exp(-((abs(v) / VELOCITY) ** exponent))


@pytest.mark.parametrize("exponent", [1, 2])
def test_a_block_stops_when_and_where_quadrature_says(exponent, plain):
    """T = ∫ m dv / F(v), s = ∫ m v dv / F(v), and it sticks there to the bit."""
    friction = saltus.Stribeck(COULOMB, STATIC, VELOCITY, exponent)
    sim = saltus.Simulation(block(friction=friction), "dopri5", contact="hard", tolerance=(1e-11, 1e-11))
    sim.qvel[0] = 0.5
    track = sim.run(2.0)
    time = quad(lambda v: MASS / bound(v, exponent), 0.0, 0.5, epsabs=1e-13)[0]
    path = quad(lambda v: MASS * v / bound(v, exponent), 0.0, 0.5, epsabs=1e-13)[0]
    stops = track.events["time"]
    assert abs(stops[0] - time) < 1e-8
    assert abs(sim.qpos[0] - path) < 1e-8
    assert sim.qvel[0] == 0.0


def test_a_block_leaves_rest_at_the_static_friction_and_speeds_up_as_the_equation_says(plain):
    """Below F_S nothing moves; above, m v' = F - F(v), solved by SciPy."""
    sim = saltus.Simulation(block(), "dopri5", contact="hard", tolerance=(1e-11, 1e-11))
    for force in (2.999, -2.999):
        sim.ctrl[0] = force
        sim.run(1.0)
        assert sim.qvel[0] == 0.0 and sim.qpos[0] == 0.0
    sim.ctrl[0] = 4.0
    sim.run(1.0)
    slope = lambda t, y: [y[1], (4.0 - bound(y[1])) / MASS]  # noqa: E731
    end = solve_ivp(slope, (0.0, 1.0), [0.0, 0.0], rtol=1e-12, atol=1e-13).y[:, -1]
    assert np.allclose([sim.qpos[0], sim.qvel[0]], end, rtol=1e-8, atol=0)


@pytest.mark.parametrize("method", [name for name, one in saltus.integrators().items() if not one.adaptive])
def test_steps_converge_to_the_equation(method, plain):
    """Of first order at least, from 0.5 m/s down to where it still slides."""
    end = solve_ivp(lambda t, v: -bound(v) / MASS, (0.0, 0.4), [0.5], rtol=1e-12, atol=1e-13).y[0, -1]
    errors = []
    for h in (0.01, 0.005):
        sim = saltus.Simulation(block(h), method, contact="hard" if method == "moreau_jean" else "soft")
        sim.qvel[0] = 0.5
        sim.run(0.4)
        errors.append(abs(sim.qvel[0] - end))
    assert errors[1] < 0.6 * errors[0] < 0.01 or max(errors) < 1e-9


@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_a_gear_takes_its_share_of_the_torque_in_both_directions(contact, plain):
    """Driving, η τ arrives; driven, the load must bring (2 - η) τ: acceleration τ / m times these."""
    sim = saltus.Simulation(block(gear=saltus.Gear(efficiency=0.8), friction=None), "euler", contact=contact)
    for speed, factor in ((1.0, 0.8), (-1.0, 1.2)):
        sim.reset()
        sim.qvel[0], sim.ctrl[0] = speed, 2.0
        sim.step(10)
        assert np.isclose(sim.qvel[0], speed + factor * 2.0 / MASS * sim.time, rtol=1e-7)


def test_the_curve_without_excess_is_plain_dry_friction(plain):
    """F_S = F_C and an efficiency of 1 give the bits of a joint with frictionloss alone."""
    plain = BLOCK.format(h=0.01).replace('axis="1 0 0"', f'axis="1 0 0" frictionloss="{COULOMB}"')
    ends = []
    for source in (plain, block(gear=saltus.Gear(), friction=saltus.Stribeck(COULOMB, COULOMB, VELOCITY))):
        sim = saltus.Simulation(source, "euler")
        sim.qvel[0], sim.ctrl[0] = 0.3, 0.2
        sim.step(60)
        ends.append((sim.qpos[0], sim.qvel[0]))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("speed", [0.05, 0.5])
def test_derivatives_contain_the_slope_of_the_curve(speed, plain):
    """One step of m v' = u - F(v) - (1 - η) |u|: dv+/dv = 1 - h F'(v) / m, dv+/du = h (1 - (1 - η)) / m."""
    sim = saltus.Simulation(block(0.001, gear=saltus.Gear(efficiency=0.9)), "euler")
    sim.qvel[0], sim.ctrl[0] = speed, 5.0
    A, B = sim.linearize()
    fall = -2.0 * speed / VELOCITY**2 * (STATIC - COULOMB) * np.exp(-((speed / VELOCITY) ** 2))
    assert np.isclose(A[1, 1], 1.0 - 0.001 * fall / MASS, rtol=1e-12)
    assert np.isclose(B[1, 0], 0.001 * 0.9 / MASS, rtol=1e-12)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients_of_runs_contain_the_slope_of_the_curve(mode, plain):
    """d v(T) / d v(0) = F(v(T)) / F(v(0)) for m v' = -F(v), of which steps of h differ by O(h)."""
    sim = saltus.Simulation(block(0.0005), "euler")
    sim.qvel[0] = 0.15
    _, gradient = saltus.run_gradient(sim, 0.02, lambda run: run.qvel[-1, 0], wrt=("qvel",), mode=mode)
    end = solve_ivp(lambda t, v: -bound(v) / MASS, (0.0, 0.02), [0.15], rtol=1e-12, atol=1e-13).y[0, -1]
    assert np.isclose(gradient["qvel"][0], bound(end) / bound(0.15), rtol=0.01)


@pytest.mark.parametrize("precision", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_simulations_of_a_batch_equal_single_ones(precision):
    """Each of five blocks, sticking or sliding, has the end of a block alone; float32 within its rounding."""
    model = block(gear=saltus.Gear(efficiency=0.9))
    speeds, forces = np.linspace(-0.2, 0.4, 5), np.array([0.0, 2.0, -4.0, 2.9, 6.0])
    batch = saltus.Batch(model, 5, precision=precision)
    batch.qvel[:, 0], batch.ctrl[:, 0] = speeds, forces
    batch.step(50)
    for k in range(5):
        sim = saltus.Simulation(model)
        sim.qvel[0], sim.ctrl[0] = speeds[k], forces[k]
        sim.step(50)
        found = batch.qpos[k, 0]
        assert found == sim.qpos[0] if precision == "float64" else abs(found - sim.qpos[0]) < 1e-5
