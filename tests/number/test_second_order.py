"""Numbers with all their first and second derivatives.

Reference: SymPy's derivatives of the same expressions, to rounding.
"""

import math

import numpy as np
import pytest
import sympy

from saltus.number.functions import absolute, atan2, exp, floor, power, sincos, sqrt, where
from saltus.number.second_order import SecondOrder, seeds

AT = (0.7, 1.3, -0.4)
EXPRESSIONS = {
    "rational": lambda x, y, z: (x - 2 * y * z + 3) / (y + x * x) - 1 / z + x / 4,
    "roots and powers": lambda x, y, z: sqrt(x * y + 2) * power(x + y, 1.7) - exp(z * x) + (x + 1) ** 3,
    "circular": lambda x, y, z: sincos(x * y)[0] * sincos(z - x)[1] + 2 - z,
    "angles": lambda x, y, z: atan2(x * z, y) + atan2(-y, z * x) + atan2(2.0, x) + atan2(z, 0.3),
    "selected": lambda x, y, z: where(x < y, x * z, y) + where(z >= 0.5, x, y * y) + absolute(z) * absolute(x) * y,
    "negative": lambda x, y, z: -(x * x) * (1 - y) + 0.0 * z,
}
WANTED = dict(EXPRESSIONS) | {"selected": lambda x, y, z: x * z + y * y - z * x * y}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_derivatives_are_sympys(name):
    found = EXPRESSIONS[name](*seeds(AT, 0, 3))
    symbols = sympy.symbols("x y z", real=True)
    wanted = WANTED[name](*symbols)
    at = dict(zip(symbols, AT, strict=True))
    gradient = [float(sympy.diff(wanted, s).subs(at)) for s in symbols]
    second = [[float(sympy.diff(wanted, s, t).subs(at)) for t in symbols] for s in symbols]
    assert found.value == pytest.approx(float(wanted.subs(at)), rel=1e-14)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.second, second, rtol=1e-12, atol=1e-13)


def test_comparisons_look_at_values():
    x, y, _ = seeds(AT, 0, 3)
    assert x < y and x <= y and y > x and y >= x and x != y and x == 0.7 and x > 0 and bool(x)
    assert floor(y) == 1.0 and int(y) == 1 and "1.3" in repr(y)


def test_a_kink_has_no_derivatives_unless_it_is_left_out():
    (zero,) = seeds([0.0], 0, 1)
    for kink in (sqrt(zero), absolute(zero), 1.0 / zero):
        assert np.isnan(kink.second).all()
        assert kink * 0.0 == 0.0


def test_functions_that_would_lose_derivatives_are_refused():
    (x,) = seeds([0.3], 0, 1)
    assert isinstance(x, SecondOrder)
    with pytest.raises(TypeError):
        math.sin(x)
