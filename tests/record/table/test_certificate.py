"""The error bar against the true error of the harmonic oscillator.

Law: x'' = -x, x(0) = 1, v(0) = 0 has the solution x = cos t. A method of order p with the steps h, h/2, h/4 gives
differences from which Richardson's extrapolation predicts the error. The bar must hold the true error within a factor
of 1.5, and the observed order must lie within 0.1 of p: the next term of the error expansion is h or h² relative.
"""

import math

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.record import Certificate, certify_from_runs, energy_drift

ORDERS = {"explicit_euler": 1, "euler": 1, "rk4": 4}


def step(method, x, v, h):
    if method == "explicit_euler":
        return x + h * v, v - h * x
    if method == "euler":
        v = v - h * x
        return x + h * v, v
    slopes = []
    for c in (0.0, 0.5, 0.5, 1.0):
        dx, dv = slopes[-1] if slopes else (0.0, 0.0)
        slopes.append((v + c * h * dv, -(x + c * h * dx)))
    dx, dv = ((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*slopes, strict=True))
    return x + h * dx, v + h * dv


def oscillate(method, h, samples, every):
    x, v, rows = 1.0, 0.0, []
    for i in range(samples * every + 1):
        if i % every == 0:
            rows.append((x, v))
        x, v = step(method, x, v, h)
    return np.array(rows)


def three_runs(method, h, samples=40, every=5):
    runs = [oscillate(method, h / 2**k, samples, every * 2**k) for k in range(3)]
    times = h * every * np.arange(samples + 1)
    return times, runs, runs[0] - runs[1], runs[1] - runs[2]


@pytest.mark.parametrize("run", [0, 1, 2])
@pytest.mark.parametrize(("method", "h"), [("explicit_euler", 1e-3), ("euler", 0.01), ("rk4", 0.05)])
def test_error_bar_brackets_the_true_error(method, h, run):
    order = ORDERS[method]
    times, runs, d1, d2 = three_runs(method, h)
    certificate = certify_from_runs(order, times, d1[:, :1], d2[:, :1], timestep=h, run=run)
    truth = np.abs(runs[run][:, 0] - np.cos(times))
    assert certificate.ok
    assert certificate.warnings == []
    assert abs(certificate.observed_order - order) < 0.1
    assert 1 / 1.5 < certificate.largest_error / truth.max() < 1.5
    assert 1 / 1.5 < certificate.final_error / truth[-1] < 1.5
    # sample by sample as well, where the error is not about to change its sign
    large = truth > 0.2 * truth.max()
    assert large.sum() > 10
    assert np.all(np.abs(np.log(certificate.error[large] / truth[large])) < math.log(1.5))


@pytest.mark.parametrize("run", [0, 1, 2])
@pytest.mark.parametrize("h", [0.2, 0.05, 0.01])
@pytest.mark.parametrize("method", ORDERS)
def test_the_bound_holds_the_true_error(method, h, run):
    """At every sample, also where the error passes through zero, and where the order does not show yet."""
    times, runs, d1, d2 = three_runs(method, h)
    certificate = certify_from_runs(ORDERS[method], times, d1, d2, timestep=h, run=run, nv=1)
    assert np.all(np.abs(runs[run][:, 0] - np.cos(times)) <= certificate.bound)
    assert certificate.final_bound == certificate.bound[-1] == certificate.largest_bound


def test_what_all_runs_leave_open_is_part_of_the_bound():
    times, _, d1, d2 = three_runs("rk4", 0.05)
    less, more = (certify_from_runs(4, times, d1, d2, timestep=0.05, nv=1, floor=f) for f in (0.0, 1e-3))
    assert np.all(more.bound >= 1e-3) and np.all(less.bound < 1e-3)
    assert "gaps that count as closed" in more.warnings[0]


def test_runs_whose_steps_meet_at_no_time_count_where_jumps_are_stepped_over():
    """Halves may err alike over an impact, or show an order by chance: at least 3 (4 + 1) 1e-3 and 3 · 1e-2."""
    d = np.full((3, 1), 1e-3)
    near, far = (
        certify_from_runs(2, [0, 1, 2], 4 * d, d, timestep=0.1, run=0, others=[2 * d, other]) for other in (d, 10 * d)
    )
    assert near.ok and near.final_bound == pytest.approx(0.015) and near.largest_error < 0.006
    assert far.largest_error == pytest.approx(0.01) and far.final_bound == pytest.approx(0.03)


