"""Generated kernels compute their expressions for floats, lanes and duals, and give them back for symbols.

Reference: the expressions at 40 digits (mpmath), tolerances as for Python with the engine's sincos (2 units);
derivatives by SymPy; what comes back through symbols equals the expression exactly (the difference expands to zero).
"""

import numpy as np
import pytest
import sympy as sp
from helpers.routines import EPS, arm, arm_routine, errors, mixed, mixed_routine

from saltus.errors import OptionError
from saltus.number.kernels import Entry
from saltus.number.structs import Field, Layout, Struct
from saltus.number.symbols import symbolic_data, trace
from saltus.symbolic.export.kernel_code import kernel_source, load_kernels
from saltus.symbolic.export.routine import Routine

MODEL = Layout("GeneratedModel", {"n": Field("int", ())}, frozen=True)
real = lambda *shape: Field("real", shape)  # noqa: E731
DATA = Layout(
    "GeneratedData",
    {
        "time": real(),
        "qpos": real("nq"),
        "qvel": real("nv"),
        "M": real("nC"),
        "qfrc_bias": real("nv"),
        "out": real("no"),
    },
)
SIZES = {"n": 1, "nq": 3, "nv": 3, "nC": 3, "no": 16}
PATTERN = [(0, 0), (1, 0), (1, 1)]
TOLERANCE = 100 * EPS
NUMBERS = {"m1": 1.5, "m2": 0.7, "l1": 0.8, "l2": 1.25, "g": 9.81}


def run(kernels, kind, x, body):
    """Data after kernels of (m, d), with qpos and qvel = x."""
    m, d = Struct(MODEL, SIZES, kind), Struct(DATA, SIZES, kind)
    if kind == "dual":
        d.qpos[:, 0, 0] = x[:3]
        d.qpos[:, 1, :3] = np.eye(3)
        d.qvel[:, 0, 0] = x[3:]
    elif kind == "lane64":
        d.qpos[...], d.qvel[...] = x[:3], x[3:]
    else:
        d.qpos[:], d.qvel[:] = x[:3], x[3:]
    Entry(f"generated_{kind}_{body.split('(')[0]}", "", body, **kernels)(m, d)
    return d


@pytest.fixture(scope="module")
def arm_kernels():
    values = {sp.Symbol(name): x for name, x in NUMBERS.items()}
    return load_kernels(kernel_source(arm_routine(), PATTERN, values=values))


def test_equations_of_motion_in_floats(arm_kernels):
    q, v, _, M, bias = arm()
    x = np.random.default_rng(4).normal(size=6)
    d = run(arm_kernels, "float64", x, "inertia(m, d)\nbias(m, d)")
    values = {**dict(zip(q, x[:2], strict=True)), **dict(zip(v, x[3:5], strict=True))}
    values |= {sp.Symbol(name): number for name, number in NUMBERS.items()}
    assert errors(d.M, [M[i, j] for i, j in PATTERN], values, TOLERANCE) == []
    assert errors(d.qfrc_bias[:2], bias, values, 20 * TOLERANCE) == []


@pytest.fixture(scope="module")
def mixed_kernel():
    return {"out": load_kernels(kernel_source(mixed_routine(), []))["out"]}


def test_every_operation_in_lanes(mixed_kernel):
    symbols, expressions = mixed()
    lanes = Struct(DATA, SIZES, "lane64").qpos.shape[-1]
    x = np.random.default_rng(5).uniform(0.2, 0.9, (6, lanes))
    d = run(mixed_kernel, "lane64", x, "out(m, d)")
    for lane in range(lanes):
        values = dict(zip(symbols, x[:3, lane], strict=True))
        assert errors(d.out[:, lane], expressions, values, 20 * TOLERANCE) == []


def test_every_operation_in_duals(mixed_kernel):
    symbols, expressions = mixed()
    x = np.array([0.31, 0.57, 0.83, 0, 0, 0])
    d = run(mixed_kernel, "dual", x, "out(m, d)")
    values = dict(zip(symbols, x[:3], strict=True))
    assert errors(d.out[:, 0, 0], expressions, values, 20 * TOLERANCE) == []
    for k, symbol in enumerate(symbols):
        # the magnitude and the extremes have no derivative by SymPy that lambdify takes; here they are smooth
        smooth = [e.subs(sp.Abs(symbols[0] - 2), 2 - symbols[0]).replace(sp.Abs, lambda a: a) for e in expressions]
        slopes = [sp.diff(e.replace(sp.sign, lambda a: -sp.Integer(1)), symbol) for e in smooth]
        slopes[7] = sp.Integer((symbol == symbols[2]) - (symbol == symbols[0]))  # z is the largest, x the smallest
        # x**-3 has slopes of the order of 300
        assert errors(d.out[:, 1, k], slopes, values, 100 * TOLERANCE) == []


def test_symbols_give_the_expressions_back(arm_kernels):
    q, v, _, M, bias = arm()
    d = symbolic_data(DATA, SIZES, kind="sympy", fields=("qpos", "qvel"))
    m = symbolic_data(MODEL, SIZES, kind="sympy", fields=())
    trace(arm_kernels["inertia"], m, d)
    trace(arm_kernels["bias"], m, d)
    numbers = {sp.Symbol(name): sp.Rational(str(x)) for name, x in NUMBERS.items()}
    real_symbols = {s: sp.Symbol(s.name, real=True) for s in (*q, *v)}
    for got, wanted in [
        *zip(d.views["M"], [M[p] for p in PATTERN], strict=True),
        *zip(d.qfrc_bias, bias, strict=False),
    ]:
        assert sp.expand(got - wanted.subs(numbers).xreplace(real_symbols)) == 0


def test_what_kernels_have_not_is_named():
    x, y = sp.symbols("x y")
    with pytest.raises(OptionError, match="exponent"):
        kernel_source(Routine("f", {"qpos": [x, y]}, {"bias": [x**y]}), [])
    with pytest.raises(OptionError, match="sinh"):
        kernel_source(Routine("f", {"qpos": [x, y]}, {"bias": [sp.sinh(x)]}), [])
    with pytest.raises(OptionError, match=r"entry \(1, 0\)"):
        kernel_source(Routine("f", {"qpos": [x]}, {"M": [[x]]}), [(1, 0)])


def test_names_of_kernels_are_free():
    m, d, zero, s = sp.symbols("m d zero sincos")
    routine = Routine("f", {"qpos": [m, d, s], "qvel": [zero]}, {"bias": [m * d + sp.sin(s) + zero, sp.Integer(2), m]})
    x = np.array([0.3, 0.4, 0.5, 0.6, 0, 0])
    found = run(load_kernels(kernel_source(routine, [])), "float64", x, "bias(m, d)")
    np.testing.assert_allclose(found.qfrc_bias, [0.3 * 0.4 + np.sin(0.5) + 0.6, 2.0, 0.3], rtol=8 * EPS)
