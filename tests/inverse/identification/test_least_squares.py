"""The search for values of greatest likelihood.

Reference: SciPy's `curve_fit`, to which the same curves are given; with one channel, the greatest likelihood is the
least sum of squares. Predictions are closed forms here, so that runs can be counted.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import curve_fit

from saltus.errors import OptionError
from saltus.inverse.identification.least_squares import Problem
from saltus.inverse.identification.prediction import Predicted
from saltus.inverse.identification.recorded_motion import RecordedMotion, Window
from saltus.inverse.identification.uncertainty import known

TIME = np.linspace(0.0, 3.0, 61)
LOW, HIGH = np.array([0.1, 0.1]), np.array([5.0, 5.0])


def decay(t, a, b):
    return a * np.exp(-b * t)


def kinked(t, a, b):
    """A path that friction stops at t = b."""
    return a * np.minimum(t, b)


class Curves:
    """A predictor of one channel by a closed form, with slopes by central differences; counts what is run."""

    def __init__(self, curve, refused=np.inf):
        self.curve, self.refused, self.runs, self.largest = curve, refused, 0, 0.0
        self.model, self.channels = SimpleNamespace(nv=1), np.array([0])
        self.sensors = SimpleNamespace(columns=np.zeros(0, int))

    def begun(self, window, start, values, by_start, by_parameters):
        self.runs, self.largest = self.runs + 1, max(self.largest, values[1])
        if values[1] > self.refused:
            raise OptionError("no derivative here")
        found = self.curve(TIME, *values)
        residual = (window.motion.qpos[:, 0] - found)[:, None]
        return SimpleNamespace(values=values, residual=residual) if np.isfinite(found).all() else None

    def completed(self, begun):
        h = 1e-6 * np.eye(2)
        ends = [[self.curve(TIME, *(begun.values + s * step)) for s in (1, -1)] for step in h]
        slopes = np.stack([(a - b) / 2e-6 for a, b in ends], axis=-1)
        return Predicted(begun.residual, np.zeros((len(TIME), 1, 0)), slopes[:, None])


def problem_of(curve, data, **options):
    motion = RecordedMotion(TIME, data[:, None], None, np.zeros((len(TIME), 0)), np.zeros((len(TIME), 0)))
    return Problem(Curves(curve, **options), [Window(motion, 0, len(TIME) - 1, 0)], LOW, HIGH, False)


def searched(problem, first, iterations=50):
    return problem.search(problem.begin(np.array(first), [(0, 0, 0)]), iterations)


@pytest.mark.parametrize("first", [(1.0, 1.0), (4.5, 4.5), (0.2, 4.0)])
def test_values_and_covariance_are_those_of_curve_fit(first):
    """Values to the gain of likelihood, 1e-6, at which a search ends: 0.002 deviations; covariance to as much."""
    data = decay(TIME, 2.0, 0.7) + 0.02 * np.random.default_rng(1).normal(size=TIME.shape)
    values, covariance = curve_fit(decay, TIME, data, p0=(2, 1))
    fit, linear, converged, _ = searched(problem_of(decay, data), first)
    assert converged
    assert (abs(fit.values - values) < 2e-3 * np.sqrt(np.diag(covariance))).all()
    own, _ = known(linear.R, HIGH - LOW, 1 - 2 / len(TIME), "ab")
    np.testing.assert_allclose(own, covariance, rtol=1e-4)


def test_an_iteration_is_one_run():
    """From near the values no step is refused: a run for the start and one for each iteration, none for the slopes."""
    data = decay(TIME, 2.0, 0.7) + 0.02 * np.random.default_rng(1).normal(size=TIME.shape)
    problem = problem_of(decay, data)
    _, _, converged, done = searched(problem, (1.9, 0.75))
    assert converged and problem.predictor.runs == 1 + done <= 5


def test_a_search_over_kinks_ends():
    """Where a path stops, slopes jump from sample to sample; the fit is as good as that of a fine grid of values."""
    data = kinked(TIME, 1.5, 1.02) + 0.02 * np.random.default_rng(2).normal(size=TIME.shape)
    fit, _, converged, done = searched(problem_of(kinked, data), (1.3, 1.3))
    grid = [(a, b) for a in np.linspace(1.45, 1.55, 201) for b in np.linspace(0.97, 1.07, 201)]
    least = min(((kinked(TIME, a, b) - data) ** 2).sum() for a, b in grid)
    assert converged and done < 30
    assert (fit.residuals[0] ** 2).sum() <= least * (1 + 1e-4)


def test_it_says_when_iterations_do_not_suffice():
    data = decay(TIME, 2.0, 0.7)
    assert not searched(problem_of(decay, data), (4.5, 4.5), iterations=2)[2]


def test_a_trial_without_derivatives_is_a_step_too_far():
    """From (0.2, 0.2) full steps go beyond b = 0.8; shorter ones reach the values, unless these are beyond it."""
    data = decay(TIME, 2.0, 0.7)
    free = problem_of(decay, data)
    searched(free, (0.2, 0.2))
    assert free.predictor.largest > 0.8
    fit, _, converged, _ = searched(problem_of(decay, data, refused=0.8), (0.2, 0.2))
    assert converged and fit.values == pytest.approx([2.0, 0.7], rel=1e-6)
    with pytest.raises(OptionError, match="no derivative here"):
        searched(problem_of(decay, data, refused=0.5), (1.0, 0.3))