def test_rounding_is_said_in_the_place_of_a_number_below_it():
    """Ten units in the last place of 1 m, √400 of them for 400 steps of h/4: 10 · 2.2e-16 · 20."""
    zero = np.zeros((3, 1))
    certificate = certify_from_runs(2, [0.0, 5.0, 10.0], zero, zero, timestep=0.1)
    assert certificate.rounding == certificate.final_bound == pytest.approx(4.44e-14, rel=1e-3)
    assert "below 4e-14 (rounding) at the end" in str(certificate) and "bound 4.5e-14" in str(certificate)


def test_one_difference_within_rounding_beside_a_large_one_is_no_order():
    large = np.full((3, 1), 1e-3)
    certificate = certify_from_runs(2, [0.0, 1.0, 2.0], large, 1e-16 * large, timestep=0.1)
    assert not certificate.ok and "outside the asymptotic range" in certificate.warnings[0]


def test_fields_say_what_was_compared():
    times, _, d1, d2 = three_runs("euler", 0.01)
    certificate = certify_from_runs(1, times, d1[:, :1], d2[:, :1], timestep=0.01)
    assert certificate.timesteps == (0.01, 0.005, 0.0025)
    assert certificate.timestep == 0.0025
    assert certificate.error.shape == times.shape
    assert certificate.final_error == certificate.error[-1]
    np.testing.assert_allclose(certificate.error, np.abs(d2[:, 0]), rtol=1e-15)
    assert math.isnan(certificate.energy_drift)
    first = certify_from_runs(1, times, d1[:, :1], d2[:, :1], timestep=0.01, run=0)
    assert first.timestep == 0.01
    assert certify_from_runs(1, times, d1[:, :1], d2[:, :1], timestep=0.01, run=1).timestep == 0.005


def test_velocities_count_for_the_order_but_not_for_the_error():
    times, _, d1, d2 = three_runs("rk4", 0.05)
    both = certify_from_runs(4, times, d1, d2, timestep=0.05, nv=1)
    positions = certify_from_runs(4, times, d1[:, :1], d2[:, :1], timestep=0.05)
    np.testing.assert_array_equal(both.error, positions.error)
    assert both.observed_order != positions.observed_order
    assert abs(both.observed_order - 4) < 0.1


def test_largest_of_several_coordinates_makes_the_error():
    d = np.array([[0.0, 0.0], [3e-4, -6e-4]])
    certificate = certify_from_runs(2, [0.0, 1.0], 4 * d, d, timestep=0.1)
    np.testing.assert_allclose(certificate.error, [0.0, 2e-4])


def test_round_off_is_said_and_is_no_failure():
    times, _, d1, d2 = three_runs("rk4", 2e-4, samples=10, every=100)
    certificate = certify_from_runs(4, times, d1, d2, timestep=2e-4, nv=1)
    assert certificate.ok
    assert certificate.warnings == ["differences at round-off; the order cannot be measured"]
    assert math.isnan(certificate.observed_order)
    assert certificate.largest_error < 1e-13
    assert "not measurable" in str(certificate)


def test_identical_runs_are_at_round_off():
    zero = np.zeros((3, 1))
    certificate = certify_from_runs(2, [0.0, 1.0, 2.0], zero, zero, timestep=0.1)
    assert certificate.ok
    assert certificate.final_error == 0.0


def test_a_method_of_lower_order_than_declared_is_found_out():
    times, runs, d1, d2 = three_runs("euler", 0.01)
    certificate = certify_from_runs(4, times, d1[:, :1], d2[:, :1], timestep=0.01)
    assert not certificate.ok
    assert "outside the asymptotic range: observed order 1.0" in certificate.warnings[0]
    # the bar does not trust the declared order: it would be 15 times too small
    truth = np.abs(runs[2][:, 0] - np.cos(times)).max()
    assert 1 / 1.5 < certificate.largest_error / truth < 1.5


def test_too_large_a_step_is_found_out():
    # two and a half radians a step, far from where the order shows
    h = 2.5
    times, _, d1, d2 = three_runs("rk4", h, samples=8, every=1)
    assert not certify_from_runs(4, times, d1, d2, timestep=h, nv=1).ok


def test_order_slightly_off_is_no_warning():
    d = np.ones((3, 1)) * 1e-3
    assert certify_from_runs(2, [0, 1, 2], d * 2**1.6, d, timestep=0.1).ok
    assert not certify_from_runs(2, [0, 1, 2], d * 2**1.4, d, timestep=0.1).ok
    assert not certify_from_runs(2, [0, 1, 2], d * 2**2.6, d, timestep=0.1).ok


