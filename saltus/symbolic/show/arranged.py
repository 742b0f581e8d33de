"""Expressions as one would write them on paper: collected by accelerations, sines and cosines, and velocities.

    (m1 + m2) l1² α̈1 + m2 l1 l2 cos(α1 - α2) α̈2 + m2 l1 l2 sin(α1 - α2) α̇2² + (m1 + m2) g l1 sin α1

An expression is first written out as a sum of products. Terms with the same acceleration belong together, in them those
with the same sine or cosine; parameters in front of them are put in brackets by what they share. Nothing is rounded
and nothing is lost: the result equals the input. Expressions that would become longer stay as they were.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import symengine
import sympy

from saltus.symbolic.expressions import ONE, sum_over_angles, to_sympy

MOST = 400  # largest number of terms of a sum that is put in order
LARGEST = 20_000  # terms, counted before any cancels, of a product that is written out
LONGER = 1.1  # growth of an expression beyond which the result is not an improvement

Powers = tuple[tuple[Any, int], ...]  # a product: (factor, power), in order
Polynomial = dict[Powers, Fraction]  # polynomials in parameters


@dataclass(frozen=True)
class Letters:
    """Roles of the symbols of an expression (SymEngine).

    `masses`: parameters in which terms are linear; `others`: parameters besides; `speeds` and `accelerations`;
    `sums`: {sum of velocities: symbol}, sums that stay as they are; `planar`: products of sines and cosines are to
    become sines and cosines of sums.
    """

    masses: frozenset[Any] = frozenset()
    others: frozenset[Any] = frozenset()
    speeds: frozenset[Any] = frozenset()
    accelerations: tuple[Any, ...] = ()
    sums: Mapping[Any, Any] = field(default_factory=dict)
    planar: bool = False


@dataclass
class _Term:
    """number · masses · parameters · moving · speeds · acceleration."""

    number: Fraction = Fraction(1)
    masses: list[tuple[Any, int]] = field(default_factory=list)
    others: list[tuple[Any, int]] = field(default_factory=list)
    moving: list[tuple[Any, int]] = field(default_factory=list)  # functions, coordinates
    speeds: list[tuple[Any, int]] = field(default_factory=list)
    acceleration: Any = ONE


def arranged(expression: Any, letters: Letters) -> sympy.Expr:
    """Put an expression (SymPy's or SymEngine's) in order; return SymPy's, equal to the input."""
    given = symengine.sympify(expression)
    before = to_sympy(given)
    if not isinstance(given, symengine.Add | symengine.Mul | symengine.Pow):
        return before  # type: ignore[return-value]
    kept = given.subs(dict(letters.sums)) if letters.sums else given
    if _terms_written_out(kept, {}) > LARGEST:
        return before  # type: ignore[return-value]
    written = sum_over_angles(kept) if letters.planar else symengine.expand(kept)
    terms = written.args if isinstance(written, symengine.Add) else (written,)
    if len(terms) > MOST:
        return before  # type: ignore[return-value]
    letters = _with_sums(letters)
    split = [_split(term, letters) for term in terms]
    after = sympy.Add(*(_group(split, a) for a in [*letters.accelerations, ONE]))
    if letters.sums:
        after = after.xreplace({to_sympy(symbol): to_sympy(total) for total, symbol in letters.sums.items()})
    if not letters.planar and size(after) > LONGER * size(before):
        return before  # type: ignore[return-value]
    return after  # type: ignore[return-value]


@lru_cache(maxsize=4096)
def size(expression: sympy.Basic) -> int:
    """Number of symbols and numbers that an expression shows: about its length on paper."""
    return sum(1 for node in sympy.preorder_traversal(expression) if not node.args)


def _terms_written_out(expression: Any, known: dict[Any, int]) -> int:
    """Number of terms of an expression when its products are written out, before any of them cancel."""
    if expression in known:
        return known[expression]
    count = 1
    if isinstance(expression, symengine.Add):
        count = sum(_terms_written_out(x, known) for x in expression.args)
    elif isinstance(expression, symengine.Mul):
        count = math.prod(_terms_written_out(x, known) for x in expression.args)
    elif isinstance(expression, symengine.Pow) and expression.args[1].is_Integer and expression.args[1] > 0:
        base, power = _terms_written_out(expression.args[0], known), int(expression.args[1])
        count = math.comb(base + power - 1, power)
    known[expression] = count
    return count


def _with_sums(letters: Letters) -> Letters:
    speeds = letters.speeds | set(letters.sums.values())
    return Letters(letters.masses, letters.others, speeds, letters.accelerations, letters.sums, letters.planar)


def _split(term: Any, letters: Letters) -> _Term:
    """Split a product into the kinds of its factors."""
    out = _Term()
    for factor in term.args if isinstance(term, symengine.Mul) else (term,):
        base, power = factor, 1
        if isinstance(factor, symengine.Pow) and factor.args[1].is_Integer:
            base, power = factor.args[0], int(factor.args[1])
        if factor.is_Rational:
            p, q = to_sympy(factor).as_numer_denom()  # type: ignore[attr-defined]
            out.number *= Fraction(int(p), int(q))
        elif base in letters.accelerations and power == 1:
            out.acceleration = base
        elif base in letters.masses:
            out.masses.append((base, power))
        elif base in letters.others:
            out.others.append((base, power))
        elif base in letters.speeds:
            out.speeds.append((base, power))
        else:
            out.moving.append((base, power))
    for powers in (out.masses, out.others, out.moving, out.speeds):
        powers.sort(key=str)
    return out


