"""First-order systems under the methods that suit them: fitted orders are the declared ones, closed forms are met.

Law: y' = -y has y = e^-t; the linear centre x' = w, w' = -x turns by t. Sources: Hairer, Nørsett & Wanner, Solving
Ordinary Differential Equations I (1993).

Tolerance: 0.2 around the declared order, fitted by halving steps; of the adaptive method twenty times its tolerance,
since the errors of some dozens of steps add up.
"""

import numba
import numpy as np
import pytest

import saltus
from saltus.simulate.ode import methods

FIXED = {"explicit_euler": 1, "midpoint": 2, "heun": 2, "rk4": 4, "implicit_euler": 1, "implicit_midpoint": 2}
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


def decay(t, y):
    return -y


def centre(t, y):
    return TURN @ y


def forced(t, y):
    """Whose solution from 0 is sin t, so that times count."""
    return np.cos(t) + 0.0 * y


def turned(t, y0):
    return np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]) @ y0


PROBLEMS = {
    "decay": (decay, [1.0], np.array([np.exp(-2.0)])),
    "centre": (centre, [1.0, 0.5], turned(2.0, [1.0, 0.5])),
    "forced": (forced, [0.0], np.array([np.sin(2.0)])),
}


def fitted_order(f, y0, exact, method):
    steps = 2.0 / np.array([20, 40, 80])
    errors = [abs(saltus.integrate_ode(f, y0, 2.0, method, step=h).y[-1] - exact).max() for h in steps]
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("method", FIXED)
def test_the_fitted_order_is_the_declared_one(method, problem):
    f, y0, exact = PROBLEMS[problem]
    found = saltus.integrate_ode(f, y0, 2.0, method, step=0.1)
    assert (found.method, found.order, found.status) == (method, FIXED[method], "done")
    assert fitted_order(f, y0, exact, method) == pytest.approx(FIXED[method], abs=0.2)


def test_unconverged_steps_are_said():
    """A slope that jumps has no solution of implicit Euler's equation where the jump stands against the motion."""
    with pytest.warns(saltus.SaltusWarning, match="implicit_euler: Newton's method did not solve .* 1 of 1 steps"):
        found = saltus.integrate_ode(lambda t, y: -np.copysign(1.0, y), 0.5, 1.0, "implicit_euler", step=1.0)
    assert found.status == "unconverged" and found.unconverged == 1


def test_every_method_is_tested():
    assert set(methods()) == {*FIXED, "dopri5"}


def test_a_tableau_is_a_method():
    ralston = saltus.ButcherTableau([[0, 0], ["2/3", 0]], ["1/4", "3/4"], name="ralston")
    assert fitted_order(*PROBLEMS["centre"], ralston) == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_dopri5_keeps_its_tolerance(tolerance):
    found = saltus.integrate_ode(centre, [1.0, 0.5], (0.0, 10.0), "dopri5", tolerance=(tolerance, tolerance))
    exact = np.array([turned(t, [1.0, 0.5]) for t in found.t])
    assert abs(found.y - exact).max() < 20 * tolerance
    assert found.t[-1] == 10.0 and found.steps == len(found.t) - 1 and found.order == 5
    assert found.error is not None and found.error.shape == found.y.shape
    assert abs(found.y[-1] - exact[-1]).max() < found.error[-1].max() < tolerance * found.steps


def test_dense_output_is_as_true_as_steps_are():
    times = np.linspace(0.0, 10.0, 301)
    dense = saltus.integrate_ode(centre, [1.0, 0.5], times, "dopri5", tolerance=(1e-8, 1e-8))
    assert dense.steps < 150  # samples lie within steps
    np.testing.assert_array_equal(dense.t, times)
    assert abs(dense.y - [turned(t, [1.0, 0.5]) for t in times]).max() < 1e-6  # of fourth order, one below the steps


def test_samples_of_fixed_steps_are_at_their_times():
    times = np.array([1.0, 1.25, 2.03])
    found = saltus.integrate_ode(decay, 1.0, times, "rk4", step=0.1)
    np.testing.assert_array_equal(found.t, times)
    np.testing.assert_allclose(found.y[:, 0], np.exp(1.0 - times), rtol=1e-6)
    assert found.steps == 3 + 8


def test_implicit_methods_stand_what_is_stiff():
    """λ h = -1000: explicit Euler multiplies by 999 a step, the implicit one divides by 1001."""
    stiff = lambda t, y: -1e4 * y  # noqa: E731
    found = saltus.integrate_ode(stiff, [1.0], 1.0, "implicit_euler", step=0.1)
    np.testing.assert_allclose(found.y[1:4, 0], 1001.0 ** -np.arange(1.0, 4.0), rtol=1e-6)
    midpoint = saltus.integrate_ode(centre, [1.0, 0.0], 100.0, "implicit_midpoint", step=0.1)
    np.testing.assert_allclose(np.linalg.norm(midpoint.y, axis=1), 1.0, rtol=1e-11)  # it keeps quadratic invariants


