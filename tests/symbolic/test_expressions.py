"""Normal forms: an expression keeps its value, and what is equal on paper becomes equal, or zero."""

import math

import numpy as np
import pytest
import symengine
import sympy
from symengine import Rational, cos, sin

import saltus
from saltus.symbolic.expressions import (
    add,
    cross,
    dot,
    exact,
    on_unit_sphere,
    parsed,
    scale,
    sub,
    sum_of_products,
    sum_over_angles,
    to_symengine,
    to_sympy,
    vector,
    written_out,
)

X, Y, Z, W = symengine.symbols("x y z w")


def test_floats_become_the_numbers_that_were_meant():
    assert exact(0.25) == Rational(1, 4) and exact(9.81) == Rational(981, 100) and exact(1 / 12) == Rational(1, 12)
    assert exact(math.sqrt(0.5)) == symengine.sqrt(2) / 2
    assert vector([0.5, 0.0, -2.0]) == (Rational(1, 2), 0, -2)


def test_vectors():
    a, b = (X, Y, Z), (1, 2, 3)
    assert add(a, b) == (X + 1, Y + 2, Z + 3) and sub(a, b) == (X - 1, Y - 2, Z - 3) and scale(2, b) == (2, 4, 6)
    assert dot(a, b) == X + 2 * Y + 3 * Z
    assert cross((1, 0, 0), (0, 1, 0)) == (0, 0, 1)
    assert [symengine.expand(x) for x in (dot(a, cross(a, b)), dot(b, cross(a, b)))] == [0, 0]
    assert sum_of_products([(X, 2), (Y, 0), (0, Z)]) == 2 * X


@pytest.mark.parametrize(
    "expression, expected",
    [
        (sin(X) ** 2 + cos(X) ** 2, 1),
        (cos(X) * cos(Y) + sin(X) * sin(Y), cos(X - Y)),
        (sin(X) * cos(Y) + cos(X) * sin(Y), sin(X + Y)),
        (2 * sin(X) * cos(X), sin(2 * X)),
        ((cos(X) ** 2 + sin(X) ** 2) ** 3 * W, W),
        (cos(X + Y) * cos(X) + sin(X + Y) * sin(X), cos(Y)),
        (W * Z + 3, W * Z + 3),
    ],
)
def test_products_of_sines_and_cosines_become_sums(expression, expected):
    assert symengine.expand(sum_over_angles(expression) - expected) == 0


def test_sums_over_angles_keep_their_value():
    rng = np.random.default_rng(0)
    for _ in range(5):
        expression = sum(
            symengine.Integer(int(rng.integers(-5, 6))) * W**i * sin(X + 2 * Y) ** j * cos(Y) ** k * sin(Z) ** l
            for i, j, k, l in rng.integers(0, 4, (6, 4)).tolist()
        )
        values = dict(zip((X, Y, Z, W), rng.normal(size=4), strict=True))
        found = float(symengine.sympify(sum_over_angles(expression)).subs(values))
        assert found == pytest.approx(float(symengine.sympify(expression).subs(values)), rel=1e-11, abs=1e-11)


def test_unit_quaternions():
    """w² gives way to 1 - x² - y² - z²: what is equal on the sphere, and only that, becomes the same."""
    q = [(W, X, Y, Z)]
    assert on_unit_sphere(W**2 + X**2 + Y**2 + Z**2, q) == 1
    assert on_unit_sphere((W**2 + X**2 + Y**2 + Z**2) ** 2 * W - W, q) == 0
    assert on_unit_sphere(W**3 * X, q) == symengine.expand(W * X * (1 - X**2 - Y**2 - Z**2))
    assert on_unit_sphere(W * X + Y, q) == W * X + Y


def test_terms_are_counted_without_writing_them_out():
    expression = (X + Y + 1) ** 3 * (X - Z) + W
    assert written_out(expression) == 27 * 2 + 1 >= len(symengine.expand(expression).args)
    assert written_out(X) == written_out(sin(X + Y)) == 1


def test_libraries():
    x = sympy.Symbol("x")
    assert to_sympy(X / 3) == x / 3 and to_symengine(x / 3) == X / 3


def test_text_is_parsed_with_every_name_a_symbol():
    """Also names that SymPy has a meaning for: beta, gamma, I, S."""
    names = {s.name for s in parsed("beta + gamma*I + S").free_symbols}
    assert names == {"beta", "gamma", "I", "S"}
    assert parsed("0.1*m") == sympy.Rational(1, 10) * sympy.Symbol("m")
    for bad in ("m +", "1 2", "(", "import os"):
        with pytest.raises(saltus.OptionError, match="is neither a number nor an expression"):
            parsed(bad)
