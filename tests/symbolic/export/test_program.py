"""Common subexpressions: exactly the expressions again, counted as by hand, at linear cost.

Exactness: the generated Python is run on symbols, with its numbers as fractions; the difference to the expression must
expand to zero. No tolerance.
"""

import ast
import cProfile
import math
import types

import numpy as np
import pytest
import symengine as se
import sympy as sp
from helpers.routines import arm, arm_routine, mixed, mixed_routine, random_expression

from saltus.symbolic.export.program import Counts, tree_counts
from saltus.symbolic.export.python_code import function, python_source
from saltus.symbolic.export.routine import Routine, counts, counts_written_out


class _Fractions(ast.NodeTransformer):
    def visit_Constant(self, node):
        if not isinstance(node.value, float):
            return node
        call = ast.Call(ast.Name("Rational", ast.Load()), [ast.Constant(repr(node.value))], [])
        return ast.copy_location(call, node)


def on_symbols(routine, *arguments):
    """What the routine's Python gives on symbols."""
    tree = ast.fix_missing_locations(_Fractions().visit(ast.parse(python_source(routine))))
    tree.body = [x for x in tree.body if not isinstance(x, ast.Import | ast.ImportFrom)]
    names = {n: getattr(sp, n) for n in "sin cos tan exp sqrt atan2 Rational".split()}  # noqa: SIM905
    names |= {"np": types.SimpleNamespace(empty=lambda shape: np.empty(shape, object)), "float": lambda x: x}
    exec(compile(tree, "symbols", "exec"), names)
    return names[routine.name](*arguments)


def test_equations_of_motion_exactly():
    q, v, parameters, M, bias = arm()
    got_M, got_bias = on_symbols(arm_routine(), q, v, parameters)
    assert all(sp.expand(a - b) == 0 for a, b in zip(got_M.flat, M, strict=True))
    assert all(sp.expand(a - b) == 0 for a, b in zip(got_bias, bias, strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions_exactly(seed):
    rng = np.random.default_rng(seed)
    symbols = sp.symbols("a b c")
    expressions = [random_expression(rng, symbols, 9) for _ in range(3)]
    got = on_symbols(Routine("f", {"q": symbols}, {"r": expressions}), symbols)
    point = {s: sp.Rational(k, 7) for s, k in zip(symbols, (2, 3, 5), strict=True)}
    for a, b in zip(got, expressions, strict=True):
        difference = a - b
        assert sp.expand(difference) == 0 or sp.simplify(difference) == 0 or abs(difference.subs(point).n(60)) < 1e-50


def test_every_operation_exactly():
    symbols, expressions = mixed()
    kept = [e for e in expressions if not e.has(sp.Piecewise, sp.Max, sp.Min, sp.Abs, sp.sign, sp.pi, sp.E)]
    assert len(kept) > 8
    got = on_symbols(mixed_routine(expressions=kept), symbols)
    for a, b in zip(got, kept, strict=True):
        assert sp.expand(sp.simplify(a - b)) == 0


# ------------------------------------------------------------ counts

x, y, z = sp.symbols("x y z")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (x, Counts()),
        (-x, Counts()),
        (x + y - z, Counts(additions=2)),
        (2 * x, Counts(multiplications=1)),
        (x * y / z, Counts(multiplications=1, divisions=1)),
        (1 / (x * y), Counts(multiplications=1, divisions=1)),
        (3 / x, Counts(divisions=1)),
        (x**5, Counts(multiplications=3)),
        ((x + y) ** 2, Counts(additions=1, multiplications=1)),
        (sp.sqrt(x) + sp.sin(x) + sp.exp(y), Counts(additions=2, functions=3)),
        (x ** sp.Rational(3, 2), Counts(multiplications=1, functions=1)),
        (sp.Max(x, y, z), Counts(functions=2)),
    ],
)
def test_counts_by_hand(expression, expected):
    routine = Routine("f", {"q": [x, y, z]}, {"r": [expression]})
    assert counts(routine) == counts_written_out(routine) == expected


def test_common_parts_count_once():
    s = sp.sin(x + y)
    routine = Routine("f", {"q": [x, y, z]}, {"r": [s * z, s * z + s, s**2]})
    # x + y, sin, s z, + s, s s
    assert counts(routine) == Counts(additions=2, multiplications=2, functions=1)
    # written out: (1, 1, sin), (1 + 1 + 1, 1, 2 sin), (1, 1, sin)
    assert counts_written_out(routine) == Counts(additions=1 + 3 + 1, multiplications=1 + 1 + 1, functions=4)
    assert counts_written_out(routine).total == 12


def test_a_difference_and_its_negative_are_one():
    routine = Routine("f", {"q": [x, y]}, {"r": [sp.exp(x - y), sp.sin(y - x), (y - x) * 3]})
    assert counts(routine) == Counts(additions=1, multiplications=1, functions=2)


def test_half_of_a_symmetric_matrix_is_computed():
    entries = sp.Matrix([[x * y, sp.sin(x)], [sp.sin(y), x]])
    half = Routine("f", {"q": [x, y]}, {"M": entries}, symmetric=["M"])
    assert counts(half) == Counts(multiplications=1, functions=1)
    M = function(half)([0.3, 0.4])
    assert M[0, 1] == M[1, 0] == math.sin(0.4)


# ------------------------------------------------------------ cost


def chain(length):
    """Nested products whose tree has 2^length leaves."""
    e, y = se.symbols("x y")
    for _ in range(length):
        e = se.sin(e) * e + y
    return e


def test_a_tree_of_two_to_the_two_hundred():
    routine = Routine("f", {"q": se.symbols("x y")}, {"r": [chain(200)]})
    assert counts(routine) == Counts(additions=200, multiplications=200, functions=200)
    # T(n) = 2 T(n - 1) + 1: 2^200 - 1 of each
    n = 2**200 - 1
    assert counts_written_out(routine) == Counts(additions=n, multiplications=n, functions=n)
    value = function(routine)([0.3, 0.1])
    expected = 0.3
    for _ in range(200):
        expected = math.sin(expected) * expected + 0.1
    assert abs(value - expected) < 1e-12  # each rounding is damped or grows by less than 1 + 1e-2


def test_cost_is_linear():
    """Twice as long a sum of chained products takes twice as many calls of functions, Python's and compiled ones."""

    def calls(n):
        symbols = se.symbols("x0:40")
        parts = [symbols[0]]
        for i in range(n):
            parts.append(se.sin(parts[-1] * symbols[i % 40] + symbols[(7 * i) % 40]))
        routine = Routine("f", {"q": symbols}, {"r": [parts[-1] + parts[n // 2], *parts[1::100]]})
        profile = cProfile.Profile()
        profile.runcall(python_source, routine)
        return sum(entry.callcount for entry in profile.getstats())

    calls(100)
    small, large = calls(700), calls(1400)
    assert 1.5 * small < large < 2.2 * small


def test_tree_counts_take_both_libraries():
    assert tree_counts([x + y]) == tree_counts([se.sympify(x + y)]) == Counts(additions=1)
