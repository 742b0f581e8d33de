"""Expressions as a graph. Reference: SymEngine's own numbers for them; what is equal is there once."""

import math

import pytest
import symengine as se

import saltus
from saltus.symbolic.export import graph as graph_module
from saltus.symbolic.export.graph import graph_of
from saltus.symbolic.export.program import Program

x, y, z = se.symbols("x y z")
AT = {x: 0.7, y: -1.3, z: 2.1}
BY_NAME = {"abs": abs, "max": max, "min": min, "sign": lambda v: math.copysign(1.0, v), "sqrt": math.sqrt}


def number(graph, node):
    kind, *parts = graph.nodes[node]
    if kind == "number":
        return float(parts[0])
    if kind == "constant":
        return {"pi": math.pi, "e": math.e}[parts[0]]
    if kind == "symbol":
        return AT[parts[0]]
    if kind == "sum":
        return math.fsum(float(c) * number(graph, n) for c, n in parts[0])
    if kind == "product":
        return math.prod(number(graph, n) for n in parts[0]) / math.prod(number(graph, n) for n in parts[1])
    name, operands = parts
    return (BY_NAME.get(name) or getattr(math, name))(*(number(graph, n) for n in operands))


@pytest.mark.parametrize(
    "expression",
    [
        (x - y) ** 5 / (2 * y - 2 * x) + se.pi * z,
        se.sin(x) ** 2 / se.cos(y) - se.sqrt(z) / 3,
        se.exp(-x) * se.atan2(y, z) + abs(y) ** 3,
        se.Add(*(se.sin(k * x) / k for k in range(1, 60))),
        z ** (-3) + x / (y * z**2) - se.Integer(2) / 7,
    ],
)
def test_values_are_symengines(expression):
    graph, [(factor, node)] = graph_of([expression])
    assert float(factor) * number(graph, node) == pytest.approx(float(expression.subs(AT).n(53, real=True)), rel=1e-13)
    for at in range(len(graph.nodes)):
        assert all(operand < at for operand in graph.operands(at))


def test_what_is_equal_is_there_once():
    graph, [(one, first), (other, second)] = graph_of([x - y, 2 * y - 2 * x])
    assert first == second and other == -2 * one
    assert len(set(graph.nodes)) == len(graph.nodes) and [node[0] for node in graph.nodes].count("sum") == 1


def chain_sums(n):
    """Sums of all terms from row i and column j on, as in the inertia matrix of relative angles."""
    terms = {(k, l): se.cos(se.Symbol(f"a{k}") - se.Symbol(f"b{l}")) for k in range(n) for l in range(n)}
    return [se.Add(*(terms[k, l] for k in range(i, n) for l in range(j, n))) for i in range(n) for j in range(i + 1)]


def test_many_expressions_share_their_parts_in_groups(monkeypatch):
    """Beyond the size of one search, common parts are found within groups; values are those of the expressions."""
    expressions = chain_sums(7)
    symbols = sorted(set().union(*(e.free_symbols for e in expressions)), key=str)
    at = {s: 0.1 * i - 0.4 for i, s in enumerate(symbols)}
    totals = {}
    for size in (1, 600, 10_000):  # each expression alone, groups, all together
        monkeypatch.setattr(graph_module, "SEARCHED", size)
        totals[size] = Program(range(len(expressions)), expressions, {}).counts().total
    assert totals[10_000] < totals[600] < 0.7 * totals[1]
    monkeypatch.setattr(graph_module, "SEARCHED", 600)
    graph, values = graph_of(expressions)
    for symbol, value in at.items():
        monkeypatch.setitem(AT, symbol, value)
    for expression, (factor, node) in zip(expressions, values, strict=True):
        assert float(factor) * number(graph, node) == pytest.approx(float(expression.subs(at)), rel=1e-13)


@pytest.mark.slow
def test_operations_of_relative_angles_grow_evenly():
    """M and bias of 18 and 20 links: as the cube of the number of links, as those of 16, with some to spare."""
    counts = {n: saltus.derive(saltus.n_link(n)).count_ops().total for n in (16, 18, 20)}
    assert counts[18] < 1.1 * counts[16] * (18 / 16) ** 3 and counts[20] < 1.1 * counts[16] * (20 / 16) ** 3
