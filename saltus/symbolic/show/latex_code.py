r"""Equations as LaTeX: collected by accelerations, factors in the usual order, broken over lines at + and -.

aligned([(left, right), ...], {q: r"\theta_{1}", v: r"\dot{\theta}_{1}", ...}, collect=[a1, a2])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter as SympyPrinter

WIDTH = 74.0  # characters of a line: 160 mm in 11 pt
NUMBER, PARAMETER, FUNCTION, SPEED, COLLECTED = range(5)  # order of factors
TRIGONOMETRIC = ("sin", "cos", "tan")
FUNCTIONAL = tuple(rf"\{name}" for name in TRIGONOMETRIC)  # have their own space in front


class LatexPrinter(SympyPrinter):
    """LaTeX of SymPy expressions: SymPy's printer, with sums and products in the order of mechanics.

    SymPy's own sorts terms by degree and factors by name, and neither collects accelerations nor breaks lines.

    Args:
        names: LaTeX of symbols; also the order in which they stand in products. Others are printed after them, with
            their own names.
        speeds: symbols that stand behind functions: velocities.
        collect: symbols that stand last and in which sums are collected: accelerations, multipliers.
    """

    def __init__(
        self, names: Mapping[Any, str] | None = None, *, speeds: Iterable[Any] = (), collect: Iterable[Any] = ()
    ) -> None:
        super().__init__({"symbol_names": dict(names or {})})
        self._place = {symbol: i for i, symbol in enumerate(names or {})}
        self._speeds, self._collect = set(speeds), list(collect)

    def text(self, expression: Any) -> str:
        """An expression on one line."""
        return "".join(self.pieces(expression)).strip()

    def pieces(self, expression: Any) -> list[str]:
        """Parts of an expression that stand on one line each; all but the first begin with a sign or in brackets."""
        pieces: list[str] = []
        for group, factor in self._groups(sympy.sympify(expression)):
            if factor is None:
                pieces += [self._signed(term, not (pieces or i)) for i, term in enumerate(group)]
            elif len(group) == 1:
                pieces.append(self._signed(group[0] * factor, not pieces))
            else:
                pieces += self._bracketed(group, factor, not pieces)
        return pieces or ["0"]

    # ------------------------------------------------------------ sums

    def _groups(self, expression: Any) -> list[tuple[list[Any], Any]]:
        """Terms in groups, those with a common collected symbol first: (terms, symbol or None)."""
        groups, rest = [], expression
        for symbol in self._collect:
            if symbol not in expression.free_symbols:
                continue
            coefficient = sympy.diff(expression, symbol)
            if coefficient.free_symbols & set(self._collect):
                return [(self._terms(expression), None)]
            groups.append((self._terms(coefficient), symbol))
            rest = rest.subs(symbol, 0)
        return [*groups, (self._terms(rest), None)] if rest != 0 else groups

    def _terms(self, expression: Any) -> list[Any]:
        """Terms of a sum in order, those that move alike as one; of a product with a number, the sum multiplied out."""
        coefficient, rest = expression.as_coeff_Mul()
        terms = [coefficient * term for term in rest.args] if rest.is_Add else [expression]
        alike: dict[Any, list[Any]] = {}
        for term in terms:
            moving, still = sympy.Mul(1), sympy.Mul(1)
            for factor in factors_of(term):
                if self._rank(factor) >= FUNCTION:
                    moving *= factor
                else:
                    still *= factor
            alike.setdefault(moving, []).append(still)
        terms = []
        for moving, parts in alike.items():
            common: Any = sympy.gcd_terms(sympy.Add(*parts))
            shared = [f for f in factors_of(common) if f.free_symbols and not (f.is_Add or (1 / f).is_Add)]
            together = len(parts) == 1 or moving != 1 or shared
            terms += [common * moving] if together else parts
        return sorted((t for t in terms if t != 0), key=self._term_key)

    def _signed(self, term: Any, first: bool) -> str:
        negative = term.could_extract_minus_sign() and not term.is_Add
        body = self._term(-term if negative else term)
        if first:
            return f"-{body}" if negative else body
        return f" - {body}" if negative else f" + {body}"

    def _bracketed(self, terms: list[Any], factor: Any, first: bool) -> list[str]:
        sign = "" if first else " + "
        if all(t.could_extract_minus_sign() for t in terms):
            terms, sign = [-t for t in terms], "-" if first else " - "
        inside = [self._signed(term, i == 0) for i, term in enumerate(terms)]
        big = any(r"\frac" in piece for piece in inside)
        left, right = (r"\Bigl(", r"\Bigr)\,") if big else ("(", ") ")
        inside[0] = f"{sign}{left}{inside[0]}"
        inside[-1] = f"{inside[-1]}{right}{self._factor(factor)}"
        return inside

    # ------------------------------------------------------------ products

    def _term(self, term: Any) -> str:
        """A product that does not begin with a sign."""
        if term.is_Add:
            return self._brackets(term)
        above, below = [], []
        for factor in factors_of(term):
            if factor.is_Rational:
                above += [sympy.Integer(factor.p)] if factor.p != 1 else []
                below += [sympy.Integer(factor.q)] if factor.q != 1 else []
            elif factor.is_Pow and factor.exp.is_Rational and factor.exp.is_negative:
                below.append(1 / factor)
            else:
                above.append(factor)
        # a fraction of known parameters, in front of the factors that move
        moving = [f for f in above if self._rank(f) >= FUNCTION] if below else []
        still = [f for f in above if f not in moving]
        if not below:
            return self._row(above) or "1"
        if not still and len(moving) == 1:
            still, moving = moving, []
        fraction = rf"\frac{{{self._row(still, alone=True) or '1'}}}{{{self._row(below, alone=True)}}}"
        row = self._row(moving)
        gap = " " if row.startswith(FUNCTIONAL) else r"\,"
        return f"{fraction}{gap}{row}" if moving else fraction

    def _row(self, factors: Sequence[Any], alone: bool = False) -> str:
        """Factors side by side; a sum that is alone needs no brackets."""
        if alone and len(factors) == 1 and factors[0].is_Add:
            return self.text(factors[0])
        texts = [self._factor(f) for f in sorted(factors, key=self._factor_key)]
        row = ""
        for text in texts:
            if row:
                row += r" \cdot " if text[0].isdigit() else self._gap(row, text)
            row += text
        return row

    @staticmethod
    def _gap(before: str, text: str) -> str:
        """Gap between functions and the factor after them."""
        return r"\," if re.search(r"\\(sin|cos|tan|exp|sqrt)\b", before) and not text.startswith(FUNCTIONAL) else " "

    def _factor(self, factor: Any) -> str:
        if factor.is_Add:
            return self._brackets(factor)
        return f"({self.text(factor)})" if factor.is_Mul else self._print(factor)

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        return self.text(expr)

    def _print_Mul(self, expr: Any) -> str:
        return self.text(expr)

    def _print_Pow(self, expr: Any) -> str:
        base, exponent = expr.as_base_exp()
        if exponent == sympy.Rational(1, 2):
            return rf"\sqrt{{{self.text(base)}}}"
        if not exponent.is_Integer:
            return super()._print_Pow(expr)
        if type(base).__name__ in TRIGONOMETRIC and exponent > 0:
            return self._trigonometric(base, f"^{{{exponent}}}")
        text = self._factor(base)
        if not (base.is_Symbol and "^" not in text and "'" not in text) and not base.is_Add:
            text = rf"\left({text}\right)"
        return f"{text}^{{{exponent}}}"

    def _trigonometric(self, function: Any, power: str = "") -> str:
        argument = function.args[0]
        inside = self.text(argument)
        name = rf"\{type(function).__name__}{power}"
        return f"{name} {inside}" if argument.is_Symbol else rf"{name}({inside})"

    _print_sin = _print_cos = _print_tan = _trigonometric

    def _brackets(self, expression: Any) -> str:
        text = self.text(expression)
        return rf"\left({text}\right)" if r"\frac" in text else f"({text})"

    # ------------------------------------------------------------ order

    def _rank(self, factor: Any) -> int:
        if factor.is_number:
            return NUMBER
        free = factor.free_symbols
        if free & set(self._collect):
            return COLLECTED
        if free & self._speeds:
            return SPEED
        return FUNCTION if factor.atoms(sympy.Function) else PARAMETER

    def _factor_key(self, factor: Any) -> tuple:
        symbols = sorted(self._symbol_key(s) for s in factor.free_symbols)
        # bracketed sums of parameters come first: (m_1 + m_2) l_1
        return self._rank(factor), not factor.is_Add, symbols, sympy.default_sort_key(factor)

    def _symbol_key(self, symbol: Any) -> tuple:
        return self._place.get(symbol, len(self._place)), symbol.name

    def _term_key(self, term: Any) -> tuple:
        """Terms with velocities first, then those that move, then constant ones; in each, by symbols."""
        factors = factors_of(term)
        rank = max(self._rank(f) for f in factors)
        symbols = sorted(self._symbol_key(s) for s in term.free_symbols)
        return -rank, symbols, sympy.default_sort_key(term)


def factors_of(term: Any) -> tuple[Any, ...]:
    """The factors of a product; of anything else, itself."""
    return term.args if term.is_Mul else (term,)


def aligned(
    equations: Iterable[tuple[Any, Any]],
    names: Mapping[Any, str] | None = None,
    *,
    speeds: Iterable[Any] = (),
    collect: Iterable[Any] = (),
    width: float = WIDTH,
) -> str:
    r"""Equations in an `aligned` environment, to stand between \[ and \].

    Args:
        equations: pairs of left and right sides, of SymPy; a left side may be a text of LaTeX.
        names: LaTeX of symbols, in the order in which they stand in products.
        speeds: velocities, which stand behind functions.
        collect: symbols whose coefficients are collected: accelerations, multipliers. Where an expression is not
            linear in them it stays as it is.
        width: of a line, in characters of the page; longer sums are broken at + and -.
    """
    printer = LatexPrinter(names, speeds=speeds, collect=collect)
    rows = []
    for left, right in equations:
        pieces = [left] if isinstance(left, str) else printer.pieces(left)
        rows += broken_lines(pieces, printer.pieces(right), width)
    return "\n".join([r"\begin{aligned}", " \\\\\n".join(rows), r"\end{aligned}"])


def broken_lines(left: list[str], right: list[str], width: float) -> list[str]:
    """An equation over lines: aligned at its sign, further lines indented behind it."""
    short = sum(map(glyphs, left)) < width / 2
    line = "".join(left).strip() + " &= " if short else "& "
    used = glyphs(line)
    lines = []
    pieces: list[str] = right if short else [*left, " = ", *right]
    for i, piece in enumerate(pieces):
        size = glyphs(piece)
        if used + size > width and i > 0 and piece != " = ":
            lines.append(line.rstrip())
            # an empty term, so that the sign keeps the spacing of a binary one
            line, used = (r"&\quad {}" if piece.lstrip()[:1] in "+-" else r"&\quad\quad "), 2.0
        line += piece
        used += size
    return [*lines, line.rstrip()]


def glyphs(text: str) -> float:
    r"""About how many characters wide a formula is on the page: an index counts half, of a fraction the wider part."""
    total, i = 0.0, 0
    while i < len(text):
        if text.startswith(r"\frac{", i):
            above, i = _group(text, i + 5)
            below, i = _group(text, i)
            total += max(glyphs(above), glyphs(below))
        elif text[i] in "_^":
            inside, i = _group(text, i + 1)
            total += glyphs(inside) / 2
        elif text[i] == "\\":
            word = re.match(r"\\([A-Za-z]+|.)", text[i:])
            name = word.group(1) if word else ""
            total += 0 if name in ("left", "right", "mathrm", "dot", "ddot") or name.startswith("big") else 1
            total += 2 if name in (*TRIGONOMETRIC, "exp", "sqrt") else 0
            i += len(name) + 1
        else:
            total += 2 if text[i] in "+-=" else 0 if text[i] in "{} &" else 1
            i += 1
    return total


def _group(text: str, i: int) -> tuple[str, int]:
    """The contents of the braces at place i, or the one character there; and the place after it."""
    if i >= len(text) or text[i] != "{":
        return text[i : i + 1], i + 1
    depth = 0
    for j in range(i, len(text)):
        depth += {"{": 1, "}": -1}.get(text[j], 0)
        if depth == 0:
            return text[i + 1 : j], j + 1
    return text[i + 1 :], len(text)


SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """A plain text as LaTeX."""
    return "".join(SPECIAL.get(c, c) for c in text)


def document(title: str, sections: Iterable[tuple[str, str]], packages: Iterable[str] = ()) -> str:
    r"""Text of a LaTeX document that needs amsmath and the packages that `packages` loads.

    Args:
        title: plain text.
        sections: pairs of a heading in plain text, or "" for none, and LaTeX, with its formulas between \[ and \].
    """
    lines = [
        r"\documentclass[11pt]{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[a4paper,margin=25mm]{geometry}",
        r"\usepackage{amsmath,amssymb}",
        *packages,
        r"\allowdisplaybreaks",
        rf"\title{{{escaped(title)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
    ]
    for heading, body in sections:
        lines += ["", rf"\section*{{{escaped(heading)}}}"] if heading else [""]
        lines.append(body.strip())
    return "\n".join([*lines, "", r"\end{document}", ""])
