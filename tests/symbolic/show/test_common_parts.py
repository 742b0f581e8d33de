"""Long equations by named parts. Reference: the LaTeX read back, as numbers, beside the derivation's own."""

import re

import numpy as np
import pytest
from sympy.parsing.sympy_parser import (
    implicit_application,
    implicit_multiplication,
    parse_expr,
    standard_transformations,
)

import saltus

READ = (*standard_transformations, implicit_multiplication, implicit_application)
RULES = [
    (r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}", r"((\1)/(\2)) "),
    (r"\\ddot\{\\(\w+)\}_\{(\d+)\}", r" dd\1\2 "),
    (r"\\dot\{\\(\w+)\}_\{(\d+)\}", r" d\1\2 "),
    (r"\\?(theta|alpha|tau|p)_\{(\d+)\}", r" \1\2 "),
    (r"\^\{(\d+)\}", r"**\1 "),
    (r"\\(sin|cos)", r" \1"),
    (r"\\[Bb]igl?\(|\\left\(", "("),
    (r"\\[Bb]igr?\)|\\right\)", ")"),
    (r"\\,|\\q+uad|\{\}|&", " "),
    (r"\\cdot", "*"),
]


def read(text):
    """A formula as an expression of SymPy."""
    for pattern, put in RULES:
        text = re.sub(pattern, put, text)
    assert "\\" not in text, text
    return parse_expr(text.strip(), transformations=READ)


@pytest.mark.parametrize(("n", "orientation"), [(6, "relative"), (7, "absolute")])
def test_equations_by_parts_are_the_derivations(n, orientation):
    e = saltus.derive(saltus.n_link(n), orientation)
    text = e.latex().removeprefix("\\begin{aligned}").removesuffix("\\end{aligned}")
    sides = [line.split("=") for line in re.sub(r"\\\\\n&\\quad", " ", text).split("\\\\\n")]
    assert all(len(pair) == 2 for pair in sides)
    rng = np.random.default_rng(3)
    values = {str(s): rng.normal() for s in (*e.q, *e.v, *e.a, *e.inputs)}
    *parts, _ = [pair for pair in sides[: len(sides) - n + 1]]
    for name, part in parts:
        values[str(read(name))] = float(read(part).subs(values))
    for pair, equation in zip(sides[-n:], e.equations, strict=True):
        left, right = (float(read(side).subs(values)) for side in pair)
        wanted = {s: values[str(s)] for s in (*e.q, *e.v, *e.a, *e.inputs)}
        assert left - right == pytest.approx(float((equation.lhs - equation.rhs).subs(wanted)), rel=1e-10)


def test_lines_are_not_wider_than_the_page():
    from saltus.symbolic.show.latex_code import glyphs
    from saltus.symbolic.show.notation import WIDTH

    lines = saltus.derive(saltus.n_link(6)).latex().splitlines()[1:-1]
    assert len(lines) > 100 and max(map(glyphs, lines)) < 1.2 * WIDTH


def test_short_equations_have_no_parts():
    assert "p_{1}" not in saltus.derive("double_pendulum").latex()
