"""Simplification: what comes out equals what went in, and the limit is kept.

sin² + cos² = 1 is the reference; equality of the equations is proved by SymPy's `simplify` of the difference.
"""

import pytest
import sympy

import saltus
from saltus.errors import SaltusWarning
from saltus.symbolic.expressions import to_symengine
from saltus.symbolic.simplify import simplified


def test_what_cancels_on_paper():
    x, y = sympy.symbols("x y")
    given = [to_symengine(sympy.sin(x) ** 2 + sympy.cos(x) ** 2), to_symengine(x + y)]
    out, done, seconds = simplified(given, 120.0)
    assert (out, done) == ([1, given[1]], 2) and 0 < seconds < 120


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_greek_letters_on_every_system(monkeypatch, encoding):
    """Windows writes to pipes in an encoding that has none."""
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    theta = sympy.Symbol("θ")
    out, done, _ = simplified([to_symengine(sympy.sin(theta) ** 2 + sympy.cos(theta) ** 2 + theta)], 120.0)
    assert (out, done) == ([to_symengine(1 + theta)], 1)


def test_equations_stay_equal():
    before = saltus.derive("double_pendulum")
    after = before.simplify(120.0)
    assert after.timings["simplify"] > 0 and "simplify" not in before.timings
    for a, b in ((before.M, after.M), (before.bias, after.bias)):
        assert sympy.simplify(a - b) == sympy.zeros(*a.shape)
    assert sympy.count_ops(after.bias) <= sympy.count_ops(before.bias)


def test_the_limit_is_kept():
    equations = saltus.derive(saltus.n_link(3))
    with pytest.warns(SaltusWarning, match=r"simplified \d of 9 expressions of n_link_3 in 0.1 s"):
        same = equations.simplify(0.1)
    assert same.M == equations.M
