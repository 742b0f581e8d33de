r"""LaTeX of equations: balanced, broken over lines, and meaning the expression.

Reference: an own small reader of the LaTeX turns it back into an expression of SymPy; the difference to what was
written must be zero. The usual form of the double pendulum is compared letter by letter.
"""

import re

import numpy as np
import pytest
import sympy as sp
from helpers.routines import random_expression

from saltus.symbolic.show.latex_code import LatexPrinter, aligned, document, escaped, glyphs

m1, m2, g, l1, l2, t1, t2, w1, w2, a1, a2 = symbols = sp.symbols("m1 m2 g l1 l2 theta1 theta2 omega1 omega2 a1 a2")
ANGLES = [rf"{dots}{{\theta}}_{{{i}}}" for dots in (r"\dot", r"\ddot") for i in (1, 2)]
TEXTS = ["m_{1}", "m_{2}", "g", "l_{1}", "l_{2}", r"\theta_{1}", r"\theta_{2}", *ANGLES]
NAMES = dict(zip(symbols, TEXTS, strict=True))
SYMBOLS = {text: symbol for symbol, text in NAMES.items()}


def read(text):
    """The expression that a LaTeX text means, for what the printer writes with the names above."""
    for command in (r"\left", r"\right", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\,", r"\quad", "{}", "&", "\\\\"):
        text = text.replace(command, " ")
    names = "|".join(re.escape(name) for name in sorted(NAMES.values(), key=len, reverse=True))
    tokens = re.findall(rf"{names}|\\[a-zA-Z]+|\d+|[-+^(){{}}]", text)
    assert re.sub(r"\s", "", text) == "".join(tokens)
    value = _sum(tokens)
    assert not tokens
    return value


def _sum(tokens):
    if tokens[0] == "-":
        tokens.pop(0)
        total = -_product(tokens)
    else:
        total = _product(tokens)
    while tokens and tokens[0] in "+-":
        sign = 1 if tokens.pop(0) == "+" else -1
        total += sign * _product(tokens)
    return total


def _product(tokens):
    value = sp.Integer(1)
    while tokens and tokens[0] not in ("+", "-", ")", "}"):
        if tokens[0] == r"\cdot":
            tokens.pop(0)
        value *= _power(tokens)
    return value


def _power(tokens):
    base = _atom(tokens)
    return base ** _exponent(tokens) if tokens[:1] == ["^"] else base


def _exponent(tokens):
    assert tokens.pop(0) == "^"
    return _grouped(tokens, "{}")


def _grouped(tokens, brackets):
    assert tokens.pop(0) == brackets[0]
    value = _sum(tokens)
    assert tokens.pop(0) == brackets[1]
    return value


def _atom(tokens):
    if tokens[0] == "(":
        return _grouped(tokens, "()")
    token = tokens.pop(0)
    if token == r"\frac":
        return _grouped(tokens, "{}") / _grouped(tokens, "{}")
    if token == r"\sqrt":
        return sp.sqrt(_grouped(tokens, "{}"))
    if token in (r"\sin", r"\cos", r"\tan"):
        power = _exponent(tokens) if tokens[0] == "^" else 1
        return getattr(sp, token[1:])(_atom(tokens)) ** power
    return sp.Integer(token) if token.isdigit() else SYMBOLS[token]


def pendulum():
    """The double pendulum of point masses in absolute angles, Lagrange's equations' left sides."""
    first = (m1 + m2) * l1**2 * a1 + m2 * l1 * l2 * (a2 * sp.cos(t1 - t2) + w2**2 * sp.sin(t1 - t2))
    second = m2 * l2**2 * a2 + m2 * l1 * l2 * (a1 * sp.cos(t1 - t2) - w1**2 * sp.sin(t1 - t2))
    return sp.expand(first) + sp.expand((m1 + m2) * g * l1 * sp.sin(t1)), sp.expand(second) + m2 * g * l2 * sp.sin(t2)


def test_double_pendulum_reads_as_usual():
    tau1, tau2 = sp.symbols("tau1 tau2")
    first, second = pendulum()
    text = aligned(
        [(first, tau1 - tau2), (second, tau2)],
        {**NAMES, tau1: r"\tau_{1}", tau2: r"\tau_{2}"},
        speeds=[w1, w2],
        collect=[a1, a2],
        width=80,
    )
    cosine, sine = (rf"m_{{2}} l_{{1}} l_{{2}} \{f}(\theta_{{1}} - \theta_{{2}})\," for f in ("cos", "sin"))
    assert text.split("\n") == [
        r"\begin{aligned}",
        rf"& (m_{{1}} + m_{{2}}) l_{{1}}^{{2}} \ddot{{\theta}}_{{1}} + {cosine}\ddot{{\theta}}_{{2}}"
        rf" + {sine}\dot{{\theta}}_{{2}}^{{2}} + (m_{{1}} + m_{{2}}) g l_{{1}} \sin \theta_{{1}}"
        r" = \tau_{1} - \tau_{2} \\",
        rf"& {cosine}\ddot{{\theta}}_{{1}} + m_{{2}} l_{{2}}^{{2}} \ddot{{\theta}}_{{2}}"
        rf" - {sine}\dot{{\theta}}_{{1}}^{{2}} + m_{{2}} g l_{{2}} \sin \theta_{{2}} = \tau_{{2}}",
        r"\end{aligned}",
    ]


@pytest.mark.parametrize("width", [20, 40, 74, 1000])
def test_broken_lines_mean_the_same(width):
    for expression in pendulum():
        text = aligned([("0", expression)], NAMES, speeds=[w1, w2], collect=[a1, a2], width=width)
        lines = text.splitlines()[1:-1]
        assert all(glyphs(line) <= width + 30 for line in lines)  # a term is not broken
        assert len(lines) == 1 if width == 1000 else len(lines) > 1 or width == 74
        assert all(line.startswith((r"&\quad {} +", r"&\quad {} -")) for line in lines[1:])
        right = " ".join(lines).replace("0 &=", "")
        assert sp.expand(read(right) - expression) == 0


@pytest.mark.parametrize("seed", range(20))
def test_random_expressions_mean_the_same(seed):
    rng = np.random.default_rng(seed)
    expression = random_expression(rng, [m1, l1, t1, w1], 7)
    printer = LatexPrinter(NAMES, speeds=[w1], collect=[w2])
    point = {s: sp.Rational(k, 11) for s, k in zip((m1, l1, t1, w1), (2, 3, 5, 7), strict=True)}
    assert abs((read(printer.text(expression)) - expression).subs(point).n(40)) < 1e-30


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (sp.Integer(0), "0"),
        (sp.Rational(-1, 2) * m1, r"-\frac{m_{1}}{2}"),
        (m1 * sp.sin(t1) ** 2 / 3, r"\frac{m_{1}}{3} \sin^{2} \theta_{1}"),
        (w1**2, r"\dot{\theta}_{1}^{2}"),
        (sp.sqrt(l1 + l2), r"\sqrt{l_{1} + l_{2}}"),
        (1 / (l1 + l2), r"\frac{1}{l_{1} + l_{2}}"),
        (sp.cos(2 * t1) * w1, r"\cos(2 \theta_{1})\,\dot{\theta}_{1}"),
        ((m1 + m2) * l1 - l2, r"(m_{1} + m_{2}) l_{1} - l_{2}"),
        (-(m1 + m2), r"-m_{1} - m_{2}"),
        (m1 * a1 + m2 * a1 + l1, r"(m_{1} + m_{2}) \ddot{\theta}_{1} + l_{1}"),
        (a1 * a2 + a1, r"\ddot{\theta}_{1} + \ddot{\theta}_{1} \ddot{\theta}_{2}"),
        ((sp.cos(t1) + m1 / 2) * a1, r"\Bigl(\cos \theta_{1} + \frac{m_{1}}{2}\Bigr)\,\ddot{\theta}_{1}"),
    ],
)
def test_texts(expression, text):
    assert LatexPrinter(NAMES, speeds=[w1, w2], collect=[a1, a2]).text(expression) == text


def test_document_is_balanced_and_escaped():
    equations = aligned([(a1, e) for e in pendulum()], NAMES, speeds=[w1, w2], collect=[a2])
    text = document("100% of M&M_s {#1}", [("Energy ~ 50$", f"\\[\n{equations}\n\\]"), ("", "Text.")])
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            environments.append(name)
        else:
            assert environments.pop() == name
    assert not environments
    assert text.count(r"\[") == text.count(r"\]") == 1
    assert r"100\% of M\&M\_s \{\#1\}" in text and r"\section*{Energy \textasciitilde{} 50\$}" in text


def test_escaped_backslash():
    assert escaped("a\\b^c") == r"a\textbackslash{}b\textasciicircum{}c"


def test_widths():
    assert glyphs(r"m_{1} + l_{2}") == 1.5 + 2 + 1.5
    assert glyphs(r"\frac{aaaa}{b}") == 4
    assert glyphs(r"\sin \theta") == 4
