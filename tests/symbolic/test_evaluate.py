"""Accelerations, multipliers and motion of derived equations, by themselves.

References: the forces of a pendulum's rod in closed form; equations in other coordinates; how constraints decay.
Tolerance: SciPy's DOP853 at rtol 1e-12, and 1e3 times that.
"""

import pickle

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.symbolic import evaluate
from saltus.symbolic.code import routine
from saltus.symbolic.export import python_code
from saltus.symbolic.export.python_code import function


@pytest.fixture(scope="module", params=["relative", "absolute"])
def equations(request):
    return saltus.derive("double_pendulum", request.param)


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


def test_code_is_made_once(monkeypatch):
    """Whatever is asked of the same equations, with whatever numbers; a copy makes its own and gives the same bits."""
    equations = saltus.derive("double_pendulum", parameters="symbols")
    made = []
    monkeypatch.setattr(evaluate, "function", lambda given: made.append(given) or python_code.function(given))
    first = equations.acceleration([0.3, 0.4], [0.1, 0.2])
    for mass in (1.0, 2.0):
        equations.acceleration([0.3, 0.4], [0.1, 0.2], parameters={str(next(iter(equations.parameters))): mass})
    equations.solve(0.1, [0.3, 0.4], [0.0, 0.0])
    assert len(made) == 1
    again = pickle.loads(pickle.dumps(equations))
    np.testing.assert_array_equal(again.acceleration([0.3, 0.4], [0.1, 0.2]), first)
    assert len(made) == 2


def test_an_inertia_that_is_not_positive_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        evaluate.definite_solve(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2))


def test_the_first_torque_has_two_names():
    """One link or two: tau and tau1 are both the first motor's; giving both is an error."""
    for n in (1, 2):
        e = saltus.derive(saltus.n_link(n))
        state = [0.3] * n, [0.0] * n
        by_one, by_other = (e.acceleration(*state, {name: 2.0}) for name in ("tau", "tau1"))
        assert np.array_equal(by_one, by_other)
        assert not np.allclose(by_one, e.acceleration(*state))
        with pytest.raises(OptionError, match="is given twice"):
            e.acceleration(*state, {"tau": 1.0, "tau1": 1.0})
    with pytest.raises(OptionError, match="tau2"):
        saltus.derive(saltus.n_link(1)).acceleration([0.0], [0.0], {"tau2": 1.0})
