"""Derived equations in the time loop, and by themselves.

The engine integrates the same mechanism with inertia and bias of its own, from another algorithm. Trajectories of one
integrator from one state may then differ by rounding alone, which grows with the steps: 50 steps of a mechanism whose
accelerations agree to 1e-15 stay within 1e-12. SciPy's DOP853 at rtol 1e-12 is the reference for motion in maximal
coordinates, which no integrator of the engine takes; the tolerance there is 1e3 times its own.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError, SaltusWarning
from saltus.symbolic import Force
from saltus.symbolic.code import routine
from saltus.symbolic.export.python_code import function

INTEGRATORS = sorted(saltus.integrators())


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


def test_forces_from_outside_are_told_to_be_missing():
    equations = saltus.derive("double_pendulum", applied=[Force("lower", ("F_x", 0, 0))])
    with pytest.warns(SaltusWarning, match="takes forces from outside by qfrc_applied"):
        equations.simulation()


def test_maximal_coordinates_are_solved_by_themselves():
    model = saltus.load("double_pendulum")
    equations = saltus.derive(model, "maximal")
    with pytest.raises(OptionError, match="maximal coordinates have constraints"):
        equations.simulation()
    own, sets = saltus.derive(model), dict(inputs={"tau2": lambda t: 5 * np.sin(t)}, rtol=1e-12)
    time, q, v = equations.solve(1.0, *equations.from_joint([1.0, -0.5], [0.3, 0.2]), **sets)
    _, qpos, qvel = own.solve(1.0, [1.0, -0.5], [0.3, 0.2], **sets)
    assert len(time) == 61 and time[-1] == pytest.approx(1.0)
    found = [equations.to_joint(*state) for state in zip(q, v, strict=True)]
    np.testing.assert_allclose([x for x, _ in found], qpos, atol=1e-9)
    np.testing.assert_allclose([x for _, x in found], qvel, atol=1e-9)


@pytest.mark.parametrize("alpha", [2.0, 7.0])
def test_what_has_drifted_is_drawn_back(alpha):
    """With β = α the constraints obey (d/dt + α)² Φ = 0: of Φ from rest (1 + α t) e^(-α t) is left."""
    equations = saltus.derive("pendulum", "maximal")
    constraints = function(routine(equations, ["constraints"]))
    q, v = equations.from_joint([1.0], [0.0])
    q[0] += 1e-3
    _, places, rates = equations.solve(1.0, q, v, stabilisation=(alpha, alpha), rtol=1e-11)
    left = (1 + alpha) * np.exp(-alpha)
    np.testing.assert_allclose(constraints(places[-1], rates[-1]), [1e-3 * left, 0.0], atol=1e-9)


def test_a_start_off_the_constraints_is_refused():
    """A bob that is moved along x leaves its anchor; one that moves on as it stands still turns it, too."""
    equations = saltus.derive("pendulum", "maximal")
    q, v = equations.from_joint([1.0], [0.5])
    off, leaving = q.copy(), v.copy()
    off[0] += 0.1
    leaving[0] += 0.1
    with pytest.raises(OptionError, match=r"constraint '.*anchor', it is off by 0.1; from_joint .* stabilisation"):
        equations.solve(0.1, off, v)
    with pytest.raises(OptionError, match=r"the rate of the constraint '.*anchor', it is off by 0.1"):
        equations.solve(0.1, q, leaving)
    assert equations.solve(0.1, q, v)[0][-1] == pytest.approx(0.1)


def test_accelerations_and_multipliers():
    """The rod pulls with m l ω² + m g cos θ."""
    equations = saltus.derive("pendulum", "maximal")
    q, v = equations.from_joint([0.4], [1.5])
    (i,) = (k for k, symbol in enumerate(equations.q) if str(symbol).startswith("z_"))
    (a,) = saltus.derive("pendulum").acceleration([0.4], [1.5], {"tau": 3.0})
    assert a == pytest.approx((-2 * 9.81 * 2 * np.sin(0.4) + 3.0) / 8, rel=1e-12)
    pull = np.array(equations.jacobian.T.subs(dict(zip(equations.q, q, strict=True))), float)
    force = pull @ equations.multipliers(q, v)
    along = np.array([-np.sin(0.4), np.cos(0.4)])  # x and z, towards the hinge
    assert i == 1 and force[:2] @ along == pytest.approx(2 * 2 * 1.5**2 + 2 * 9.81 * np.cos(0.4), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda e: e.acceleration([0.0, 0.0], [0.0, 0.0], {"tau9": 1.0}), "unknown input 'tau9'.*tau1"),
        (lambda e: e.acceleration([0.0, 0.0], [0.0, 0.0], parameters={"m": 1.0}), "unknown parameter 'm'"),
        (lambda e: e.solve(1.0, [0.0], [0.0]), "2 coordinates q and 2 velocities v, got 1 and 1"),
        (lambda e: e.acceleration([0.0, 0.0], [0.0]), "2 coordinates q and 2 velocities v, got 2 and 1"),
        (lambda e: e.multipliers([0.0, "x"], [0.0, 0.0]), "q must be numbers"),
        (lambda e: e.simplify(-1.0), "limit of simplification must be positive"),
        (lambda e: e.python(target="java"), "unknown target 'java'"),
    ],
)
def test_errors(equations, call, text):
    with pytest.raises(OptionError, match=text):
        call(equations)
