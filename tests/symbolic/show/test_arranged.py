"""Expressions put in order equal what they were made from, proved by normal forms, and look as books write them."""

import time

import pytest
import symengine
import sympy

from saltus.symbolic import derive
from saltus.symbolic.expressions import sum_over_angles
from saltus.symbolic.show.arranged import Letters, arranged, size
from saltus.symbolic.show.letters import LETTERS
from saltus.symbolic.show.notation import Notation


def chain_of_links(count):
    """Rods of 1 m and 1 kg that hang from each other."""
    rod = '<inertial pos="0 0 -0.5" mass="1" diaginertia="0.08 0.08 0.001"/>'
    place = ("0 0 0", *["0 0 -1"] * (count - 1))
    links = "".join(f'<body name="link{i}" pos="{p}"><joint axis="0 -1 0"/>{rod}' for i, p in enumerate(place))
    return f'<mujoco model="links"><worldbody>{links}{"</body>" * count}</worldbody></mujoco>'


def left_sides(e):
    """M a + bias as they come."""
    c, d = e.choice.own, e.derivation
    return [
        symengine.Add(*(m * a for m, a in zip(row, c.a, strict=True)), h) for row, h in zip(d.M, d.bias, strict=True)
    ]


def is_zero(expression, planar):
    """Whether an expression is zero as a polynomial in symbols, or in sines and cosines of different sums."""
    expression = symengine.sympify(expression)
    return (sum_over_angles(expression) if planar else symengine.expand(expression)) == 0


@pytest.mark.parametrize("orientation", ["relative", "absolute", "maximal"])
@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
@pytest.mark.parametrize("model", ["pendulum", "double_pendulum", "cart_pole", "arm", "top", "free_body"])
def test_nothing_is_lost(model, orientation, parameters):
    e = derive(model, orientation, parameters)
    n, d = Notation(e), e.derivation
    for expression in [*left_sides(e), *d.momenta, *(x for term in d.terms.values() for x in term)]:
        assert is_zero(symengine.sympify(n.arranged(expression)) - expression, n.planar)
    for expression in [d.kinetic, d.potential]:
        assert is_zero(symengine.sympify(n.arranged(expression, sums=True)) - expression, n.planar)


def test_the_lectures_equations_to_the_letter():
    """Grouped as on the slides, factors in front of brackets."""
    m1, m2, l1, l2, g = sympy.symbols("m1 m2 l1 l2 g")
    e = derive("double_pendulum", "absolute", LETTERS["double_pendulum"])
    (alpha1, alpha2), (w1, w2), (a1, a2) = e.q, e.v, e.a
    n = Notation(e)
    first, second = (n.arranged(x) for x in left_sides(e))
    delta = alpha1 - alpha2
    assert set(first.args) == {
        (m1 + m2) * l1**2 * a1,
        m2 * l1 * l2 * sympy.cos(delta) * a2,
        m2 * l1 * l2 * sympy.sin(delta) * w2**2,
        (m1 + m2) * g * l1 * sympy.sin(alpha1),
    }
    assert set(second.args) == {
        m2 * l2**2 * a2,
        m2 * l1 * l2 * sympy.cos(delta) * a1,
        -m2 * l1 * l2 * sympy.sin(delta) * w1**2,
        m2 * g * l2 * sympy.sin(alpha2),
    }


def test_the_arms_equations_as_in_spong():
    """Robot Modeling and Control, equation 7.87: h (2 q1' q2' + q2'²), and masses in front of brackets."""
    e = derive("arm", "relative", LETTERS["arm"])
    n = Notation(e)
    (w1, w2), (_, q2) = e.v, e.q
    m2, l1, c2 = sympy.symbols("m2 l1 c2")
    first, second = (n.arranged(x) for x in left_sides(e))
    assert -m2 * l1 * c2 * sympy.sin(q2) * (2 * w1 * w2 + w2**2) in first.args
    assert m2 * l1 * c2 * sympy.sin(q2) * w1**2 in second.args
    inertia = first.coeff(e.a[0])
    assert m2 * (c2**2 + l1**2) in inertia.args


def test_sums_of_rates_stay_where_they_are_short():
    e = derive("double_pendulum", "relative", LETTERS["double_pendulum"])
    kinetic = Notation(e).arranged(e.derivation.kinetic, sums=True)
    m2, l2 = sympy.symbols("m2 l2")
    assert m2 * l2**2 * (e.v[0] + e.v[1]) ** 2 / 2 in kinetic.args


@pytest.mark.parametrize("orientation", ["relative", "absolute"])
def test_six_links_are_quick_and_become_shorter(orientation):
    e = derive(chain_of_links(6), orientation, "symbols")
    given = left_sides(e)
    n = Notation(e)
    began = time.process_time()
    shown = [n.arranged(x) for x in given]
    assert time.process_time() - began < 5
    assert sum(map(size, shown)) < sum(size(sympy.sympify(x)) for x in given)
    assert is_zero(symengine.sympify(shown[2]) - given[2], True)


def test_what_would_explode_stays_as_it_is():
    x, y = symengine.symbols("x y")
    product = symengine.Mul(*((x + k) * (y + k) + 1 for k in range(1, 40)))
    began = time.process_time()
    assert arranged(product, Letters()) == sympy.sympify(product)
    assert time.process_time() - began < 2


def test_functions_that_are_no_polynomial_are_kept():
    x, v = symengine.symbols("x v")
    given = 2 * symengine.Abs(v) * v + symengine.atan2(x, 1 + v) * v
    assert symengine.expand(symengine.sympify(arranged(given, Letters(speeds=frozenset([v])))) - given) == 0
