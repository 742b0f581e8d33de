"""Expressions as a graph. Reference: SymEngine's own numbers for them; what is equal is there once."""

import math

import pytest
import symengine as se

from saltus.symbolic.export.graph import graph_of

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
