"""Exact expressions, with the normal forms that keep SymEngine's as short as on paper.

Two normal forms make terms cancel that cancel on paper: products of sines and cosines as sums over angles, in which
cos²α + sin²α = 1 and cos α cos β + sin α sin β = cos(α - β) need no rule, and polynomials in the components of a unit
quaternion without powers of its first one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import symengine
import sympy

from saltus.errors import OptionError
from saltus.number.symbols import KINDS

exact = KINDS["symengine"].number  # a float as the fraction, or the root of one, that it was meant to be
FUNCTIONS = ("sin", "cos", "tan", "atan2", "sqrt", "Abs", "exp", "pi")  # names that are no symbols in text

#: An exact expression of SymEngine; numbers and symbols are expressions too.
Expression: TypeAlias = symengine.Basic
ZERO: Expression = symengine.Integer(0)
ONE: Expression = symengine.Integer(1)
HALF: Expression = symengine.Rational(1, 2)
#: An exact expression of SymPy or SymEngine, or a matrix of them.
Algebraic: TypeAlias = Expression | sympy.Basic | sympy.MatrixBase
Vector: TypeAlias = tuple[Expression, Expression, Expression]


def vector(numbers: Iterable[Any]) -> Vector:
    """Three floats as exact numbers."""
    x, y, z = (exact(number) for number in numbers)
    return x, y, z


def add(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a + b of vectors."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def sub(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a - b of vectors."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scale(s: Any, a: Sequence[Any]) -> Any:
    """s a of a vector."""
    return tuple(s * x for x in a)


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a · b of vectors."""
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)


def cross(a: Sequence[Any], b: Sequence[Any]) -> Vector:
    """a × b of vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def sum_of_products(terms: Iterable[tuple[Any, Any]]) -> Any:
    """Σ a b, without products that are zero."""
    return symengine.Add(*(a * b for a, b in terms if a != 0 and b != 0))


def to_sympy(expression: Any) -> Any:
    """An expression as SymPy's."""
    return sympy.sympify(expression)


def to_symengine(expression: Any) -> Any:
    """An expression as SymEngine's."""
    return symengine.sympify(expression)


def parsed(text: Any) -> Any:
    """An expression of SymPy from text in which every name is a symbol; decimals become fractions.

    Raises:
        OptionError: it is no expression.
    """
    try:
        names = {name: sympy.Symbol(name) for name in re.findall(r"[A-Za-z_]\w*", str(text)) if name not in FUNCTIONS}
        expression: Any = sympy.sympify(str(text), locals=names)  # pyright: ignore[reportCallIssue]
        return sympy.nsimplify(expression, rational=True)
    except (sympy.SympifyError, SyntaxError, TypeError, AttributeError) as error:
        raise OptionError(f"{text!r} is neither a number nor an expression: {error}") from None


def written_out(expression: Any) -> int:
    """Upper bound of the number of terms of an expression when its products of sums are multiplied out."""
    known: dict[Any, int] = {}

    def count(x: Any) -> int:
        if x not in known:
            if isinstance(x, symengine.Add):
                known[x] = sum(map(count, x.args))
            elif isinstance(x, symengine.Mul):
                known[x] = math.prod(map(count, x.args))
            elif isinstance(x, symengine.Pow) and x.args[1].is_Integer and x.args[1] > 0:
                known[x] = count(x.args[0]) ** int(x.args[1])
            else:
                known[x] = 1
        return known[x]

    return count(expression)


def sum_over_angles(expression: Any) -> Any:
    """Rewrite an expression, polynomial in sines and cosines, as a sum of terms with one sine or cosine each."""
    sums: dict[Any, list[Any]] = {}
    for term in _terms(symengine.expand(expression)):
        rest, waves = _split(term)
        for factor, wave in _as_waves(waves):
            sums.setdefault(wave, []).append(factor * rest)
    return symengine.expand(symengine.Add(*(symengine.Add(*factors) * wave for wave, factors in sums.items())))


def _terms(expression: Any) -> Sequence[Any]:
    return expression.args if isinstance(expression, symengine.Add) else (expression,)


def _split(term: Any) -> tuple[Any, list[Any]]:
    """A product's factors without sine and cosine, and those with them, powers written out."""
    rest, waves = [], []
    for factor in term.args if isinstance(term, symengine.Mul) else (term,):
        base, power = factor.args if isinstance(factor, symengine.Pow) else (factor, ONE)
        if isinstance(base, symengine.sin | symengine.cos) and power.is_Integer and power > 0:
            waves += [base] * int(power)
        else:
            rest.append(factor)
    return symengine.Mul(*rest), waves


def _as_waves(factors: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
    """A product of sines and cosines as [(factor, sine or cosine)]: half of the sum over sums and differences."""
    out = [(ONE, symengine.cos, ZERO)]
    for factor in factors:
        b = factor.args[0]
        odd = isinstance(factor, symengine.sin)
        following = []
        for weight, function, a in out:
            half = weight / 2
            if not odd:  # f(a) cos b = (f(a + b) + f(a - b)) / 2
                following += [(half, function, a + b), (half, function, a - b)]
            elif function is symengine.cos:  # cos a sin b = (sin(a + b) - sin(a - b)) / 2
                following += [(half, symengine.sin, a + b), (-half, symengine.sin, a - b)]
            else:  # sin a sin b = (cos(a - b) - cos(a + b)) / 2
                following += [(half, symengine.cos, a - b), (-half, symengine.cos, a + b)]
        out = following
    return [(weight, function(symengine.expand(angle))) for weight, function, angle in out]


def on_unit_sphere(expression: Any, quaternions: Sequence[Sequence[Any]]) -> Any:
    """A polynomial in the components of unit quaternions with powers of each first component below 2."""
    for w, x, y, z in quaternions:
        square = 1 - x * x - y * y - z * z
        terms = []
        for term in _terms(symengine.expand(expression)):
            rest, power = [], 0
            for factor in term.args if isinstance(term, symengine.Mul) else (term,):
                base, exponent = factor.args if isinstance(factor, symengine.Pow) else (factor, ONE)
                if base == w and exponent.is_Integer and exponent > 0:
                    power = int(exponent)
                else:
                    rest.append(factor)
            terms.append(symengine.Mul(*rest) * square ** (power // 2) * w ** (power % 2))
        expression = symengine.expand(symengine.Add(*terms))
    return expression