def _group(terms: list[_Term], acceleration: Any) -> sympy.Expr:
    """Sum of the terms with one acceleration, or without any."""
    waves: dict[Powers, dict[Powers, list[_Term]]] = {}
    for term in terms:
        if term.acceleration == acceleration:
            rates = waves.setdefault(tuple(term.moving), {})
            rates.setdefault(tuple(term.speeds), []).append(term)
    parts = []
    for moving, rates in waves.items():
        for factor, motion in _alike({speeds: _polynomial(group) for speeds, group in rates.items()}):
            parts.append(sympy.Mul(*factor, _product(moving), motion))
    if len(parts) == 1:
        return (
            sympy.Mul(*parts[0].args, to_sympy(acceleration)) if parts[0].is_Mul else parts[0] * to_sympy(acceleration)
        )
    return sympy.Add(*parts) * to_sympy(acceleration)  # type: ignore[return-value]


def _polynomial(terms: Iterable[_Term]) -> Polynomial:
    """Numbers by the parameters that they multiply."""
    out: Polynomial = {}
    for term in terms:
        key = (*term.masses, *term.others)
        out[key] = out.get(key, Fraction(0)) + term.number
    return {key: number for key, number in out.items() if number}


def _alike(rates: dict[Powers, Polynomial]) -> list[tuple[list[sympy.Expr], sympy.Expr]]:
    """Add up velocities whose polynomials differ by a number only: (factors, sum) pairs."""
    found: dict[frozenset, tuple[Polynomial, list[tuple[Fraction, Powers]]]] = {}
    for speeds, polynomial in rates.items():
        if not polynomial:
            continue
        content = _content(polynomial.values())
        primitive = {key: number / content for key, number in polynomial.items()}
        shape = frozenset(primitive.items())
        found.setdefault(shape, (primitive, []))[1].append((content, speeds))
    out = []
    for primitive, motions in found.values():
        common = _content(number for number, _ in motions)
        total = sympy.Add(*(_number(number / common) * _product(speeds) for number, speeds in motions))
        out.append((_bracketed({key: number * common for key, number in primitive.items()}), total))
    return out


def _content(numbers: Iterable[Fraction]) -> Fraction:
    """The number that a sum is divided by to have coprime whole coefficients, negative if all of them are.

    Where there is but one number it is that number.
    """
    numbers = list(numbers)
    above = math.gcd(*(n.numerator for n in numbers))
    below = math.lcm(*(n.denominator for n in numbers))
    return Fraction(-above if all(n < 0 for n in numbers) else above, below)


# ---------------------------------------------------------------- parameters in front


def _bracketed(polynomial: Polynomial) -> list[sympy.Expr]:
    """A polynomial in parameters as factors, those that terms share in front of brackets."""
    if len(polynomial) == 1:
        ((powers, number),) = polynomial.items()
        return [_number(number), _product(powers)]
    content = _content(polynomial.values())
    common = _common(polynomial)
    rest = {_without(powers, common): number / content for powers, number in polynomial.items()}
    by_lengths = _collected(rest, keep=_is_single)
    by_masses = _collected(rest, keep=lambda power, index: not _is_single(power, index))
    shorter = by_masses if size(by_masses) < size(by_lengths) else by_lengths
    return [_number(content), _product(common), shorter]  # a product of two would be multiplied out


def _is_single(power: tuple[Any, int], index: int) -> bool:
    """Whether a factor is the first of its product, which is where a mass stands."""
    return index == 0


def _collected(polynomial: Polynomial, keep: Any) -> sympy.Expr:
    """Σ (Σ number · kept) · others: terms with the same factors that are not kept are put in one bracket."""
    groups: dict[Powers, Polynomial] = {}
    for powers, number in polynomial.items():
        inside = tuple(p for i, p in enumerate(powers) if keep(p, i))
        outside = tuple(p for i, p in enumerate(powers) if not keep(p, i))
        groups.setdefault(outside, {})[inside] = number
    parts = []
    for outside, sum_ in groups.items():
        content = _content(sum_.values())
        total = sympy.Add(*(_number(n / content) * _product(inside) for inside, n in sum_.items()))
        parts.append(sympy.Mul(_number(content), _product(outside), total))
    return sympy.Add(*parts)  # type: ignore[return-value]


def _common(polynomial: Polynomial) -> Powers:
    """The factors that all terms have."""
    powers = [dict(key) for key in polynomial]
    shared = {base: min(p.get(base, 0) for p in powers) for base in powers[0]}
    return tuple((base, power) for base, power in shared.items() if power > 0)


def _without(powers: Powers, common: Powers) -> Powers:
    less = dict(common)
    left = [(base, power - less.get(base, 0)) for base, power in powers]
    return tuple((base, power) for base, power in left if power)


def _product(powers: Powers) -> sympy.Expr:
    return sympy.Mul(*(to_sympy(base) ** power for base, power in powers))  # type: ignore[return-value]


def _number(number: Fraction) -> sympy.Rational:
    return sympy.Rational(number.numerator, number.denominator)  # type: ignore[return-value]
