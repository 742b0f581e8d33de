"""Symbols: the physics' own source, run on expressions.

Reference: textbook equations of the pendulum and of the double pendulum (Lagrange's, as their model files state them),
exactly; and the compiled kernels on floats, at random states to 1e-12, which is rounding in sums of terms of order 100.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import symengine
import sympy

import saltus
from saltus.dynamics.smooth import free_acceleration as acceleration
from saltus.dynamics.smooth import free_forward as forward
from saltus.model.layout import DATA, MODEL, data_sizes
from saltus.number.functions import (
    absolute,
    any_lane,
    atan2,
    clip,
    exp,
    floor,
    maximum,
    power,
    sincos,
    sqrt,
    where,
)
from saltus.number.kernels import Entry, interpret, kernel
from saltus.number.structs import Struct
from saltus.number.symbols import KINDS, Kind, SymbolicStruct, symbolic_data, symbolic_model, trace

FORWARD = Entry("forward", "", "forward(m, d)", forward=forward)
LIBRARIES = {"sympy": sympy, "symengine": symengine}


def derived(name, kind, keep=()):
    """Symbolic model and data of a bundled model, forward dynamics done."""
    model = saltus.load(name)
    m = symbolic_model(model.struct(), kind, keep)
    d = symbolic_data(DATA, data_sizes(model.sizes()), kind)
    trace(forward, m, d)
    return m, d


def compiled(name, qpos, qvel, ctrl):
    """The same in compiled floats."""
    model = saltus.load(name)
    d = Struct(DATA, data_sizes(model.sizes()))
    for field, values in (("qpos", qpos), ("qvel", qvel), ("ctrl", ctrl)):
        d.fill(field, values)
    FORWARD(model.struct(), d)
    return d


def plain(x):
    """An expression as SymPy's, with plain symbols."""
    x = sympy.sympify(x)
    return x.subs({s: sympy.Symbol(s.name) for s in x.free_symbols})


# ---------------------------------------------------------------- equations of motion


@pytest.mark.parametrize("kind", ["sympy", "symengine"])
def test_pendulum(kind):
    """I θ'' + m g l sin θ = τ with I = m l², m = l = 2, g = 9.81, without a rounding error."""
    _, d = derived("pendulum", kind)
    angle, speed, torque = sympy.symbols("qpos_0 qvel_0 ctrl_0")
    inertia = 8 + sympy.Rational(1, 10**15)  # the file's smallest possible inertia of the bob
    assert sympy.simplify(plain(d.qfrc_bias[0])) == sympy.Rational(981, 25) * sympy.sin(angle)
    assert sympy.simplify(plain(d.M[0])) == inertia
    assert sympy.simplify(plain(d.qacc[0]) - (torque - sympy.Rational(981, 25) * sympy.sin(angle)) / inertia) == 0
    assert sympy.simplify(plain(d.energy[1]) - inertia * speed**2 / 2) == 0


def test_pendulum_with_named_parameters():
    """Parameters that are kept come out as the formula's letters."""
    m, d = derived("pendulum", "sympy", keep=["body_mass", "body_ipos", "opt_gravity"])
    mass, length, g = m.body_mass[1], -m.body_ipos[1, 2], -m.opt_gravity[0, 2]
    assert m.values == {mass: 2, -length: -2, -g: sympy.Rational(-981, 100)}
    assert [str(s) for s in m.values] == ["body_mass_1", "body_ipos_1_2", "opt_gravity_0_2"]
    assert sympy.simplify(d.qfrc_bias[0] - mass * g * length * sympy.sin(d.qpos[0])) == 0
    assert m.body_ipos[1, 0] == 0 and m.body_mass[0] == 0  # what is zero stays so


