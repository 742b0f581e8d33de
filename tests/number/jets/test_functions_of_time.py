"""Jets carry exact first and second derivatives: against SymPy's derivatives of the same functions.

Errors are those of rounding of a few operations: 1e-13, relative to 1 and to the value.
"""

import math

import numpy as np
import pytest
import sympy
from numba import njit
from numba.core.errors import NumbaError

from saltus.number.jets.functions_of_time import joint_numbers, pose_numbers
from saltus.number.jets.jet import jet_at

T = sympy.Symbol("t", positive=True)
AT = 0.7
CASES = [
    (
        lambda t: 0.3 * math.sin(5 * t) - math.cos(t) / (1 + t) ** 2,
        0.3 * sympy.sin(5 * T) - sympy.cos(T) / (1 + T) ** 2,
    ),
    (lambda t: np.exp(-t) * np.tan(t) + t**t - 2.0**t, sympy.exp(-T) * sympy.tan(T) + T**T - 2**T),
    (
        lambda t: math.atan2(t, 2 + t * t) * math.hypot(t, 1.0) + np.arctan(t),
        sympy.atan(T / (2 + T**2)) * sympy.sqrt(T**2 + 1) + sympy.atan(T),
    ),
    (
        lambda t: np.sqrt(t + 1) + np.log(t + 2) * math.tanh(t) + np.arcsin(t / 2) + math.acos(t / 3) + t**2.5,
        sympy.sqrt(T + 1)
        + sympy.log(T + 2) * sympy.tanh(T)
        + sympy.asin(T / 2)
        + sympy.acos(T / 3)
        + T ** sympy.Rational(5, 2),
    ),
    (
        lambda t: math.sinh(t) * np.cosh(t) + math.log1p(t) - math.expm1(t) + np.square(t) + abs(-t),
        sympy.sinh(T) * sympy.cosh(T) + sympy.log(1 + T) - sympy.exp(T) + 1 + T**2 + T,
    ),
    (lambda t: t % 0.3 + min(t, 3.0) * max(0.2, t) + math.floor(t) + t // 0.2, T - 0.6 + T**2 + 3),
]


def jet_of(function):
    law = njit(function)
    return njit(lambda t: joint_numbers(law(jet_at(t))))


@pytest.mark.parametrize(("function", "formula"), CASES)
def test_derivatives_are_exact(function, formula):
    found = jet_of(function)(AT)
    exact = [float(sympy.diff(formula, T, n).subs(T, AT).evalf(30)) for n in range(3)]
    np.testing.assert_allclose(found, exact, rtol=1e-13, atol=1e-13)


def test_powers_at_zero_have_finite_derivatives():
    assert jet_of(lambda t: t + t**2 + t**1)(0.0) == (0.0, 2.0, 2.0)


def ramp(t):
    if t < 1.0:
        return 0
    total = 0.0
    for c in (1.0, -2.0, 3.0):  # t² - 2t + 3
        total = total * t + c
    return total


@pytest.mark.parametrize(("time", "exact"), [(0.5, (0, 0, 0)), (2.0, (3.0, 2.0, 2.0))])
def test_branches_and_loops(time, exact):
    assert jet_of(ramp)(time) == exact


def test_a_pose_without_an_orientation_says_so():
    law = njit(lambda t: (0, 0.0, t * t))
    numbers = njit(lambda t: pose_numbers(law(jet_at(t))))(3.0)
    assert numbers[0] == 0.0 and (numbers[3], numbers[10], numbers[17]) == (9.0, 6.0, 2.0)


def test_what_would_lose_derivatives_does_not_compile():
    with pytest.raises(NumbaError):
        jet_of(lambda t: float(t))(AT)
