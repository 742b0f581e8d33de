"""The first step size. Reference: Hairer, Nørsett & Wanner, Solving ODEs I (1993), II.4, by number."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain

from saltus.integrate.adaptive.first_step import first_step_size
from saltus.integrate.adaptive.memory import ERROR_BEFORE, PLACES, STEP


def first(velocity, acceleration, known=0.0):
    """The memory after the choice."""
    d = SimpleNamespace(time=np.float64(2.0), qvel=np.array(velocity), qacc=np.array(acceleration))
    d.memory = np.zeros(PLACES)
    d.memory[[STEP, ERROR_BEFORE]] = known, 0.5
    plain(first_step_size)(SimpleNamespace(nv=len(velocity)), d)
    return d.memory


@pytest.mark.parametrize(
    ("velocity", "acceleration", "step"),
    [
        ([0.1, -4.0], [1.0, -2.0], 0.01 / 4.0),  # 1 / v
        ([0.1, -0.4], [1.0, -20.0], 0.01 * 0.4 / 20.0),  # v / a
        ([0.0, 0.0], [3.0, -10.0], 0.01 * 1e-3 / 10.0),  # from rest
        ([0.0, 1e-4], [0.0, 1e-7], 1.0),  # at most 1 s
    ],
)
def test_a_hundredth_of_the_time_in_which_the_state_changes(velocity, acceleration, step):
    memory = first(velocity, acceleration)
    assert memory[STEP] == pytest.approx(step, rel=1e-12)
    assert memory[ERROR_BEFORE] == 1e-4


def test_a_known_step_stays():
    memory = first([0.1, -4.0], [1.0, -2.0], known=0.3)
    assert (memory[STEP], memory[ERROR_BEFORE]) == (0.3, 0.5)