@pytest.mark.parametrize("first", [1e-3, 0.9e-3, 0.0])
def test_differences_that_do_not_shrink_are_found_out(first):
    d = np.ones((3, 1))
    certificate = certify_from_runs(2, [0, 1, 2], first * d, 1e-3 * d, timestep=0.1)
    assert not certificate.ok
    assert "do not shrink" in certificate.warnings[0]
    assert np.isinf(certificate.bound).all() and "not bounded" in str(certificate)
    assert certificate.final_error == 1e-3
    assert "warning: " in str(certificate)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_run_that_is_not_finite_gives_no_bar(bad):
    d = np.array([[1e-3], [bad]])
    certificate = certify_from_runs(2, [0, 1], d, np.ones((2, 1)) * 1e-4, timestep=0.1)
    assert not certificate.ok
    assert "not finite" in certificate.warnings[0]


def test_huge_and_tiny_differences_do_not_overflow():
    d = np.ones((3, 1)) * 1e-200
    assert certify_from_runs(2, [0, 1, 2], 4 * d, d, timestep=0.1).ok
    assert certify_from_runs(2, [0, 1, 2], 4e200 * np.ones((3, 1)), 1e200 * np.ones((3, 1)), timestep=0.1).ok
    small = certify_from_runs(2, [0, 1, 2], 4 * d, d, timestep=0.1, scale=1e-220)
    assert abs(small.observed_order - 2) < 1e-12


def test_nothing_to_compare():
    empty = certify_from_runs(2, [], np.empty((0, 1)), np.empty((0, 1)), timestep=0.1)
    assert len(empty.error) == 0
    assert math.isnan(empty.final_error)
    assert "nothing to compare" in str(empty)


def test_statement():
    times, _, d1, d2 = three_runs("rk4", 0.05)
    energy = np.array([[1.0, 0.0], [0.0, 1.001]])
    text = str(certify_from_runs(4, times, d1[:, :1], d2[:, :1], timestep=0.05, energy=energy))
    assert text.startswith("accuracy: position error about ")
    assert "in generalized coordinates (rad, m)" in text
    assert "declared 4" in text
    assert "energy drift 0.001" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"order": 0}, "order"),
        ({"timestep": -0.1}, "timestep"),
        ({"timestep": math.nan}, "timestep"),
        ({"run": 3}, "run"),
        ({"scale": 0.0}, "scale"),
        ({"times": [0.0]}, "times"),
        ({"differences_h_h2": np.zeros((2, 2))}, "differences"),
        ({"differences_h2_h4": np.zeros(2)}, "differences"),
    ],
)
def test_bad_input_is_named(change, name):
    good = {
        "order": 2,
        "times": [0.0, 1.0],
        "differences_h_h2": np.zeros((2, 1)),
        "differences_h2_h4": np.zeros((2, 1)),
        "timestep": 0.1,
    }
    with pytest.raises(OptionError, match=name):
        certify_from_runs(**{**good, **change})


def test_certificate_is_frozen():
    certificate = Certificate(2, 2.0, np.zeros(1), 0.0, 0.0, (0.1, 0.05, 0.025), 0.025)
    with pytest.raises(AttributeError):
        certificate.ok = False  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("zero_of_potential", [0.0, 7.0, -1e3])
def test_energy_drift_is_measured_against_the_energy_in_play(zero_of_potential):
    # a pendulum through its lowest point: 2 J in play, at most 0.1 J off, wherever the potential's zero is
    potential = np.array([2.0, 1.0, 0.0, 1.0]) + zero_of_potential
    kinetic = np.array([0.0, 1.0, 2.1, 0.95])
    assert energy_drift(np.stack([potential, kinetic], 1)) == pytest.approx(0.05)


def test_energy_drift_that_grows_is_not_hidden_by_its_own_growth():
    # explicit Euler: E/E0 = 13 at the end is a drift of 12
    assert energy_drift([[1.0, 0.0], [0.0, 1.5], [2.0, 11.0]]) == pytest.approx(12.0)


def test_energy_drift_from_rest_at_the_bottom():
    # a motor lifts it: all of the energy has come in
    assert energy_drift([[0.0, 0.0], [1.0, 3.0]]) == pytest.approx(4.0 / 3.0)


@pytest.mark.parametrize("energy", [np.empty((0, 2)), [[1.0, np.nan]], [[1.0, 2.0], [np.inf, 0.0]]])
def test_energy_drift_unknown(energy):
    assert math.isnan(energy_drift(energy))


def test_energy_drift_at_rest():
    assert energy_drift([[1.0, 0.0], [1.0, 0.0]]) == 0.0
