"""Expressions to turn into code, and their values to 40 digits as the reference."""

import mpmath
import numpy as np
import sympy as sp

from saltus.symbolic.export.routine import Routine

EPS = 2.0**-53


def arm():
    """A double pendulum of rods in relative angles, as Lagrange's equations give it: (q, v, parameters, M, bias)."""
    q, v = sp.symbols("qpos_0 qpos_1"), sp.symbols("qvel_0 qvel_1")
    m1, m2, l1, l2, g = sp.symbols("m1 m2 l1 l2 g")
    angle = [q[0], q[0] + q[1]]
    x = [l1 * sp.sin(angle[0]) / 2, l1 * sp.sin(angle[0]) + l2 * sp.sin(angle[1]) / 2]
    y = [-l1 * sp.cos(angle[0]) / 2, -l1 * sp.cos(angle[0]) - l2 * sp.cos(angle[1]) / 2]
    rate = lambda e: sum(sp.diff(e, a) * b for a, b in zip(q, v, strict=True))  # noqa: E731
    kinetic = sum(m * (rate(a) ** 2 + rate(b) ** 2) / 2 for m, a, b in zip((m1, m2), x, y, strict=True))
    kinetic += m1 * l1**2 * v[0] ** 2 / 24 + m2 * l2**2 * (v[0] + v[1]) ** 2 / 24
    potential = g * (m1 * y[0] + m2 * y[1])
    momenta = [sp.diff(kinetic, b) for b in v]
    M = sp.Matrix(2, 2, lambda i, j: sp.diff(momenta[i], v[j]))
    bias = [rate(p) - sp.diff(kinetic - potential, a) for p, a in zip(momenta, q, strict=True)]
    return q, v, (m1, m2, l1, l2, g), M, bias


def arm_routine():
    q, v, parameters, M, bias = arm()
    arguments = {"qpos": q, "qvel": v, "parameters": parameters}
    return Routine("arm", arguments, {"M": M, "bias": bias}, "A double pendulum.", symmetric=["M"])


def mixed():
    """(symbols, list of expressions) with every operation that all targets have; they are smooth near [0.2, 0.9]^3."""
    x, y, z = symbols = sp.symbols("x y z")
    s = x + y * z
    return symbols, [
        sp.Rational(1, 3) * x - sp.Rational(981, 100) * y + sp.pi / 7,
        s**2 + s**7 / (1 + z**2) - x**-3,
        sp.sqrt(s) / sp.sqrt(x) + s ** sp.Rational(-3, 2) + x ** sp.Rational(1, 3),
        sp.sin(s) * sp.cos(s) - sp.sin(2 * x) + sp.cos(y) + sp.tan(z),
        sp.sin(y - x) + sp.cos(y - x) * (x - y),
        sp.atan2(s, -y) + sp.exp(-(s**2)),
        sp.Abs(x - 2) * sp.sign(y - 3) + sp.Abs(z),
        sp.Max(x, y, z) - sp.Min(x, y, sp.Rational(1, 2)),
        sp.Piecewise((x**2, x < y), (y**2, sp.And(x > z, y > z)), (-s, True)),
        sp.Piecewise((0, x + y > 10), (1, sp.Or(z > y, z > x)), (-2, True)),
        -x - y - sp.exp(1),
        sp.Integer(0),
        sp.Rational(-7, 2),
        -x,
        1 / (x * y),
        -2 / s,
    ]


def mixed_routine(name="mixed", expressions=None):
    symbols, all_expressions = mixed()
    return Routine(name, {"qpos": symbols}, {"out": all_expressions if expressions is None else expressions})


def random_expression(rng, symbols, depth):
    """A random polynomial, fraction or function of depth operations, with repeated parts."""
    pool = list(symbols)
    for _ in range(depth):
        a, b = (pool[i] for i in rng.integers(0, len(pool), 2))
        choice = rng.integers(0, 6)
        made = [a + b, a - 2 * b, a * b / 3, sp.sin(a - b), a ** int(rng.integers(2, 6)), a / (b**2 + 1)][choice]
        pool.append(made)
    return sum(pool[-4:])


def exact(expressions, values):
    """Values of SymPy expressions to 40 digits, as mpmath numbers; `values` {symbol: float}."""
    harmless = {s: sp.Dummy() for s in values}  # some names would become wrong code there
    with mpmath.workdps(40):
        replaced = [sp.sympify(e).xreplace(harmless) for e in expressions]
        function = sp.lambdify(list(harmless.values()), replaced, modules="mpmath")
        return [mpmath.mpf(x) for x in function(*(mpmath.mpf(float(x)) for x in values.values()))]


def errors(got, expressions, values, tolerance):
    """Indices at which code's results are off by more than a tolerance relative to the larger of 1 and the value."""
    reference = exact(expressions, values)
    off = [float(abs(mpmath.mpf(float(a)) - b) / max(1, abs(b))) for a, b in zip(np.ravel(got), reference, strict=True)]
    return [(i, e) for i, e in enumerate(off) if not e <= tolerance]