@pytest.mark.slow
def test_double_pendulum_is_lagranges():
    _, d = derived("double_pendulum", "symengine")
    q1, q2, v1, v2 = sympy.symbols("qpos_0 qpos_1 qvel_0 qvel_1")
    m, l, g = 2, 2, sympy.Rational(981, 100)
    a1, a2, w1, w2 = q1, q1 + q2, v1, v1 + v2  # absolute angles
    first = m * l * l * w2**2 * sympy.sin(a1 - a2) + 2 * m * g * l * sympy.sin(a1)
    second = -m * l * l * w1**2 * sympy.sin(a1 - a2) + m * g * l * sympy.sin(a2)
    for got, expected in zip(d.qfrc_bias, (first + second, second), strict=True):
        assert sympy.simplify(sympy.simplify(plain(got)) - expected) == 0


@pytest.mark.parametrize("kind", ["sympy", "symengine", "sympy_float", "symengine_float"])
def test_double_pendulum_is_the_compiled_one(kind):
    _, d = derived("double_pendulum", kind)
    rng = np.random.default_rng(81)
    arguments = [*d.qpos, *d.qvel, *d.ctrl]
    fields = ("M", "qfrc_bias", "qacc", "energy", "xpos", "cinert", "cdof", "cvel")
    expressions = [e for field in fields for e in d.views[field].ravel()]
    if kind.startswith("symengine"):
        evaluate = symengine.Lambdify(arguments, expressions, cse=True)
    else:
        function = sympy.lambdify(arguments, expressions, modules="math", cse=True)
        evaluate = lambda x: function(*x)  # noqa: E731
    for _ in range(5):
        qpos, qvel, ctrl = rng.uniform(-3, 3, (3, 2))
        c = compiled("double_pendulum", qpos, qvel, ctrl)
        expected = np.concatenate([c.views[field].ravel() for field in fields])
        got = np.array(evaluate([*qpos, *qvel, *ctrl]), float)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["cart_pole", "arm", "top", "free_body", "spring", "chain"])
def test_every_joint_in_symengine(name):
    """Ball and free joints, springs and dampers, chains: both forward dynamics agree with the compiled one."""
    model = saltus.load(name)
    rng = np.random.default_rng(82)
    qpos, qvel, ctrl = (
        model.qpos0 + rng.uniform(-1, 1, model.nq),
        rng.uniform(-2, 2, model.nv),
        rng.uniform(-1, 1, model.nu),
    )
    c = compiled(name, qpos, qvel, ctrl)
    m, d = symbolic_model(model.struct()), symbolic_data(DATA, data_sizes(model.sizes()))
    arguments = [*d.qpos, *d.qvel, *d.ctrl]
    values = [*qpos, *qvel, *ctrl]
    trace(acceleration, m, d)
    articulated = symengine.Lambdify(arguments, list(d.qacc), cse=True)(values)
    trace(forward, m, d)
    bias, factored = (symengine.Lambdify(arguments, list(x), cse=True)(values) for x in (d.qfrc_bias, d.qacc))
    np.testing.assert_allclose(bias, c.qfrc_bias, rtol=1e-12, atol=1e-12)
    scale = np.abs(c.qacc).max()
    np.testing.assert_allclose(factored, c.qacc, rtol=1e-11, atol=1e-12 * scale)
    np.testing.assert_allclose(articulated, c.qacc, rtol=1e-11, atol=1e-12 * scale)


def test_a_kind_of_ones_own():
    """Floats of 40 digits as numbers: in the dynamics of the tumbling box compiled doubles lose their rounding only."""
    model = saltus.load("free_body")
    rng = np.random.default_rng(83)
    qpos, qvel = rng.standard_normal(7), rng.standard_normal(6)
    kind = Kind(lambda x: sympy.Float(sympy.Rational(*float(x).as_integer_ratio()), 40), None)
    m, d = symbolic_model(model.struct(), kind), SymbolicStruct(DATA, data_sizes(model.sizes()), kind)
    d.fill("qpos", qpos)
    d.fill("qvel", qvel)
    trace(forward, m, d)
    c = compiled("free_body", qpos, qvel, [])
    for field in ("xpos", "xmat", "cinert", "cvel", "qfrc_bias", "qacc", "energy"):
        exact = np.array(d.views[field], float)
        np.testing.assert_allclose(
            c.views[field], exact, rtol=0, atol=2e-15 * max(1, np.abs(exact).max()), err_msg=field
        )
    assert d.qacc[3]._prec > 130


