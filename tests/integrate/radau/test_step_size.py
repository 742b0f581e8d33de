"""Step sizes of Radau IIA after trial steps. Reference: the rules of Hairer & Wanner, Solving ODEs II, IV.8, by number.

The next step is h times the safety factor 0.9 (2 n + 1)/(2 n + i) after i of n Newton iterations, times error^(-1/4). A
step without convergence is repeated with a new matrix, and at half its length if the matrix was new.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain

from saltus.integrate.adaptive.memory import ERROR_BEFORE, REJECTED, STEP, TAKEN
from saltus.integrate.radau import step_size
from saltus.integrate.radau.memory import ITERATIONS, LENGTH_BEFORE, PLACES, RATE, REFUSED, SLOPES
from saltus.integrate.radau.newton import FAILED, MOST

H = 0.01


def after(iterations, error, good, slopes=1.0, refused=0.0, rate=0.0):
    """Memory after a first trial step; `refused`: 1 after others that were rejected."""
    d = SimpleNamespace(time=np.float64(1.0), memory=np.zeros(PLACES))
    d.memory[[ITERATIONS, RATE, STEP, SLOPES, REFUSED]] = iterations, rate, H, slopes, refused
    live = np.bool_(True)
    plain(step_size.control_step_size)(None, d, np.float64(H), np.float64(error), live, np.bool_(good))
    return d.memory


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_a_rejected_step_is_shortened_whatever_its_iterations(iterations):
    memory = after(iterations, 16.0, False)
    safety = step_size.SAFETY * (2 * MOST + 1) / (2 * MOST + iterations)
    # a first step is shortened to a tenth at least
    assert memory[STEP] == pytest.approx(H * min(0.1, safety * 0.5))
    assert (memory[TAKEN], memory[REJECTED], memory[REFUSED]) == (0, 1, 1)


@pytest.mark.parametrize(("slopes", "step", "rejected", "left"), [(1.0, H, 0, 0.0), (2.0, 0.5 * H, 1, 2.0)])
def test_a_step_without_convergence_is_repeated(slopes, step, rejected, left):
    memory = after(FAILED, 1e300, False, slopes)
    assert (memory[STEP], memory[REJECTED], memory[SLOPES]) == (step, rejected, left)


@pytest.mark.parametrize("iterations", [1, 3])
def test_an_accepted_step_is_remembered(iterations):
    memory = after(iterations, 1 / 81, True)
    safety = step_size.SAFETY * (2 * MOST + 1) / (2 * MOST + iterations)
    assert memory[STEP] == pytest.approx(H * min(step_size.GROW, 3 * safety))
    assert (memory[TAKEN], memory[REJECTED], memory[REFUSED]) == (1, 0, 0)
    assert memory[LENGTH_BEFORE] == H
    assert memory[ERROR_BEFORE] == pytest.approx(1 / 81)


@pytest.mark.parametrize(("error", "factor"), [(1 / 81, 1.0), (1.0, step_size.SAFETY)])
def test_steps_do_not_grow_after_a_rejection(error, factor):
    assert after(1, error, True, refused=1.0)[STEP] == pytest.approx(H * factor, rel=1e-12)


@pytest.mark.parametrize(("iterations", "rate", "left"), [(2, 0.1, 1.0), (3, 1e-4, 1.0), (3, 0.1, 0.0)])
def test_the_matrix_is_computed_anew_after_a_slow_iteration(iterations, rate, left):
    """Kept where few iterations were needed, or where each reduced the change to a thousandth."""
    assert after(iterations, 1.0, True, rate=rate)[SLOPES] == left