@pytest.mark.slow
@pytest.mark.parametrize("method", ["explicit_euler", "rk4", "dopri5", "implicit_midpoint"])
def test_a_compiled_function_gives_the_same(method):
    compiled = numba.njit(lambda t, y, a, b: -a * y + b * t)
    plain = saltus.integrate_ode(compiled.py_func, [1.0, 2.0], 1.0, method, params=(2.0, 3))
    found = saltus.integrate_ode(compiled, [1.0, 2.0], 1.0, method, params=(2.0, 3))
    np.testing.assert_allclose(found.y, plain.y, rtol=1e-13)
    assert abs(found.y[-1] - plain.y[0]).max() > 0.1


@pytest.mark.parametrize("name", ["euler", "verlet", "velocity_verlet", "implicitfast", "moreau_jean", "discrete"])
def test_methods_of_mechanisms_are_refused_by_name(name):
    with pytest.raises(saltus.OptionError, match=rf"{name} treats positions and velocities.*explicit_euler.*rk4"):
        saltus.integrate_ode(decay, [1.0], 1.0, name)


def test_a_bad_slope_is_named_with_its_time():
    with pytest.raises(saltus.OptionError, match=r"f must give 2 numbers, gave shape \[3\] at t = 0"):
        saltus.integrate_ode(lambda t, y: np.zeros(3), [1.0, 2.0], 1.0)
    with pytest.raises(saltus.OptionError, match="f must give 1 numbers, gave None at t = 0"):
        saltus.integrate_ode(lambda t, y: None, 1.0, 1.0)
    late = lambda t, y: y * (np.nan if t > 0.5 else 1.0)  # noqa: E731
    for method in (*FIXED, "dopri5"):
        with pytest.raises(saltus.DivergenceError, match="f is not finite") as caught:
            saltus.integrate_ode(late, [1.0], 1.0, method)
        assert 0.5 < caught.value.time < 1.0


@pytest.mark.slow
def test_a_solution_that_grows_beyond_all_measure_is_named_with_its_time():
    """y' = y² ends at t = 1."""
    with pytest.raises(saltus.DivergenceError, match="no step is small enough") as caught:
        saltus.integrate_ode(lambda t, y: y * y, [1.0], 2.0, "dopri5")
    assert caught.value.time == pytest.approx(1.0, abs=1e-6)
    squared = numba.njit(lambda t, y: y * y)
    with pytest.raises(saltus.DivergenceError, match="y is not finite"):
        saltus.integrate_ode(squared, [1.0], 2.0, "rk4")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (dict(method="rk5"), "unknown method 'rk5'"),
        (dict(step=0), "step must be positive"),
        (dict(step=1e-9), "steps, more than"),
        (dict(t=[0, 1, 1]), "t must ascend"),
        (dict(t=-1), "t must be after 0"),
        (dict(y0=[]), "y0 must have shape"),
        (dict(y0=[np.nan]), "y0 must be finite"),
        (dict(f=3), "f must be a function"),
        (dict(method="dopri5", tolerance=(0, 1)), "tolerance must be two numbers"),
    ],
)
def test_what_cannot_be_used_is_named(arguments, says):
    with pytest.raises(saltus.OptionError, match=says):
        saltus.integrate_ode(**dict(f=decay, y0=[1.0], t=1.0) | arguments)


PULSE = (5.0, 5.1)


def pulse(t, y):
    """100 between the breaks, which no step of free size would ever see."""
    return np.array([100.0 if PULSE[0] < t < PULSE[1] else 0.0])


@pytest.mark.parametrize("method", ["dopri5", "explicit_euler", "rk4", "implicit_midpoint"])
def test_a_pulse_between_breaks_counts_whole_at_any_step(method):
    """Its integral is 10; f is constant within each step, so that every method is exact to rounding of the times."""
    for ends in (10.0, (0.0, 10.0), (5.0, 5.1)):
        found = saltus.integrate_ode(pulse, [0.0], ends, method, breaks=PULSE)
        assert found.y[-1, 0] == pytest.approx(10.0, abs=1e-10)
    assert saltus.integrate_ode(numba.njit(pulse), [0.0], 10.0, "rk4", breaks=PULSE).y[-1] == pytest.approx(10.0)
    # whichever values are wanted
    found = saltus.integrate_ode(pulse, [0.0], [0.0, 4.0, 5.05, 6.0], method, breaks=PULSE)
    np.testing.assert_allclose(found.y[:, 0], [0, 0, 5, 10], atol=1e-10)


def test_a_longest_step_finds_a_pulse():
    """An estimate that takes f for smooth misses a jump by some 100 times: 2 jumps, 1e-8 relative to 10, 100 times."""
    assert saltus.integrate_ode(pulse, [0.0], 10.0, "dopri5").y[-1, 0] == 0.0  # nothing tells the method of it
    found = saltus.integrate_ode(pulse, [0.0], 10.0, "dopri5", max_step=0.05)
    assert found.y[-1, 0] == pytest.approx(10.0, abs=2e-5) and found.steps >= 200


def test_bounds_of_steps_that_are_none_are_refused():
    for bad in ({"max_step": 0.0}, {"max_step": "long"}, {"breaks": [np.nan]}, {"breaks": [1.0, 1.0 + 1e-12]}):
        with pytest.raises(saltus.OptionError, match=next(iter(bad))):
            saltus.integrate_ode(pulse, [0.0], 10.0, "dopri5", **bad)
    with pytest.raises(saltus.OptionError, match=r"max_step: rk4 .* give step, or choose dopri5"):
        saltus.integrate_ode(pulse, [0.0], 10.0, "rk4", max_step=0.1)
