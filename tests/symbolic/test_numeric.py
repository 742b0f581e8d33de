"""Derived equations in the time loop.

The engine integrates the same mechanism with inertia and bias of its own, from another algorithm. Trajectories of one
integrator from one state may then differ by rounding alone, which grows with the steps: 50 steps of a mechanism whose
accelerations agree to 1e-15 stay within 1e-12.
"""

import numpy as np
import pytest

import saltus

# energy_momentum balances momenta, and takes the midpoint rule for equations that a user gives
INTEGRATORS = sorted({*saltus.integrators()} - {"energy_momentum"})


@pytest.fixture(scope="module", params=["relative", "absolute"])
def equations(request):
    return saltus.derive("double_pendulum", request.param)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_under_every_integrator(integrator):
    engine = saltus.Simulation("double_pendulum", integrator, timestep=0.01)
    twin = saltus.derive("double_pendulum", "absolute").simulation(integrator=integrator, timestep=0.01)
    for sim in (engine, twin):
        sim.qpos[:], sim.qvel[:], sim.ctrl[:] = (1.0, -0.5), (0.3, 0.2), (1.0, -2.0)
        sim.step(50)
    np.testing.assert_allclose(twin.qpos, engine.qpos, atol=1e-12)
    np.testing.assert_allclose(twin.qvel, engine.qvel, atol=1e-12)


@pytest.mark.slow
def test_in_any_coordinates_the_state_is_that_of_the_joints(equations):
    sim = equations.simulation(integrator="rk4")
    reference = saltus.Simulation("double_pendulum", "rk4")
    sim.step(20)
    reference.step(20)
    np.testing.assert_allclose(sim.qpos, reference.qpos, atol=1e-12)


@pytest.mark.slow
def test_a_batch(equations):
    batch = saltus.Batch("double_pendulum", 8, dynamics=equations.dynamics)
    reference = saltus.Batch("double_pendulum", 8)
    start = np.random.default_rng(0).normal(size=(8, 2))
    for one in (batch, reference):
        one.qpos = start
        one.step(20)
    np.testing.assert_allclose(batch.qpos, reference.qpos, atol=1e-12)


def test_ball_joint():
    engine = saltus.Simulation("top")
    twin = saltus.derive("top").simulation()
    for sim in (engine, twin):
        sim.reset("release")
        sim.step(100)
    np.testing.assert_allclose(twin.qpos, engine.qpos, atol=1e-12)
    np.testing.assert_allclose(twin.qvel, engine.qvel, atol=200 * 1e-12)


@pytest.mark.parametrize(("model", "parameters"), [("arm", "numbers"), ("cart_pole", "symbols")])
def test_springs_dampers_and_letters(model, parameters):
    """The arm's dampers, which are not in M and bias, act once; letters have the model's values."""
    engine = saltus.Simulation(model)
    twin = saltus.derive(model, parameters=parameters).simulation()
    for sim in (engine, twin):
        sim.reset("release")
        sim.step(100 if model == "arm" else 50)
    np.testing.assert_allclose(twin.qpos, engine.qpos, atol=1e-12)
