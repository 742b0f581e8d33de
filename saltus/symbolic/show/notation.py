"""Notation of a mechanism's formulas: its symbols' names, the order of factors and terms, line breaks."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import symengine
import sympy

from saltus.symbolic.derivation.rotation import Turn
from saltus.symbolic.expressions import Algebraic, to_sympy
from saltus.symbolic.show.arranged import Letters, arranged, size
from saltus.symbolic.show.latex_code import COLLECTED, FUNCTION, SPEED, LatexPrinter, broken_lines, glyphs
from saltus.symbolic.show.names import element_name, latex_names, mass_symbols

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations

WIDTH = 80.0  # characters of a line on the page
WIDER = 1.15  # times WIDTH that a matrix may have; a wider one is written entry by entry
LONGEST = 400  # letters and numbers in an expression that is still printed
DIGITS = 8  # digits of a fraction that is written as a decimal
READABLE, ROUNDED = 12, 10  # digits of a fraction that is written as one, and of the rounded number that is else shown


class Paper(LatexPrinter):
    """Printer that keeps sums as they are grouped, with the coefficient of an acceleration in one bracket."""

    def _groups(self, expression: Any) -> list[tuple[list[Any], Any]]:
        rest, groups = [], {}
        for part in sympy.Add.make_args(expression):
            factors = sympy.Mul.make_args(part)
            found = [f for f in factors if f in self._collect]
            if len(found) == 1:
                coefficient = sympy.Mul(*(f for f in factors if f != found[0]))
                groups.setdefault(found[0], []).extend(self._terms(coefficient))
            else:
                rest += self._terms(part)
        rest = self._in_order(rest)
        ordered = [(groups[symbol], symbol) for symbol in self._collect if symbol in groups]
        return [*ordered, (rest, None)] if rest else ordered

    def _terms(self, expression: Any) -> list[Any]:
        number, rest = expression.as_coeff_Mul()
        terms = [number * term for term in rest.args] if rest.is_Add else [expression]
        return self._in_order([t for t in terms if t != 0])

    def _in_order(self, terms: list[Any]) -> list[Any]:
        """Terms sorted; of plain sums, as differences of angles, those that are added come first."""
        terms = sorted(terms, key=self._term_key)
        if any(self._rank(f) == FUNCTION for term in terms for f in sympy.Mul.make_args(term)):
            return terms
        return sorted(terms, key=lambda term: term.could_extract_minus_sign())

    def _factor_key(self, factor: Any) -> tuple:
        """Sines and cosines stand last, so that nothing behind them can be taken for a part of their argument."""
        rank = self._rank(factor)
        return (
            COLLECTED + 1 if rank == FUNCTION else rank,
            sorted(map(self._symbol_key, factor.free_symbols)),
            sympy.default_sort_key(factor),
        )

    def _term_key(self, term: Any) -> tuple:
        """Sort key of terms: accelerations, velocities, constant and moving terms; in each, sines and cosines last."""
        ranks = {self._rank(factor) for factor in sympy.Mul.make_args(term)}
        place = {COLLECTED: 0, SPEED: 1, FUNCTION: 3}.get(max(ranks), 2)
        return place, FUNCTION in ranks, sorted(map(self._symbol_key, term.free_symbols)), sympy.default_sort_key(term)


class Notation:
    """The notation of equations of motion.

    `width`: of a line in characters; `names`: LaTeX of each SymPy symbol; `plane`: places of the coordinates in the
    plane (0, 1, 2) that a planar mechanism moves in, all three else; `planar`: whether each body is turned by one
    angle; `rates`: dq/dt, as a list; `rounded`: whether some number was written with fewer digits than it has.
    """

    def __init__(self, equations: DerivedEquations, width: float = WIDTH):
        self._equations, self.width, self.rounded = equations, width, False
        self.names = latex_names(equations)
        c = equations.choice.own
        self.rates = [to_sympy(rate) for rate in c.qdot]
        self.planar = c.planar
        turned = [f.axis for pose in c.poses for f in pose.rotation.factors if isinstance(f, Turn)]
        normals = {k for u in turned for k in range(3) if u[k] != 0}
        moves = {k for r in equations.derivation.positions for k in range(3) if set(r[k].free_symbols) & set(c.q)}
        self.plane = tuple(k for k in range(3) if k not in normals) if self.planar and len(normals) == 1 else (0, 1, 2)
        if not moves <= set(self.plane):
            self.plane = (0, 1, 2)

    @cached_property
    def _letters(self) -> Letters:
        masses, c = mass_symbols(self._equations.mechanism), self._equations.choice.own
        others = frozenset(set(self._equations.mechanism.parameters) - masses)
        return Letters(frozenset(masses), others, frozenset(c.v), tuple(c.a), {}, self.planar)

    @cached_property
    def _letters_and_sums(self) -> Letters:
        choice, plain = self._equations.choice, self._letters
        rates = set(choice.working.v)
        sums = {
            total: symengine.Symbol(f"_{rate}")
            for rate, total in choice.values.items()
            if rate in rates and isinstance(total, symengine.Add)
        }
        return Letters(plain.masses, plain.others, plain.speeds, plain.accelerations, sums, plain.planar)

    def arranged(self, expression: Algebraic, *, sums: bool = False) -> sympy.Expr:
        """An expression put in order; with `sums`, angular velocities against the world stay sums of joint rates."""
        return arranged(expression, self._letters_and_sums if sums else self._letters)

    def element(self, name: str) -> str:
        """The index that stands for a body or joint."""
        return element_name(name)

    # ------------------------------------------------------------ LaTeX

    def _decimals(self, expression: Any, numbers: dict[str, sympy.Symbol]) -> Any:
        """Fractions that are decimal fractions, but not simple ones, as symbols that are printed so: 39.24."""
        found = {}
        for n in expression.atoms(sympy.Rational):
            number = Fraction(int(n.p), int(n.q))
            text = decimal(number)
            if text is not None:
                size = text.removeprefix("-")
                symbol = numbers.setdefault(size, sympy.Symbol(f"_{size}", positive=True))
                found[n] = -symbol if n < 0 else symbol
                self.rounded = self.rounded or is_long(number)
        return expression.xreplace(found) if found else expression

    def _printer(self, collect: bool = True, numbers: Any = ()) -> Paper:
        e = self._equations
        names = {**{symbol: text for text, symbol in numbers}, **self.names}
        return Paper(names, speeds=e.v, collect=e.a if collect else ())

    def text(self, expression: Algebraic) -> str:
        """An expression as LaTeX on one line; a matrix with its rows."""
        if isinstance(expression, sympy.MatrixBase):
            return self._matrix(expression)
        if size(sympy.sympify(expression)) > LONGEST:
            return _too_long(expression)
        numbers: dict[str, sympy.Symbol] = {}
        shown = self._decimals(sympy.sympify(expression), numbers)
        return self._printer(numbers=numbers.items()).text(shown)

    def rows(self, left: str, expression: Algebraic) -> list[str]:
        """Lines of an `aligned` environment for left = expression; an equation has its own left side."""
        if isinstance(expression, sympy.MatrixBase) and expression.shape == (1, 1):
            expression = expression[0, 0]
        if isinstance(expression, sympy.MatrixBase):
            return self._matrix_rows(left, expression)
        if size(expression) > LONGEST:
            return [rf"{left} &= {_too_long(expression)}" if left else rf"& {_too_long(expression)}"]
        return self.long_rows(left, expression)

    def long_rows(self, left: str, expression: Algebraic) -> list[str]:
        """Lines as of `rows` for an expression or equation of any length."""
        numbers: dict[str, sympy.Symbol] = {}
        if isinstance(expression, sympy.Eq):
            sides = [self._decimals(side, numbers) for side in (expression.lhs, expression.rhs)]
            printer = self._printer(numbers=numbers.items())
            return broken_lines(printer.pieces(sides[0]), _together(printer.pieces(sides[1]), self.width), self.width)
        shown = self._decimals(sympy.sympify(expression), numbers)
        return broken_lines([left], self._printer(numbers=numbers.items()).pieces(shown), self.width)

    def name_parts(self, parts: Mapping[sympy.Symbol, str]) -> None:
        """Add symbols of common parts with their LaTeX; they stand last among parameters."""
        self.names |= parts

    def _matrix(self, matrix: sympy.MatrixBase) -> str:
        rows = [" & ".join(self.text(x) for x in matrix.row(i)) for i in range(matrix.rows)]
        return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"

    def _matrix_rows(self, left: str, matrix: sympy.MatrixBase) -> list[str]:
        if not all(matrix.shape):
            return [rf"{left} &= ()"]
        texts = [[self.text(x) for x in matrix.row(i)] for i in range(matrix.rows)]
        widths = [max(glyphs(row[j]) + 2 for row in texts) for j in range(matrix.cols)]
        if sum(widths) <= WIDER * self.width:
            return [f"{left} &= {self._matrix(matrix)}"]
        rows: list[str] = []
        for i in range(matrix.rows):
            for j in range(matrix.cols):
                if matrix[i, j] == 0 or (
                    matrix.cols > 1 and j < i and matrix.is_square and matrix[i, j] == matrix[j, i]
                ):
                    continue
                place = f"{i + 1}" if matrix.cols == 1 else f"{i + 1}{',' if matrix.cols > 9 else ''}{j + 1}"
                rows += self.rows(_entry(left, place), matrix[i, j])
        return rows


def _together(pieces: list[str], width: float) -> list[str]:
    """A right side that is short stays on one line."""
    text = "".join(pieces)
    return [text] if glyphs(text) < width / 2 else pieces


def _too_long(expression: Any) -> str:
    """Placeholder for an expression that is too long to be read."""
    return rf"\text{{(an expression of {size(expression)} letters and numbers: see the code)}}"


def _entry(left: str, place: str) -> str:
    """The name of a matrix's entry."""
    return rf"{left}_{{{place}}}" if "_" not in left else rf"({left})_{{{place}}}"


def decimal(number: Fraction) -> str | None:
    """A fraction as a decimal fraction where that is exact and reads better, or rounded if it has too many digits."""
    if is_long(number):
        digits, _, exponent = f"{float(number):.{ROUNDED}g}".partition("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits
    q = number.denominator
    while q % 10 == 0:
        q //= 10
    while q % 2 == 0:
        q //= 2
    while q % 5 == 0:
        q //= 5
    if number.denominator < 9 or q != 1:
        return None
    text = f"{float(number):.{DIGITS}g}"
    return text if Fraction(text) == number and "e" not in text else None


def is_long(number: Fraction) -> bool:
    """Whether a fraction has more digits than are shown."""
    return max(abs(number.numerator), number.denominator) >= 10**READABLE