# ---------------------------------------------------------------- functions and numbers


@kernel
def elementary(x):
    a, b = x
    s, c = sincos(a)
    first = (sqrt(a), exp(b), absolute(b), floor(a), s, c, atan2(b, a), atan2(b, 2.0), power(a, 0.5), a / 3.0)
    return first + (where(a < b, a, b), where(a > b, 1.0, b), maximum(a, b), clip(a, -1.0, 0.5))


@pytest.mark.parametrize("name, library", LIBRARIES.items())
def test_elementary_functions(name, library):
    """Each function becomes the library's, and comparisons that stay open become alternatives."""
    a, b = KINDS[name].symbol("a"), KINDS[name].symbol("b")
    got = interpret(elementary, KINDS[name].number)((a, b))
    expected = (library.sqrt(a), library.exp(b), abs(b), library.floor(a), library.sin(a), library.cos(a))
    expected += (library.atan2(b, a), library.atan2(b, 2), library.sqrt(a), a / 3)
    assert got[:10] == expected
    for x, y in ((0.3, 0.7), (0.7, 0.3), (-2.5, 0.1), (0.4, 0.4)):
        values = [float(g.subs({a: x, b: y})) for g in got[10:]]
        assert values == [min(x, y), 1 if x > y else y, max(x, y), min(max(x, -1), 0.5)]


@pytest.mark.parametrize("name, library", LIBRARIES.items())
def test_decided_and_open_conditions(name, library):
    """`where` chooses at once if it can; `any_lane` takes an open condition for true; Python's `if` refuses it."""
    a, one, two = KINDS[name].symbol("a"), KINDS[name].number(1.0), KINDS[name].number(2.0)
    assert where(one < two, a, two) == a and where(one > two, a, two) == two
    assert any_lane(a < one) is True and any_lane(one < two) is True and any_lane(one > two) is False
    with pytest.raises(TypeError, match="truth value"):
        bool(a < one)


@pytest.mark.parametrize("name, library", LIBRARIES.items())
@pytest.mark.parametrize(
    "x, meant",
    [
        *(
            (0.0, 0),
            (-0.0, 0),
            (1.0, 1),
            (-3.0, -3),
            (0.5, Fraction(1, 2)),
            (9.81, Fraction(981, 100)),
            (1e-15, Fraction(1, 10**15)),
        ),
        *((1.0 / 12.0, Fraction(1, 12)), (-1.0 / 3.0, Fraction(-1, 3)), (1.0 / 47900160.0, Fraction(1, 47900160))),
        *((0.1 + 0.2, Fraction(3, 10)), (0.02 + 4e-18, Fraction(1, 50)), (0.123456789, Fraction(123456789, 10**9))),
        *(
            (1e300, 10**300),
            (1234567.25, Fraction(4938269, 4)),
            (3.141592653589793, Fraction(3141592653589793, 10**15)),
        ),
    ],
)
def test_numbers_are_what_they_were_meant_to_be(name, library, x, meant):
    got = KINDS[name].number(x)
    assert got == library.Rational(Fraction(meant).numerator, Fraction(meant).denominator)
    assert math.isclose(float(got), x, rel_tol=5e-16, abs_tol=0)


@pytest.mark.parametrize("name, library", LIBRARIES.items())
def test_roots_and_no_numbers(name, library):
    number = KINDS[name].number
    assert number(math.sqrt(0.5)) == library.sqrt(library.Rational(1, 2))
    assert number(-math.sqrt(0.5) + 1.2e-16) == -library.sqrt(library.Rational(1, 2))
    assert number(math.sqrt(3) / 2) == library.sqrt(library.Rational(3, 4))
    assert (number(math.inf), number(-math.inf)) == (library.oo, -library.oo) and number(math.nan) is library.nan


def test_random_numbers_keep_their_value():
    rng = np.random.default_rng(84)
    for x in np.concatenate([rng.standard_normal(300), 10 ** rng.uniform(-300, 300, 100)]):
        assert math.isclose(float(KINDS["sympy"].number(x)), x, rel_tol=5e-16)


def test_floats_by_choice():
    number = KINDS["sympy_float"].number
    assert number(0.5) == 0.5 and number(0.5).is_Float and number(2.0).is_Integer and number(0.0) is sympy.S.Zero
    assert isinstance(KINDS["symengine_float"].number(0.1), symengine.RealDouble) and KINDS["float"].number(0) == 0.0


# ---------------------------------------------------------------- structs


@pytest.mark.parametrize("kind", KINDS)
def test_fields(kind):
    """Rows are tuples, both ways; scalars and integers are themselves; all starts at exactly 0."""
    d = SymbolicStruct(DATA, data_sizes(saltus.load("free_body").sizes()), kind)
    assert all(e == 0 for view in d.views.values() for e in view.flat) and d.time == 0
    d.cdof[1] = (1, 2, 3, 4, 5, 6)
    d.cdof[1, 2] = 7
    assert d.cdof[1] == (1, 2, 7, 4, 5, 6) and isinstance(d.cdof[1], tuple) and d.cdof[1, 5] == 6
    d.time = d.time + 2
    assert d.time == 2 and d.has_xfrc == 0 and len(d.qpos) == 7
    d.fill("qpos", [0.5, 1, 2, 3, 4, 5, 6])
    d.fill("xpos", 0.25)
    quarter = KINDS[kind].number(0.25)
    assert float(d.qpos[0]) == 0.5 and d.xpos[1] == (quarter, quarter, quarter) and np.asarray(d.qpos).shape == (7,)
    row = d.cdof[1]
    d.cdof[1] = (0,) * 6
    assert row[0] == 1  # a copy, as in registers


@pytest.mark.parametrize("access", ["d.qpos[7]", "d.qpos[-1]", "d.cdof[0, 6]", "d.cdof[0, -1]", "d.qpos[0, 0]"])
def test_indices_are_checked(access):
    d = SymbolicStruct(DATA, data_sizes(saltus.load("free_body").sizes()))
    with pytest.raises(IndexError, match=access[2:6]):
        eval(access, {"d": d})
    with pytest.raises(IndexError):
        exec(f"{access} = 0", {"d": d})


def test_wrong_assignments():
    d = SymbolicStruct(DATA, data_sizes(saltus.load("free_body").sizes()))
    with pytest.raises(ValueError, match="6 numbers"):
        d.cdof[0] = (1, 2, 3)
    with pytest.raises(AttributeError):
        d.qpos = 3
    with pytest.raises(AttributeError):
        _ = d.nonsense


def test_model_holds_the_same_numbers():
    model = saltus.load("top")
    m = symbolic_model(model.struct(), "symengine")
    for name, field in MODEL.fields.items():
        mine, theirs = getattr(m, name), getattr(model.struct(), name)
        if field.shape:
            np.testing.assert_allclose(np.array(mine, float), theirs, rtol=5e-16, atol=0, err_msg=name)
        else:
            assert float(mine) == pytest.approx(float(theirs), rel=5e-16)
        if field.kind == "int" and field.shape:
            assert all(type(e) is int for e in m.views[name].flat)


def test_names_by_choice():
    d = SymbolicStruct(DATA, data_sizes(saltus.load("double_pendulum").sizes()), "sympy")
    put = d.name("qpos", ["alpha", "beta"])
    assert [str(s) for s in d.qpos] == ["alpha", "beta"] == [str(s) for s in put] and set(put.values()) == {0}
    with pytest.raises(ValueError):
        d.name("qvel", ["only one"])
